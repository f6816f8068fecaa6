"""One row of every noun in one project, and the API routes that lead to them."""

from dataclasses import dataclass
from typing import Any

from agents.models import PromptPack
from agents.prompts.packs import Pack
from annotations.models import (
    BulkAccept,
    Conversation,
    Correction,
    Curation,
    Dataset,
    Dispute,
    Membership,
    Project,
    Snapshot,
    Step,
    TurnCorrection,
)
from annotations.releases.checking import check_dataset
from annotations.releases.releasing import make_release
from evaluation.models import Review, ReviewQueue
from evaluation.reviews.choosing import QueueDemand, make_queue
from tests import factories

LISTS = (
    *("projects", "memberships", "datasets", "websites", "source-tasks", "conversations", "turns", "steps"),
    *("corrections", "turn-corrections"),
    *("snapshots", "screenshots", "rationales", "jobs", "memory-snippets", "exemplars", "workflows", "runs"),
    *("prompt-packs", "guard-rules", "held-steps"),
    *(
        "models",
        "trajectories",
        "studies",
        "shards",
        "scores",
        "reviews",
        "review-queues",
        "questions",
        "judge-verdicts",
    ),
    *("campaigns", "sessions", "items", "assignments", "proposals", "verdicts", "bulk-accepts", "disputes", "comments"),
    "curations",
    "releases",
)
# Routes below a row: GET them, or POST to them.
READS = (
    *("datasets/{}/stats/", "steps/{}/candidates/", "snapshots/{}/html/", "screenshots/{}/image/", "runs/{}/metrics/"),
    *("runs/{}/metrics.csv", "runs/{}/trajectories.jsonl", "trajectories/{}/steps/", "trajectories/{}/steps/0/"),
    *("runs/{}/failures/", "studies/{}/plots/", "studies/{}/tasks/"),
    *("runs/{}/findings/", "studies/{}/metrics/", "studies/{}/metrics.csv", "studies/{}/report/", "jobs/{}/file/"),
    *("datasets/{}/guard-labels/", "datasets/{}/guard-report/", "campaigns/{}/checks/"),
    *("datasets/{}/lessons/", "datasets/{}/lessons.jsonl"),
    *("curations/{}/differences/", "held-steps/{}/html/"),
    *("review-queues/{}/progress/", "review-queues/{}/agreement/", "studies/{}/judges/"),
)
WRITES = ("jobs/{}/cancel/", "jobs/{}/retry/", "studies/{}/budget/", "studies/{}/cancel/", "studies/{}/resume/")
ACTS = tuple(f"assignments/{{}}/{what}/" for what in ("take", "edits", "submit", "give-back", "judge"))
ACTS += ("disputes/{}/decide/", *(f"curations/{{}}/{what}/" for what in ("decide", "undo", "finish")))
CORRECTING = tuple(
    f"{noun}/{{}}/{what}/"
    for noun in ("corrections", "turn-corrections")
    for what in ("propose", "accept", "refuse", "dismiss")
)
ACTS += (*CORRECTING, "held-steps/{}/decide/", "questions/{}/withdraw/", "questions/{}/seen/")
STARTS = ("imports", "exports", "studies", "studies/forecast", "live-goals", "demonstrations", "typed-conversations")
STARTS += ("guard-forecasts", "judgings", "judgings/forecast", "explanations", "explanations/forecast", "transitions")
STARTS += ("redactions",)


@dataclass(frozen=True)
class World:
    """A project and, by the noun of its route, the key of a row in it."""

    project: Project
    keys: dict[str, Any]

    def details(self) -> list[str]:
        return [f"/api/{noun}/{self.keys[noun]}/" for noun in LISTS]

    def reads(self) -> list[str]:
        return [self.fill(route) for route in READS]

    def fill(self, route: str) -> str:
        return "/api/" + route.format(self.keys[route.split("/")[0]])


def make_world(split: str = "train") -> World:
    """A project with a row of every noun; its conversation of two turns with two steps each lies in `split`."""
    project = factories.make_project()
    dataset = factories.make_dataset(project)
    conversation = factories.make_conversation(split=split, dataset=dataset)
    step = Step.objects.filter(turn__conversation=conversation).order_by("id").first()
    Step.objects.filter(pk=step.pk).update(screenshot=factories.make_screenshot(factories.PNG + dataset.name.encode()))
    trajectory = factories.make_trajectory(conversation=conversation)
    study = factories.make_study(project, [trajectory.run])
    asked = ReviewQueue.objects.of_questions(study).put(trajectory.steps.first(), factories.make_user(), "Right, too?")
    member = Membership.objects.create(project=project, user=factories.make_user(), role="reader")
    train = conversation if split == "train" else factories.make_conversation(turns=0, dataset=dataset)
    keys = {
        "projects": project.pk,
        "memberships": member.pk,
        "datasets": dataset.pk,
        "websites": conversation.website_id,
        "source-tasks": factories.make_source_task(dataset, website=conversation.website).pk,
        "conversations": conversation.pk,
        "turns": step.turn_id,
        "steps": step.pk,
        "snapshots": Snapshot.objects.get(pk=step.snapshot_id).sha256,
        "screenshots": Step.objects.get(pk=step.pk).screenshot.sha256,
        "rationales": factories.make_rationale(step).pk,
        "corrections": Correction.objects.ask(step, factories.make_user(), "It is the other one.").pk,
        "turn-corrections": TurnCorrection.objects.ask(step.turn, factories.make_user(), "Nobody says that.").pk,
        "jobs": factories.make_job(project, dataset=dataset).pk,
        "memory-snippets": factories.make_memory_snippet(step).pk,
        "exemplars": factories.make_exemplar(train).pk,
        "workflows": factories.make_workflow(dataset).pk,
        "prompt-packs": PromptPack.objects.add(project, Pack("own", 1, {"page_header": "Now:"})).pk,
        "guard-rules": factories.make_guard_rule(project).pk,
        "held-steps": factories.make_held_step(trajectory, snapshot_id=step.snapshot_id).pk,
        "models": factories.make_trained_model(dataset).pk,
        "runs": trajectory.run_id,
        "trajectories": trajectory.pk,
        "studies": study.pk,
        "shards": factories.make_shard(trajectory.run).pk,
        "scores": factories.make_score(trajectory.run).pk,
        "review-queues": make_queue(None, study, QueueDemand("random", 2, 1)).pk,
        "questions": asked.pk,
        "judge-verdicts": factories.make_judge_verdict(trajectory).pk,
        "reviews": Review.objects.give(trajectory, trajectory.steps.first(), factories.make_user(), "gold_wrong").pk,
    }
    return World(project, keys | _work(dataset, conversation))


def _work(dataset: Dataset, conversation: Conversation) -> dict[str, Any]:
    """A row of every noun of annotation work; the session consists of the conversation."""
    campaign = factories.make_campaign(source=dataset, blind=False)
    session = factories.make_session(campaign, tasks=0, split=conversation.split, website=conversation.website)
    session.tasks.create(campaign=campaign, conversation=conversation, position=0)
    written = factories.make_assignment(factories.make_item(session, stage="rewrite"), state="submitted")
    item = factories.make_item(session, stage="verify", subject=written, state="done")  # so its verdict is told
    verification = factories.make_assignment(item, factories.make_user("reviewer", dataset.project))
    proposal = written.keep_proposal("rewrite", "a model", [{"step": 1, "rewrite": "Book it.", "mentions": []}])
    verdict = written.verdicts.create(verification=verification, round=1, version=0, outcome="accept")
    bulk = BulkAccept.objects.create(campaign=campaign, user=verification.user, size=2, share=10)
    bulk.hold_back([item])
    dispute = Dispute.objects.create(assignment=written, round=1)
    other = factories.make_assignment(written.item, slot=1, state="submitted")
    other.parts.update(instruction="Book a room for two.", rewrite="Book one for two.")
    versions = {"first": written, "second": other, "first_version": 0, "second_version": 0}
    curation = Curation.objects.create(**versions, user=verification.user)
    comment = session.comments.create(author=written.user, text="Is the date said anywhere?")
    concerns = [concern.key for concern in check_dataset(dataset).concerns()]
    maker = factories.make_superuser()
    # No release is made of splits that break their rules, and these do as soon as a test split is among them.
    Conversation.objects.filter(pk=conversation.pk).update(split="train")
    release = make_release(dataset, "1.0", maker, "CC0-1.0", "given", accepted_findings=concerns)
    Conversation.objects.filter(pk=conversation.pk).update(split=conversation.split)
    return {
        "campaigns": campaign.pk,
        "sessions": session.pk,
        "items": item.pk,
        "assignments": written.pk,
        "proposals": proposal.pk,
        "verdicts": verdict.pk,
        "bulk-accepts": bulk.pk,
        "disputes": dispute.pk,
        "curations": curation.pk,
        "other versions": other.pk,
        "comments": comment.pk,
        "releases": release.pk,
    }

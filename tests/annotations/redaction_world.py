"""A dataset whose conversations lead to a row of every model that keeps texts of them, with a private text in each."""

from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.db import connection, models

from agents.models import LlmReply, Run, Trajectory, TrajectoryStep, Transition
from annotations.dom.tree import node_ids, parse
from annotations.models import (
    Assignment,
    Conversation,
    Correction,
    Curation,
    Dataset,
    Dispute,
    IdempotencyKey,
    SentBack,
    SourceFile,
    Step,
    TurnCorrection,
    Webhook,
)
from annotations.models.corpus.pages import compress
from evaluation.models import Breakdown, Review, ReviewQueue, ReviewReason, RiskForecast, ScannedRun
from tests import factories
from tests.annotations.work_world import make_edit, make_rewrite, make_verification

PRIVATE = "ann@mail.example"
LIVE_PAGE = factories.PAGE.format(title=f"Signed in as {PRIVATE}")
TEXTS = ("TextField", "CharField", "JSONField")


@dataclass(frozen=True)
class RedactionWorld:
    dataset: Dataset
    conversation: Conversation
    trajectory: Trajectory


def make_redaction_world() -> RedactionWorld:
    """The rows, without the private text."""
    dataset = factories.make_dataset(description="Of shops.")
    campaign = factories.make_campaign(source=dataset)
    session = factories.make_session(campaign, tasks=1, steps=2)
    conversation = session.tasks.get().conversation
    trajectory = factories.make_trajectory(conversation=conversation)
    world = RedactionWorld(dataset, conversation, trajectory)
    _recorded(world)
    _live(world)
    _work(make_rewrite(session, ("Log in.",)), conversation)
    _said(world)
    return world


def _recorded(world: RedactionWorld) -> None:
    turn, step = world.conversation.turns.get(), _step(world)
    turn.source_task = factories.make_source_task(world.dataset, website=world.conversation.website)
    turn.save()
    data = f"by {PRIVATE}".encode()
    SourceFile.objects.create(conversation=world.conversation, path="a.txt", data=compress(data), raw_size=1)
    factories.make_rationale(step)
    factories.make_memory_snippet(step)
    factories.make_exemplar(world.conversation)
    factories.make_workflow(world.dataset)
    Transition.objects.create(dataset=world.dataset, conversation=world.conversation, step=step, operation="TYPE")
    LlmReply.objects.create(key="k", model="m", request={}, reply={})
    factories.make_job(world.dataset.project, dataset=world.dataset)
    user = factories.make_user("admin", world.dataset.project)
    IdempotencyKey.objects.create(user=user, key="once", request_sha256="0" * 64)
    LogEntry.objects.create(user=user, object_repr="a comment", action_flag=2, change_message="")
    hook = Webhook.objects.create(project=world.dataset.project, url="https://hooks.example/", secret="s")
    hook.deliveries.create(event="comment.made", payload={})


def _live(world: RedactionWorld) -> None:
    page, turn = factories.make_snapshot(LIVE_PAGE), world.conversation.turns.get()
    own = {"turn": turn, "snapshot": page, "snapshot_after": page}
    TrajectoryStep.objects.create(run=world.trajectory.run, trajectory=world.trajectory, seq=9, **own)
    factories.make_held_step(world.trajectory, snapshot_id=page.pk)
    factories.make_drive(world.trajectory, asked={})


def _work(written: Assignment, conversation: Conversation) -> None:
    session = written.item.session
    verification = make_verification(written)
    step = Step.objects.filter(turn__conversation=conversation)[0]
    make_edit(written, "text", step.pk, "a", "b", "instruction")
    written.keep_proposal("rewrite", "a model", [{"step": step.pk, "rewrite": "Log in.", "mentions": []}])
    verdict = written.verdicts.create(verification=verification, round=1, version=0, outcome="accept")
    verdict.defects.create(code="uncovered", step=step)
    cut = factories.make_assignment(factories.make_item(session), state="submitted")
    SentBack.objects.create(decomposition=cut, rewrite=written, sender=verification.user, reason="No.", version=0)
    Dispute.objects.create(assignment=written, round=1)
    other = factories.make_assignment(written.item, slot=1, state="submitted")
    versions = {"first": written, "second": other, "first_version": 0, "second_version": 0}
    Curation.objects.create(**versions, user=verification.user).choices.create(step=step, take="own")
    session.comments.create(author=written.user, text="Is the date said anywhere?")
    Correction.objects.ask(step, written.user, "The other one.", {"value": "x"}).propose(written.user, "TYPE", "x", "5")
    TurnCorrection.objects.ask(step.turn, written.user, "Nobody says that.").propose(written.user, "Log in.", None)


def _said(world: RedactionWorld) -> None:
    run: Run = world.trajectory.run
    acted, person = world.trajectory.steps.order_by("seq")[0], factories.make_user()
    study = factories.make_study(world.dataset.project, [run])
    reason = ReviewReason.objects.create(project=study.project, verdict="agent_wrong", text="wrong name")
    Review.objects.give(world.trajectory, acted, person, "agent_wrong", reason, "It is another person.")
    ReviewQueue.objects.of_questions(study).put(acted, person, "Right, too?")
    factories.make_judge_verdict(world.trajectory)
    factories.make_scanner_answer(acted)
    factories.make_shard(run)
    RiskForecast.objects.create(step=_step(world), action_sha256="0" * 64, looks_risky=False)
    Breakdown.objects.create(run=run, preset="corrected", step_count=1, content={})
    ScannedRun.objects.create(run=run, step_count=1, scanners="sibling")


def _step(world: RedactionWorld) -> Step:
    return Step.objects.filter(turn__conversation=world.conversation).order_by("index")[0]


def text_columns(model: type[models.Model]) -> list[str]:
    """Columns that hold any text or JSON: neither one of some words, nor too short for anybody's."""
    found = [one for one in model._meta.concrete_fields if one.get_internal_type() in TEXTS and not one.choices]
    return [one.name for one in found if one.get_internal_type() != "CharField" or (one.max_length or 99) >= 20]


def say_everywhere(left_out: dict[str, str]) -> list[str]:
    """Put the private text into each of these columns of all rows that there are, but for those left out (a model, or
    "Model.column"), and onto the page of the recorded steps. Returns the models that have no row."""
    empty = []
    for model in (
        one for app in ("annotations", "agents", "evaluation", "admin") for one in apps.get_app_config(app).get_models()
    ):
        name = model.__name__
        columns = [one for one in text_columns(model) if f"{name}.{one}" not in left_out]
        if name in left_out or hasattr(model, "pgh_tracked_model") or not columns:
            continue
        if not model._base_manager.exists():
            empty.append(name)
        for row in model._base_manager.all():
            model._base_manager.filter(pk=row.pk).update(**{one: _with_private(row, one) for one in columns})
    page = factories.make_snapshot(factories.PAGE.format(title=f"Hello {PRIVATE}"))
    assert node_ids(parse(page.html))
    Step.objects.update(snapshot=page, snapshot_after=page, raw_snapshot=page)
    return empty


def _with_private(row: models.Model, name: str) -> Any:
    column, held = row._meta.get_field(name), getattr(row, name)
    if column.get_internal_type() != "JSONField":
        return f"{PRIVATE} {row.pk}"
    return [*held, {"said": [f"by {PRIVATE}."]}] if isinstance(held, list) else {"said": [f"by {PRIVATE}."]}


def columns_that_say(text: str) -> set[str]:
    """ "table.column" of every column of the database that holds a text, packed pages and files unpacked."""
    found = set()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema() "
            "AND data_type IN ('text', 'character varying', 'jsonb', 'json', 'ARRAY')"
        )
        for table, column in cursor.fetchall():
            cursor.execute(f'SELECT 1 FROM "{table}" WHERE "{column}"::text LIKE %s LIMIT 1', [f"%{text}%"])
            if cursor.fetchone():
                found.add(f"{table}.{column}")
    packed = {
        "pages": [page.html for page in factories.Snapshot.objects.with_content()],
        "candidates": [repr(step.candidate_records()) for step in Step.objects.all()],
        "files": [file.content.decode() for file in SourceFile.objects.all()],
    }
    return found | {name for name, held in packed.items() if any(text in one for one in held)}

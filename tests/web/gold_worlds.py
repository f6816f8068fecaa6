"""Two worlds that differ in the gold of a test split and in nothing else, with everything in them that people and
agents make of it. What is told on purpose (scores, statistics and checksums of a release) is equal in both."""

import itertools
import json
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.cache import cache
from django.db import connection, transaction
from django.utils import timezone

from agents.guard.judging import SeenControl
from agents.guard.policy import Risk
from agents.models import MemorySnippet, TrajectoryStep, Workflow
from annotations.corpus.importing import import_files
from annotations.corpus.statistics import dataset_stats
from annotations.models import (
    BulkAccept,
    Conversation,
    Correction,
    Curation,
    Dispute,
    Membership,
    Proposal,
    Snapshot,
    Step,
    TurnCorrection,
)
from annotations.models.corpus.pages import digest
from annotations.pages import snapshot_host
from annotations.releases import releasing
from annotations.releases.checking import check_dataset
from evaluation.models import Review, RiskForecast, RiskLabel
from evaluation.reviews.choosing import QueueDemand, make_queue
from evaluation.scores.scanning import RunScan
from tests import factories
from tests.annotations.small_files import PAGE, write
from tests.emptying import filled_tables, may_skip_triggers
from tests.web.kept_rows import KeptRows, keep_rows

GOLD = ("alpha", "bravo")  # a word of the gold of each world, of one length so that sizes tell nothing
SITE = {"website": "shop", "domain": "Shopping", "subdomain": "Fashion"}
# What the steps of the hidden conversation do: operation and target, in each world.
ACTIONS = {
    "alpha": (("CLICK", "4"), ("TYPE", "5"), ("CLICK", "4"), ("SELECT", "5")),
    "bravo": (("TYPE", "5"), ("CLICK", "4"), ("SELECT", "5"), ("CLICK", "4")),
}
TAGS = {"4": "button", "5": "a"}
ROLES = ("reader", "annotator", "reviewer", "staff")
STRANGERS = ("anonymous", "outsider")


def _keep_forecast(step: Step, gold: str) -> None:
    risk = Risk("pay" if gold == "alpha" else "send", f"“{gold}” says it", "page")
    RiskForecast.objects.keep(step, SeenControl(step.operation, gold, "button", risk, True), None, None)


@dataclass(frozen=True)
class GoldWorld:
    """One of the two; `people` by role: none of them sees gold, but the admin. `figures`: of its releases."""

    project: Any
    dataset: Any
    people: dict[str, Any]
    hidden: Conversation
    figures: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class KeptWorld:
    """A world as it was made: pickled, its rows, and the next number of the factories."""

    world: bytes
    rows: KeptRows
    number: int


_kept: dict[str, KeptWorld] = {}


def page_of(gold: str, place: int, *, raw: bool = False) -> str:
    """The page of a step as it is stored: the first is the same in both worlds, the others show what gold did."""
    title = "Welcome" if place == 0 else f"after {gold} {place}"
    return PAGE.format(title=f"{title} recorded" if raw else title)


def all_pages() -> list[str]:
    """Every page of either world."""
    pages = [page_of(gold, place, raw=raw) for gold in GOLD for place in range(5) for raw in (False, True)]
    return list(dict.fromkeys(pages))


def start_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same names and numbers for the rows of the next world."""
    monkeypatch.setattr(factories, "_numbers", itertools.count(1))
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, 700000) FROM pg_sequences")


def make_gold_world(gold: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> GoldWorld:
    project = factories.make_project()
    people = {role: factories.make_user(role, project) for role in ("reader", "annotator", "reviewer", "admin")}
    people["staff"] = factories.make_user("reader", project, is_staff=True)
    dataset = factories.make_dataset(project, name="worlds")
    write(folder / "train" / "open.json", [_conversation("open", "train")])
    write(folder / "test_task" / "hidden.json", [_conversation("hidden", gold)])
    assert import_files("mt-mind2web", folder, dataset).errors == []
    hidden = dataset.conversations.get(source_id="hidden")
    world = GoldWorld(project, dataset, people, hidden)
    _screenshots(gold, hidden)
    _remember(gold, world)
    _run(gold, world)
    _jobs(gold, world)
    _annotate(gold, world)
    _release(gold, world, monkeypatch)
    return world


def _conversation(name: str, gold: str) -> dict[str, Any]:
    actions = [_action(name, gold, place) for place in range(4)]
    return {"task_id": name, **SITE, "turns": [_turn(name, 0, actions[:2]), _turn(name, 1, actions[2:])]}


def _turn(name: str, index: int, actions: list[dict[str, Any]]) -> dict[str, Any]:
    reprs = [
        f"[{TAGS[target]}] {action['action_uid']} -> {action['operation']['op']}"
        for action in actions
        for target in (action["pos_candidates"][0]["backend_node_id"],)
    ]
    said = f"Please do part {index + 1} of the task."
    return {"annotation_id": f"{name}_{index}", "confirmed_task": said, "action_reprs": reprs, "actions": actions}


def _action(name: str, gold: str, place: int) -> dict[str, Any]:
    operation, target = ACTIONS.get(gold, ACTIONS["alpha"])[place]
    uid = f"{name}-{gold}-uid-{place}"
    other = "5" if target == "4" else "4"
    mark = f' data_pw_testid_buckeye="{uid}"'

    def marked(page: str) -> str:
        return page.replace(f'backend_node_id="{target}"', f'backend_node_id="{target}"{mark}')

    def candidate(node: str, more: dict[str, str]) -> dict[str, Any]:
        return {"tag": TAGS[node], "backend_node_id": node, "attributes": json.dumps({"class": "x"} | more)}

    return {
        "action_uid": uid,
        "raw_html": marked(page_of(gold, place, raw=True)),
        "cleaned_html": marked(page_of(gold, place)),
        "html_after": page_of(gold, 4) if place == 3 else "",
        "operation": {"original_op": operation, "op": operation, "value": f"{gold} {place}"},
        "pos_candidates": [
            candidate(target, {"data_pw_testid_buckeye": uid})
            | {"is_original_target": True, "is_top_level_target": True}
        ],
        "neg_candidates": [candidate(other, {})],
        "noted": gold,
    }


def _steps(conversation: Conversation) -> list[Step]:
    return list(Step.objects.filter(turn__conversation=conversation).order_by("turn__index", "index"))


def _screenshots(gold: str, hidden: Conversation) -> None:
    for place, step in enumerate(_steps(hidden)):
        shot = factories.make_screenshot(factories.PNG + (gold.encode() if place else b"first"))
        Step.objects.filter(pk=step.pk).update(screenshot=shot)


def _remember(gold: str, world: GoldWorld) -> None:
    for step in _steps(world.hidden):
        factories.make_rationale(step, text=f"It is {gold}.", author=world.people["admin"])
        factories.make_memory_snippet(step, text=f"{gold} was done")
    for step in _steps(world.dataset.conversations.get(source_id="open")):
        factories.make_memory_snippet(step)
    factories.make_exemplar(world.dataset.conversations.get(source_id="open"))
    factories.make_source_task(world.dataset, website=world.hidden.website)
    factories.make_trained_model(world.dataset, name="trained")
    factories.make_prompt_pack(world.project, "own", page_header="Now:")


def _run(gold: str, world: GoldWorld) -> None:
    """A run over the test split: nothing of what it decided is equal in both worlds but its scores."""
    run = factories.make_run(world.dataset, split="test_task", state="failed", step_count=4, error=f"at {gold}")
    trajectory = factories.make_trajectory(run, world.hidden, stored=0, state="done")
    workflow = factories.make_workflow(world.dataset)
    online = {"origin": Workflow.Origin.ONLINE, "run": run, "name": f"{gold} routine", "body": f"CLICK {gold}"}
    factories.make_workflow(world.dataset, **online)
    for seq, step in enumerate(_steps(world.hidden)):
        right = gold == "alpha"
        factories.make_trajectory_step(
            trajectory,
            step,
            seq,
            operation=step.operation,
            value=f"{gold} {seq}",
            element_correct=right,
            success=right,
            gold_rank=int(not right),
            milliseconds=len(gold) + right,
            workflow_ids=[workflow.pk],
            candidate_ids=["4", "5"] if right else ["5", "4"],
            prompt_tokens=10 + right,
            error="" if seq else gold,
            trace={"compose": {"prompt": gold}, "plan": {"reply": gold}, "rank": {"top": []}, "odd": gold},
        )
    for step, verdict in (
        (trajectory.steps.get(seq=2), "both_acceptable" if gold == "alpha" else "gold_wrong"),
        (None, ""),
    ):
        Review.objects.give(trajectory, step, world.people["admin"], verdict, comment=f"It is {gold}.")
    for step in trajectory.steps.all():
        factories.make_step_picture(step, factories.PNG + f"live {gold}".encode(), boxes={gold: [1, 2, 3, 4]})
        factories.make_scanner_answer(step, "wrong value" if gold == "alpha" else "", said=f"It is {gold}.")
    factories.make_judge_verdict(trajectory, success=gold == "alpha", said=f"It is {gold}.")
    TurnCorrection.objects.ask(_steps(world.hidden)[2].turn, world.people["admin"], f"It is {gold}.")
    doubted = Correction.objects.ask(_steps(world.hidden)[2], world.people["admin"], f"It is {gold}.")
    doubted.propose(world.people["admin"], "TYPE", gold, "4")
    factories.make_guard_rule(world.project)
    for person in (world.people["admin"], factories.make_user()):
        RiskLabel.objects.give(_steps(world.hidden)[2], person, "pay" if gold == "alpha" else "harmless")
    _keep_forecast(_steps(world.hidden)[2], gold)
    held_on = _steps(world.hidden)[2].snapshot_id
    factories.make_held_step(trajectory, action={"value": gold}, snapshot_id=held_on)
    factories.make_drive(trajectory, proposed=gold, picture=gold.encode())
    told = world.dataset.conversations.get(source_id="open")
    of_all = factories.make_trajectory(factories.make_run(world.dataset), told, stored=0)
    for seq, step in enumerate(_steps(told)):
        factories.make_trajectory_step(of_all, step, seq, node_id="4", candidate_ids=["4", "5"])
    for one in (run, of_all.run):
        RunScan(one).store()
    study = factories.make_study(world.project, [run])
    study.spent_tokens = 50
    study.save()
    for choice in ("random", "whole_random"):
        make_queue(world.people["admin"], study, QueueDemand(choice, 2, 1))
    factories.make_score(run)
    factories.make_shard(run, state="failed", last_error=f"no {gold}", conversation_ids=[world.hidden.pk])


def _jobs(gold: str, world: GoldWorld) -> None:
    errors = [{"file": "a.json", "record": "[0]", "field": "op", "message": f"found '{gold}'"}]
    report = {"errors": errors, "error_count": 1, "conversations": 2, "turns": 4, "steps": 8, "snapshots": 8}
    kinds: tuple[dict[str, Any], ...] = (
        {"kind": "import", "state": "done_with_errors", "report": report, "last_error": f"at {gold}"},
        {"kind": "export", "state": "done", "report": {"conversations": 2, "files": 1, "bytes": 100 + len(gold)}},
        {"kind": "refine", "state": "failed", "report": {"errors": errors}, "last_error": f"at {gold}"},
    )
    for fields in kinds:
        factories.make_job(world.project, dataset=world.dataset, created_by=world.people["admin"], **fields)


def _annotate(gold: str, world: GoldWorld) -> None:
    """A campaign over the hidden conversation, done by an admin; the annotator had an item before losing the right."""
    campaign = factories.make_campaign(source=world.dataset, blind=False, name="Hidden work")
    session = factories.make_session(
        campaign, tasks=0, split="test_task", website=world.hidden.website, name="hidden-1"
    )
    session.tasks.create(campaign=campaign, conversation=world.hidden, position=0)
    written = factories.make_assignment(factories.make_item(session, stage="rewrite"), world.people["annotator"])
    written.parts.update(instruction=f"Do {gold}", rewrite=f"Do {gold}")
    factories.make_assignment(factories.make_item(session), world.people["admin"])
    item = factories.make_item(session, stage="verify", subject=written)
    verification = factories.make_assignment(item, world.people["reviewer"])
    written.verdicts.create(
        verification=verification, round=1, version=0, outcome="return", reason=f"It was {gold}", checklist={}
    )
    bulk = BulkAccept.objects.create(campaign=campaign, user=world.people["admin"], size=2, share=10)
    bulk.hold_back([item])
    Dispute.objects.create(assignment=written, round=1, reason=f"Is it {gold}?")
    other = factories.make_assignment(written.item, world.people["admin"], slot=1, state="submitted")
    other.parts.update(instruction=f"Do {gold} now", rewrite=f"Do {gold} now")
    versions = {"first": written, "second": other, "first_version": 0, "second_version": 0}
    curation = Curation.objects.create(**versions, user=world.people["reviewer"])
    curation.choices.create(step=_steps(world.hidden)[0], take="a" if gold == "alpha" else "b")
    step = _steps(world.hidden)[1]
    comment = session.comments.create(author=world.people["admin"], text=f"@all it is {gold}", step=step, node_id="4")
    comment.mentions.create(user=world.people["annotator"])
    Proposal.objects.create(campaign=campaign, assignment=written, kind=Proposal.Kind.values[0], content={"text": gold})


def _release(gold: str, world: GoldWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two releases, between which gold was changed. Their checksums, statistics and datasheet are told on purpose."""
    world.figures.update(dataset_stats(world.dataset))
    world.figures["bytes"] |= {"stored": 1, "dictionaries": 0, "ratio": 1.0}  # how well a word compresses
    _tell_on_purpose(world, monkeypatch)
    accepted = [concern.key for concern in check_dataset(world.dataset).concerns()]
    for version in ("1.0", "1.1"):
        releasing.make_release(
            world.dataset, version, world.people["admin"], "CC0", "given", accepted_findings=accepted
        )
        Step.objects.filter(pk=_steps(world.hidden)[0].pk).update(value=f"{gold} corrected", extra={"noted": gold})


def _tell_on_purpose(world: GoldWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releasing, "dataset_stats", lambda dataset: world.figures)
    monkeypatch.setattr(releasing, "release_sha256", lambda checksums: f"{len(list(checksums)):064}")


def open_gold(world: GoldWorld, role: str) -> None:
    """Give somebody the right."""
    Membership.objects.filter(user=world.people[role], project=world.project).update(sees_test_gold=True)


def page_addresses() -> list[str]:
    """The SHA-256 of every page of either world."""
    return [digest(page.encode()) for page in all_pages()]


def counted(world: GoldWorld) -> dict[str, int]:
    """How many rows of the kinds that walks rest on there are: a world that is empty would differ in nothing."""
    return {
        "pages": Snapshot.objects.count(),
        "results": TrajectoryStep.objects.filter(run__dataset=world.dataset).count(),
        "snippets": MemorySnippet.objects.filter(conversation=world.hidden).count(),
    }


def with_strangers(world: GoldWorld) -> dict[str, Any]:
    """Everybody, and who belongs to no project of this dataset or is nobody at all."""
    return world.people | {"anonymous": None, "outsider": factories.make_user("reviewer", factories.make_project())}


def in_both(look: Callable[[GoldWorld], Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What `look(world)` returns in either world."""
    found = []
    for gold in GOLD:
        with transaction.atomic():
            cache.clear()
            found.append(look(_world_of(gold, folder / gold, monkeypatch)))
            transaction.set_rollback(True)
    return found


def _world_of(gold: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> GoldWorld:
    """Made the first time, and put back every other: that takes a tenth of the time."""
    if (kept := _kept.get(gold)) and not filled_tables():
        monkeypatch.setattr(factories, "_numbers", itertools.count(kept.number))
        kept.rows.put_back()
        world = pickle.loads(kept.world)
        _tell_on_purpose(world, monkeypatch)
        return world
    alone = not filled_tables()
    start_anew(monkeypatch)
    world = make_gold_world(gold, folder, monkeypatch)
    world.people["staff"].user_permissions.set(Permission.objects.all())
    if alone and may_skip_triggers():
        number = next(factories._numbers)
        monkeypatch.setattr(factories, "_numbers", itertools.count(number))
        _kept[gold] = KeptWorld(pickle.dumps(world), keep_rows(), number)
    return world


def stop_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that is told changes with the time, or by chance."""
    now, started = timezone.now(), time.time()
    monkeypatch.setattr("django.utils.timezone.now", lambda: now)
    monkeypatch.setattr("annotations.models.Assignment.clock", lambda: now)
    monkeypatch.setattr("django.middleware.csrf._mask_cipher_secret", lambda secret: "0" * 64)
    monkeypatch.setattr(snapshot_host, "time", SimpleNamespace(time=lambda: started))


def differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """What is answered otherwise, each with the place where it begins to differ."""
    found = [f"only in one world: {name}" for name in one.keys() ^ other.keys()]
    for name in one.keys() & other.keys():
        if one[name] != other[name]:
            texts = repr(one[name]), repr(other[name])
            place = next((n for n, pair in enumerate(zip(*texts, strict=False)) if len(set(pair)) > 1), 0)
            found.append(f"{name}: {' | '.join(text[max(0, place - 60) : place + 40] for text in texts)}")
    return sorted(found)

"""Real rows for tests: plain functions with sensible defaults, one per noun. No random values.

`make_conversation` gives a whole conversation with pages, candidates and gold targets; `make_trajectory` an agent's
steps over one. A parent that is not given is made, so `make_trajectory()` alone yields everything above it.
"""

import hashlib
import itertools
from typing import Any

from django.contrib.auth import get_user_model

from agents.encoders.embedding import HashEncoder
from agents.guard.policy import Risk
from agents.llm.usage import Usage
from agents.models import (
    Drive,
    Exemplar,
    GuardRule,
    HeldStep,
    MemorySnippet,
    PromptPack,
    Run,
    StepPicture,
    TrainedModel,
    Trajectory,
    TrajectoryStep,
    Workflow,
)
from agents.prompts.packs import Pack, webnav
from agents.recipes import literature
from annotations.datasets.records import CandidateRecord
from annotations.dom.tree import node_ids, parse
from annotations.models import (
    DEFAULT_RUBRIC,
    Assignment,
    Campaign,
    Conversation,
    Dataset,
    Guideline,
    Item,
    Job,
    Membership,
    Part,
    Project,
    Rationale,
    Screenshot,
    Session,
    SessionTask,
    Snapshot,
    SourceTask,
    Step,
    Target,
    Turn,
    Website,
)
from annotations.models.corpus.candidates import pack_candidates
from annotations.models.corpus.pages import compress, digest
from evaluation.models import JudgeVerdict, ScannerAnswer, Score, Shard, Study

_numbers = itertools.count(1)

PAGE = """<html backend_node_id="1"><body backend_node_id="2">
<h1 backend_node_id="3"><text backend_node_id="15">{title}</text></h1>
<form backend_node_id="4"><input backend_node_id="5" type="text" name="query" placeholder="Search"/>
<select backend_node_id="6" name="sort"><option backend_node_id="7" value="price"/>
<option backend_node_id="8" value="date"/></select>
<button backend_node_id="9"><text backend_node_id="16">Search</text></button></form>
<ul backend_node_id="10"><li backend_node_id="11">
<a backend_node_id="12"><text backend_node_id="17">First</text></a></li>
<li backend_node_id="13"><a backend_node_id="14"><text backend_node_id="18">Second</text></a></li></ul></body></html>"""
# What the steps of a conversation do in turn: operation, value, gold element of PAGE, its tag.
ACTIONS = (("TYPE", "red shoes", "5", "input"), ("SELECT", "price", "6", "select"), ("CLICK", "", "9", "button"))
CANDIDATES = (("5", "input"), ("6", "select"), ("9", "button"), ("12", "a"), ("14", "a"))
# The smallest valid PNG: one transparent pixel.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001"
    "e221bc330000000049454e44ae426082"
)


def make_project(**fields: Any) -> Project:
    number = next(_numbers)
    return Project.objects.create(**{"name": f"Project {number}", "slug": f"project-{number}"} | fields)


def make_user(role: str = "", project: Project | None = None, *, sees_test_gold: bool = False, **fields: Any):
    """A user; with a role, a member of `project` (a new one if none is given). No password unless one is given."""
    user = get_user_model().objects.create_user(**{"username": f"user{next(_numbers)}"} | fields)
    if role:
        project = project or make_project()
        Membership.objects.create(project=project, user=user, role=role, sees_test_gold=sees_test_gold)
    return user


def make_superuser(**fields: Any):
    return get_user_model().objects.create_superuser(**{"username": f"root{next(_numbers)}"} | fields)


def make_dataset(project: Project | None = None, **fields: Any) -> Dataset:
    fields = {"name": f"dataset-{next(_numbers)}", "source_format": "mt-mind2web"} | fields
    return Dataset.objects.create(project=project or make_project(), **fields)


def make_website(dataset: Dataset | None = None, **fields: Any) -> Website:
    fields = {"name": f"site{next(_numbers)}", "domain": "Shopping", "subdomain": "Fashion"} | fields
    return Website.objects.create(dataset=dataset or make_dataset(), **fields)


def make_source_task(dataset: Dataset | None = None, **fields: Any) -> SourceTask:
    dataset = dataset or make_dataset()
    website = fields.pop("website", None) or make_website(dataset)
    fields = {"source_id": f"task-{next(_numbers)}", "split": "train", "instruction": "Buy a gift."} | fields
    return SourceTask.objects.create(dataset=dataset, website=website, **fields)


def make_snapshot(html: str = "") -> Snapshot:
    """The stored page with this content; the same content is the same row."""
    html = html or PAGE.format(title="A shop")
    stored = Snapshot.objects.filter(sha256=digest(html.encode())).first()
    return stored or Snapshot.objects.bulk_create([_snapshot(html)])[0]


def _snapshot(html: str) -> Snapshot:
    raw = html.encode()
    data, count = compress(raw), len(node_ids(parse(html)))
    return Snapshot(sha256=digest(raw), raw_size=len(raw), stored_size=len(data), data=data, node_count=count)


def make_screenshot(data: bytes = PNG, media_type: str = "image/png") -> Screenshot:
    fields = {"media_type": media_type, "data": data, "size": len(data)}
    return Screenshot.objects.get_or_create(sha256=digest(data), defaults=fields)[0]


def make_conversation(
    turns: int = 2, steps: int = 2, split: str = "train", dataset: Dataset | None = None, **fields: Any
) -> Conversation:
    """A conversation whose every step has a page of its own, five candidates and one gold element."""
    dataset = dataset or make_dataset()
    number = next(_numbers)
    fields = {"source_id": f"conversation-{number}", "position": number} | fields
    website = fields.pop("website", None) or make_website(dataset)
    sha256 = hashlib.sha256(fields["source_id"].encode()).hexdigest()
    conversation = Conversation.objects.create(
        dataset=dataset, website=website, split=split, content_sha256=sha256, **fields
    )
    made = [Turn(conversation=conversation, index=index, **_of_turn(index)) for index in range(turns)]
    Turn.objects.bulk_create(made)
    _make_steps([(turn, place) for turn in made for place in range(steps)])
    return conversation


def make_turn(conversation: Conversation | None = None, *, steps: int = 2, index: int = 0, **fields: Any) -> Turn:
    conversation = conversation or make_conversation(turns=0)
    turn = Turn.objects.create(conversation=conversation, index=index, **_of_turn(index) | fields)
    _make_steps([(turn, place) for place in range(steps)])
    return turn


def _of_turn(index: int) -> dict[str, str]:
    return {"source_id": f"turn-{index}", "instruction": f"Please do part {index + 1} of the task."}


def make_step(turn: Turn | None = None, *, index: int = 0, html: str = "", **fields: Any) -> Step:
    """One gold step: TYPE, SELECT and CLICK in turn, with its target and candidates."""
    turn = turn or make_turn(steps=0)
    snapshot = make_snapshot(html or _page(turn, index))
    step = Step.objects.create(turn=turn, index=index, **_of_step(index) | {"snapshot": snapshot} | fields)
    _target(step, node_ids(parse(html or PAGE))).save()
    return step


def _make_steps(places: list[tuple[Turn, int]]) -> None:
    """The same for many: a query for each table instead of four for each step."""
    pages = {digest(page.encode()): page for page in (_page(*place) for place in places)}
    stored = Snapshot.objects.in_bulk(pages, field_name="sha256")
    missing = [_snapshot(page) for sha256, page in pages.items() if sha256 not in stored]
    stored |= {snapshot.sha256: snapshot for snapshot in Snapshot.objects.bulk_create(missing)}
    steps = [
        Step(turn=turn, index=index, snapshot=stored[sha256], **_of_step(index))
        for (turn, index), sha256 in zip(places, (digest(_page(*place).encode()) for place in places), strict=True)
    ]
    nodes = node_ids(parse(PAGE))
    Target.objects.bulk_create([_target(step, nodes) for step in Step.objects.bulk_create(steps)])


def _page(turn: Turn, index: int) -> str:
    return PAGE.format(title=f"{turn.conversation.source_id}, turn {turn.index}, step {index}")


def _of_step(index: int) -> dict[str, Any]:
    operation, value, node_id, tag = ACTIONS[index % len(ACTIONS)]
    return {
        "source_id": f"step-{index}",
        "operation": operation,
        "value": value,
        "action_repr": f"[{tag}]  Search -> {operation}{': ' + value if value else ''}",
        "candidates": pack_candidates([CandidateRecord(node_id, tag)], _negatives(node_id)),
        "candidate_count": len(CANDIDATES),
    }


def _target(step: Step, nodes: list[str]) -> Target:
    """The gold element of a step whose page has these nodes."""
    node_id = ACTIONS[step.index % len(ACTIONS)][2]
    return Target(step=step, node_id=node_id, position=0, node_order=nodes.index(node_id))


def _negatives(gold: str) -> list[CandidateRecord]:
    return [CandidateRecord(node_id, tag) for node_id, tag in CANDIDATES if node_id != gold]


def make_rationale(step: Step | None = None, **fields: Any) -> Rationale:
    fields = {"text": "The search field is needed first.", "source": "human"} | fields
    return Rationale.objects.create(step=step or make_step(), **fields)


def make_memory_snippet(step: Step | None = None, **fields: Any) -> MemorySnippet:
    step = step or make_step()
    fields = {"encoder": "test", "text": step.turn.instruction, "embedding": unit_vector()} | fields
    return MemorySnippet.objects.create(step=step, conversation=step.turn.conversation, **fields)


def make_exemplar(conversation: Conversation | None = None, **fields: Any) -> Exemplar:
    conversation = conversation or make_conversation()
    fields = {"encoder": "test", "key_text": "Buy a gift.", "embedding": unit_vector(), "split": "train"} | fields
    return Exemplar.objects.create(dataset=conversation.dataset, conversation=conversation, **fields)


def make_workflow(dataset: Dataset | None = None, **fields: Any) -> Workflow:
    fields = {"name": f"workflow {next(_numbers)}", "description": "Search.", "body": "CLICK {result}"} | fields
    return Workflow.objects.create(dataset=dataset or make_dataset(), **fields)


def make_trained_model(dataset: Dataset | None = None, **fields: Any) -> TrainedModel:
    dataset = dataset or make_dataset()
    fields = {"name": f"model-{next(_numbers)}", "kind": "dual_encoder", "base": "all-MiniLM-L6-v2"} | fields
    return TrainedModel.objects.create(project=dataset.project, dataset=dataset, dataset_name=dataset.name, **fields)


def make_prompt_pack(project: Project, name: str = "", **texts: str) -> PromptPack:
    """The packaged pack with texts changed."""
    pack = Pack(name or f"pack-{next(_numbers)}", 1, {**webnav().texts, **texts})
    return PromptPack.objects.add(project, pack, base="webnav", base_sha256=webnav().sha256)


def unit_vector(place: int = 0) -> list[float]:
    """An embedding with a single one."""
    return [float(index == place) for index in range(HashEncoder().dimensions)]


def make_run(dataset: Dataset | None = None, **fields: Any) -> Run:
    fields = {
        "recipe_name": "grounded",
        "recipe": literature.to_dict(literature.get("grounded")),
        "recipe_sha256": hashlib.sha256(b"grounded").hexdigest(),
        "data_sha256": hashlib.sha256(b"data").hexdigest(),
        "split": "train",
    } | fields
    return Run.objects.create(dataset=dataset or make_dataset(), **fields)


def make_trajectory(
    run: Run | None = None, conversation: Conversation | None = None, *, stored: int | None = None, **fields: Any
) -> Trajectory:
    """An agent's steps in a conversation; `stored`: only so many of them are there yet."""
    conversation = conversation or make_conversation(dataset=run.dataset if run else None)
    run = run or make_run(conversation.dataset, split=conversation.split)
    steps = list(Step.objects.filter(turn__conversation=conversation).order_by("turn__index", "index"))
    stored = len(steps) if stored is None else stored
    fields = {"step_count": len(steps), "state": "done" if stored == len(steps) else "running"} | fields
    trajectory = Trajectory.objects.create(run=run, conversation=conversation, **fields)
    for seq, step in enumerate(steps[:stored]):
        make_trajectory_step(trajectory, step, seq)
    return trajectory


def make_trajectory_step(trajectory: Trajectory, step: Step, seq: int, **fields: Any) -> TrajectoryStep:
    """The agent always clicks the button "Search" (node 9): right at every third step of a turn."""
    right = step.operation == "CLICK"
    fields = {
        "operation": "CLICK",
        "node_id": "9",
        "candidate_ids": ["9", "5", "6"],
        "candidate_scores": [0.9, 0.5, 0.1],
        "gold_rank": 0 if right else 1,
        "element_correct": right,
        "operation_f1": float(right),
        "success": right,
        "milliseconds": 12.5,
        "trace": {
            "rank": {"candidates": [{"node_id": "9", "score": 0.9, "rank": 0, "text": "button Search"}]},
            "recall": {"snippets": []},
            "act": {"representation": "[button]  Search -> CLICK"},
        },
    } | fields
    return TrajectoryStep.objects.create(run=trajectory.run, trajectory=trajectory, step=step, seq=seq, **fields)


def make_study(project: Project | None = None, runs: list[Run] | None = None, **fields: Any) -> Study:
    runs = runs or [make_run(make_dataset(project))]
    fields = {"name": f"study {next(_numbers)}", "preset": "corrected"} | fields
    study = Study.objects.create(project=project or runs[0].dataset.project, **fields)
    study.runs.set(runs)
    return study


def make_shard(run: Run | None = None, **fields: Any) -> Shard:
    fields = {"index": 0, "conversation_ids": [], "step_count": 4} | fields
    return Shard.objects.create(run=run or make_run(), **fields)


def make_guard_rule(project: Project, **more: Any) -> GuardRule:
    return GuardRule.objects.add(True, **{"project": project, "website": "", "of": "words", "pattern": "book*", **more})


def make_step_picture(step: TrajectoryStep, data: bytes = PNG, **fields: Any) -> StepPicture:
    """The screenshot of a step of a live episode, in a window of 332 by 214 pixels."""
    size = {"width": 332, "height": 214, "boxes": {"9": [10, 20, 100, 40]}} | fields
    return StepPicture.objects.create(step=step, screenshot=make_screenshot(data), **size)


def make_held_step(trajectory: Trajectory, seconds: float = 60, **more: Any) -> HeldStep:
    """An action of an episode that waits for a person."""
    done: Any = {"operation": "CLICK", "node_id": "3", "value": "", **more.pop("action", {})}
    return HeldStep.objects.hold(
        trajectory, done, "[button]  Pay -> CLICK", Risk("pay", "says Pay", "page"), seconds, **more
    )


def make_drive(trajectory: Trajectory, **more: Any) -> Drive:
    """The agent of an episode stands still, and waits for a person."""
    window = {"url": "https://nordline.example/", "instruction": "Pay.", "width": 4, "height": 3, "fields": []}
    fields = {"until": Drive.later(), "picture": b"\xff\xd8", "number": 1, "window": window | {"names": []}} | more
    return Drive.objects.create(trajectory=trajectory, **fields)


def make_score(run: Run | None = None, **fields: Any) -> Score:
    fields = {
        "preset": "corrected",
        "metric": "element_accuracy",
        "grouping": "conversation",
        "headline": True,
        "value": 0.5,
        "low": 0.25,
        "high": 0.75,
        "n": 4,
    } | fields
    return Score.objects.create(run=run or make_run(), **fields)


def make_judge_verdict(trajectory: Trajectory, judge: str = "gold", **said: Any) -> JudgeVerdict:
    """What a judge says of a trajectory as it is now."""
    asked = {name: said.pop(name, "") for name in ("model", "pack", "pack_sha256")}
    told = {"success": False, "said": "Not every action is the recorded one.", "answers": {}, "error": ""} | said
    return JudgeVerdict.objects.keep(trajectory, judge, asked, told, Usage(), 0.0)


def make_scanner_answer(step: TrajectoryStep, reason: str = "wrong value", **said: Any) -> ScannerAnswer:
    """What a scanner that asks a language model says of a failed step."""
    asked = {"model": said.pop("model", "m-1"), "pack": "webnav@8", "pack_sha256": "0" * 64}
    told = {"reason": reason, "said": "It took another field.", "error": ""} | said
    return ScannerAnswer.objects.keep(step.pk, "reason", asked, told, Usage(), 0.0)


def make_job(project: Project | None = None, **fields: Any) -> Job:
    fields = {"kind": "export", "params": {"format": "jsonl", "name": "sample"}} | fields
    return Job.objects.create(project=project or make_project(), **fields)


def make_campaign(project: Project | None = None, source: Dataset | None = None, **fields: Any) -> Campaign:
    """A campaign with its first guidelines; its source is a dataset without conversations if none is given."""
    source = source or make_dataset(project)
    fields = {"name": f"Campaign {next(_numbers)}", "rubric": DEFAULT_RUBRIC} | fields
    campaign = Campaign.objects.create(project=source.project, source=source, **fields)
    Guideline.objects.create(campaign=campaign, version=1, text="# Guidelines\n\nCut where the intent changes.")
    return campaign


def make_session(campaign: Campaign | None = None, tasks: int = 2, steps: int = 3, **fields: Any) -> Session:
    """A session of recorded single-turn tasks of one website, in the campaign's source dataset."""
    campaign = campaign or make_campaign()
    website = fields.pop("website", None) or make_website(campaign.source)
    split = fields.get("split", "train")
    conversations = [
        make_conversation(turns=1, steps=steps, split=split, dataset=campaign.source, website=website)
        for _ in range(tasks)
    ]
    number = next(_numbers)
    fields = {"name": f"session-{number}", "position": number, "split": split} | fields
    session = Session.objects.create(campaign=campaign, website=website, **fields)
    for position, conversation in enumerate(conversations):
        SessionTask.objects.create(campaign=campaign, session=session, conversation=conversation, position=position)
    return session


def make_item(session: Session | None = None, **fields: Any) -> Item:
    session = session or make_session()
    return Item.objects.create(session=session, **{"stage": "decompose", "overlap": 1} | fields)


def make_assignment(item: Item | None = None, user: Any = None, **fields: Any) -> Assignment:
    """An item in somebody's hands (a new annotator's if none is given), with its first part."""
    item = item or make_item()
    user = user or make_user("annotator", item.session.campaign.project)
    guideline = item.session.campaign.guidelines.first()
    fields = {"slot": 0, "state": "in_progress", "guideline": guideline} | fields
    assignment = Assignment.objects.create(item=item, user=user, **fields)
    if item.stage != "verify":
        Part.objects.create(assignment=assignment, first_step=item.session.steps().first())
    return assignment

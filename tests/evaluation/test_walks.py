"""The two walks of `docs/architecture.md`, walked: a room that is entered is told there, and what is told is entered.

They are walked row by row of the table. A room that is entered on a row that does not tell it is entered once more than
is told: then the text below the table says so, and on which rows. A room is a folder of the apps; a file at the top of
an app is one by itself. Calls are seen by `sys.setprofile`.
"""

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from uuid import uuid4

import pytest
from django.urls import reverse

from annotations.corpus.correct.correcting import CorrectionDesk, GoldDesk
from annotations.corpus.exporting import export_release
from annotations.desk import moving_on
from annotations.jobs import running as jobs
from annotations.models import Assignment, Campaign, Correction, Dataset, Job, Session
from annotations.releases.checking import check_dataset
from annotations.releases.releasing import make_release
from annotations.sample.build import build_website
from evaluation.judges.agreeing import agreements
from evaluation.judges.judging import Judging
from evaluation.models import Score, Study
from evaluation.reports.tables import report
from evaluation.reviews.counting import count_reviews
from evaluation.studies.running import create_study, run_inline
from tests import factories
from tests.signed_in import client_of
from tests.test_imports import ROOT

pytestmark = pytest.mark.django_db

APPS = ("annotations", "agents", "evaluation")
OURS = tuple(f"{ROOT / app}/" for app in APPS)
OBSERVATION, EDIT = "One observation, from import to score", "One edit, from a key press to a release"
# What only live goals enter, agents that write programs or ask a language model; and words, which are data.
LIVE = ("agents/live", "agents/environments", "agents/holding", "agents/programs")
ELSEWHERE = (*LIVE, "agents/prompts", "agents/llm", "agents/types.py")
# What recipes enter that ask models, prompt and rank by WebLINX's rankers: (row, room). test_recipes_run walks them.
BY_OTHER_RECIPES = {
    (5, "agents/training"),
    (6, "agents/generators"),
    (6, "agents/llm"),
    (6, "agents/training"),
    (6, "agents/weblinx"),
    (8, "agents/generators"),
    (8, "agents/llm"),
    (8, "agents/prompts"),
    (8, "agents/recipes"),
    (8, "agents/world_model"),
    (9, "agents/memory"),
    (10, "agents/words"),
}

# What only work enters that came back with its cuts wrong.
SENT_BACK = ("annotations/work/rewrite/carrying.py", "annotations/models/work/sending_back.py")
BY_CUTS_THAT_CAME_BACK = (4, "annotations/work/rewrite")

BEGINS = {  # the calls at which a run is on another row of the table, until they return
    "run_conversations": 9,
    "build_pipeline": 6,
    "RecordedConversation.__init__": 7,
    "RecordedConversation.observation": 7,
    "Pipeline.prepare": 8,
    "Pipeline.decide": 8,
    "ShardQuerySet.end_run": 10,
    "parse_pages": 9,
}

IMPORT_BEGINS = {  # of the import: calls, and rooms whose calls all are
    "annotations/datasets": 2,
    "ConversationStore.sha256": 3,
    "ConversationStore.store": 3,
    "annotations/sandbox": 4,
    "annotations/dom": 4,
}

EDIT_BEGINS = {  # of an edit: calls, of a file where others are called so, and rooms whose calls all are
    "annotations/edits/saving.py:save": 3,
    "annotations/edits/saving.py:undo": 3,
    "annotations/desk/moving_on.py:open_work": 4,
    "annotations/desk/moving_on.py:submit": 4,
    "annotations/campaigns/queue": 4,
    "annotations/work/release": 6,
}

Walked = dict[tuple[int, ...], set[str]]
"""Rows of the table -> the rooms that were entered on that stretch, and the files in them."""


def room_of(path: Path) -> str | None:
    parts = path.relative_to(ROOT).parts if path.is_relative_to(ROOT) else ()
    if not parts or parts[0] not in APPS:
        return None
    return "/".join(parts if len(parts) == 2 else parts[:-1])


class Walk:
    """The functions that are called meanwhile, each on the row of the innermost call that begins one; a thread begins
    on the first row. What loading a module calls is no walk."""

    def __init__(self, first: int = 0, begins: dict[str, int] | None = None) -> None:
        self._first, self._begins = first, begins or {}
        self._seen: dict[tuple[CodeType, int], None] = {}
        self._rows: dict[CodeType, int] = {}
        self._under_way = threading.local()

    def called(self, frame: FrameType, event: str, _: object) -> None:
        """Of the calls under way, those are kept that begin a row. It is called a hundred thousand times."""
        try:
            calls = self._under_way.calls
        except AttributeError:
            calls = self._under_way.calls = []
        if event == "call":
            code = frame.f_code
            row = self._rows[code] if code in self._rows else self._row(code)
            if row:
                calls.append((frame, row))
            self._seen[code, calls[-1][1] if calls else self._first] = None
        elif event == "return" and calls and calls[-1][0] is frame:
            calls.pop()

    def _row(self, code: CodeType) -> int:
        """The row that a function begins; 0 where it is on that of whoever calls it."""
        path, names = Path(code.co_filename), [code.co_qualname]
        if code.co_filename.startswith(OURS):
            names = [f"{path.relative_to(ROOT).as_posix()}:{code.co_qualname}", *names, room_of(path) or ""]
        self._rows[code] = next((self._begins[name] for name in names if name in self._begins), 0)
        return self._rows[code]

    def rooms(self) -> dict[int, set[str]]:
        """Row -> the rooms and files whose functions were called on it."""
        found: dict[int, set[str]] = {}
        for code, row in tuple(self._seen):  # a thread may still run
            if not code.co_filename.startswith(OURS):
                continue
            path = Path(code.co_filename)
            room = None if code.co_name.startswith("<") else room_of(path)
            if room:
                found.setdefault(row, set()).update((room, path.relative_to(ROOT).as_posix()))
        return found


@contextmanager
def walking(first: int = 0, begins: dict[str, int] | None = None) -> Iterator[dict[int, set[str]]]:
    walk, rooms = Walk(first, begins), dict[int, set[str]]()
    threading.setprofile(walk.called)
    sys.setprofile(walk.called)
    try:
        yield rooms
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    rooms.update(walk.rooms())


def section_of(heading: str) -> str:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    return text.partition(f"\n## {heading}")[2].partition("\n## ")[0]


def named_in(text: str) -> set[str]:
    """The rooms and files that a text names."""
    named = {name.rstrip("/") for name in re.findall(r"`([\w/]+(?:\.py|/))`", text)}
    return {name for name in named if name.startswith(APPS)}


@contextmanager
def walking_on(walked: Walked, *rows: int) -> Iterator[None]:
    """A stretch of a walk: what is entered meanwhile is entered on these rows."""
    with walking() as rooms:
        yield
    walked[rows] = walked.get(rows, set()).union(*rooms.values())


@contextmanager
def walking_from(walked: Walked, row: int, begins: dict[str, int]) -> Iterator[None]:
    """Part of a walk that begins on a row: what is entered meanwhile is so on the row of the call that it is in."""
    with walking(row, begins) as rooms:
        yield
    for entered, found in rooms.items():
        walked[entered,] = walked.get((entered,), set()) | found


def told_in(heading: str) -> set[str]:
    return named_in(section_of(heading))


def rows_of(section: str) -> dict[int, set[str]]:
    """What each numbered row of its table names."""
    return {int(number): named_in(row) for number, row in re.findall(r"^\| (\d+) \| (.*)$", section, re.M)}


def told_below(section: str) -> list[tuple[set[str], set[int]]]:
    """What the text below the table says is entered again: (rooms, on which rows) of each sentence, or part of one
    before a semicolon; rooms of one that names no rows are entered anywhere."""
    below = re.sub(r"^\|.*$", "", section, flags=re.M)
    parts = re.split(r";\s|\.\s|:\n", below)
    return [
        (named_in(part), {int(row) for rows in re.findall(r"\((\d+(?:, \d+)*)\)", part) for row in rows.split(", ")})
        for part in parts
    ]


def once_more(walked: Walked, section: str) -> list[tuple[tuple[int, ...], str]]:
    """(rows, room) of rooms that were entered on the stretch of these rows and are told in none of them, nor below the
    table, where it says what is entered everywhere, or again on these rows, and why."""
    rows, below = rows_of(section), told_below(section)
    return [
        (stretch, room)
        for stretch, rooms in walked.items()
        for room in untold(
            rooms,
            set().union(
                *(rows[row] for row in stretch),
                *(named for named, on in below if not on or on & set(stretch)),
            ),
        )
    ]


def not_again(walked: Walked, section: str) -> list[tuple[int, str]]:
    """(row, room) of what the text below the table says is entered on a row, and is not."""
    return [
        (row, home)
        for named, on in told_below(section)
        for row in sorted(on)
        for home in unwalked(homes_of(named), set().union(*(rooms for rows, rooms in walked.items() if row in rows)))
    ]


def unexplained(section: str) -> dict[str, list[int]]:
    """Room -> the rows that name it after the first, for those of which the text below the table does not say so."""
    named: dict[str, list[int]] = {}
    for row, told in rows_of(section).items():
        for home in homes_of(told):
            named.setdefault(home, []).append(row)
    said: dict[str, set[int]] = {}
    for told, on in told_below(section):
        for home in homes_of(told):
            said.setdefault(home, set()).update(on)
    left = {home: [row for row in rows[1:] if row not in said.get(home, ())] for home, rows in named.items()}
    return {home: rows for home, rows in left.items() if rows}


def elsewhere(walked: Walked, section: str) -> list[tuple[int, str]]:
    """(row, name) of what a row of the table names and the walk does not enter on that row."""
    return [
        (row, name)
        for row, named in rows_of(section).items()
        for name in unwalked(named, set().union(*(rooms for rows, rooms in walked.items() if row in rows)))
    ]


def untold(rooms: set[str], told: set[str]) -> list[str]:
    """Rooms that are not told by themselves, by a file that lies in them, or as parts of one that is."""
    homes = told | homes_of(told)
    entered = {room for room in rooms if not is_inside(room)}
    return sorted(room for room in entered - homes if not any(room.startswith(f"{name}/") for name in told))


def homes_of(told: set[str]) -> set[str]:
    """Rooms by themselves, and those in which files lie."""
    return {name.rpartition("/")[0] if is_inside(name) else name for name in told}


def is_inside(name: str) -> bool:
    """A file of a room, rather than one at the top of an app, which is a room by itself."""
    return name.endswith(".py") and name.count("/") > 1


def unwalked(told: set[str], rooms: set[str]) -> list[str]:
    """Told rooms and files that nothing entered."""
    return sorted(name for name in told if not any(f"{room}/".startswith(f"{name}/") for room in rooms))


@pytest.mark.slow
def test_an_observation_enters_the_rooms_that_are_told(tmp_path: Path, settings, hash_encoder) -> None:
    settings.IMPORT_ROOT = tmp_path
    build_website("casaverde", tmp_path / "sources")
    project = factories.make_project()
    admin = factories.make_user("admin", project)
    walked: Walked = {}
    with walking(1, IMPORT_BEGINS) as importing:
        job = jobs.start_import(
            user=admin, project=project, format="mt-mind2web", name="walked", path="sources", limit=1
        )
        while (claimed := Job.objects.claim(job.pk)) is not None and jobs.run(claimed):
            pass
    for row, entered in importing.items():
        walked[row,] = entered
    dataset = Dataset.objects.get(name="walked")
    with walking_on(walked, 5):
        study = create_study(user=admin, dataset=dataset, recipes=["grounded"], publish=False)
    with walking(5, BEGINS) as deciding:
        run_inline(study)
    for row, entered in deciding.items():
        walked[row,] = walked.get((row,), set()) | entered
    read_and_mend(study, walked)
    assert Score.objects.exists()
    rooms = set().union(*walked.values())
    assert once_more(walked, section_of(OBSERVATION)) == []
    left_to_others = ({room for _, room in BY_OTHER_RECIPES} - rooms) & told_in(OBSERVATION)
    unseen = {room for room in unwalked(told_in(OBSERVATION), rooms) if not room.startswith(LIVE)}
    assert unseen == left_to_others
    not_on_its_row = {one for one in elsewhere(walked, section_of(OBSERVATION)) if one[1] not in ELSEWHERE}
    assert not_on_its_row - BY_OTHER_RECIPES == set()
    assert {*not_again(walked, section_of(OBSERVATION))} - BY_OTHER_RECIPES == set()


def test_a_room_on_two_rows_is_explained() -> None:
    assert unexplained(section_of(OBSERVATION)) == {}
    assert unexplained(section_of(EDIT)) == {}


def read_and_mend(study: Study, walked: Walked) -> None:
    """The rows after the scores: read, said to be wrong, corrected, and judged again."""
    run = study.runs.get()
    trajectory = run.trajectories.first()
    project = study.project
    reviewer, annotator = (factories.make_user(role, project) for role in ("admin", "admin"))
    browser = client_of(reviewer)
    pages = (reverse("trajectory-step", args=[trajectory.pk, 0]), reverse("compare") + f"?runs={run.pk}&runs={run.pk}")
    said, reviews = {"seq": 0, "verdict": "gold_wrong"}, reverse("trajectory-reviews", args=[trajectory.pk])
    for path in (*pages, reviews):  # modules are loaded before
        browser.get(path)
    with walking_on(walked, 11):
        for path in pages:
            assert browser.get(path).status_code == 200
        assert report([study])
    with walking_on(walked, 12):
        assert browser.post(reviews, said, content_type="application/json").status_code == 200
        count_reviews()
        assert list(Judging("gold", project).go_through(run))
        assert agreements(run)
    step = trajectory.steps.order_by("seq")[0].step
    gold = GoldDesk(step)
    with walking(13, {"count_reviews": 12}) as mending:
        desk = CorrectionDesk(Correction.objects.ask(step, reviewer, "The other one."))
        desk.propose(annotator, "CLICK", "", next(one.node_id for one in gold.choices() if not one.is_gold))
        desk.accept(reviewer)
        count_reviews()
    for row, entered in mending.items():
        walked[row,] = walked.get((row,), set()) | entered


class Door:
    """How people do their work: programs by REST, and people by pages. Answers are looked at, and each call is a part
    of the walk from its row on."""

    def __init__(self, campaign: Campaign, walked: Walked) -> None:
        self.campaign, self.walked = campaign, walked
        self.people = {
            role: client_of(factories.make_user(role, campaign.project)) for role in ("annotator", "reviewer")
        }

    def ask(self, row: int, role: str, path: str, body: dict) -> dict:
        with walking_from(self.walked, row, EDIT_BEGINS):
            answer = self.people[role].post(path, body, content_type="application/json")
        assert answer.status_code < 300, answer.content
        return answer.json()

    def claim(self, row: int, role: str, stage: str) -> Assignment:
        raise NotImplementedError

    def edit(self, pk: int, body: dict) -> dict:
        raise NotImplementedError

    def hand_in(self, pk: int, body: dict) -> None:
        raise NotImplementedError

    def judge(self, pk: int, body: dict) -> None:
        raise NotImplementedError


class Programs(Door):
    def claim(self, row: int, role: str, stage: str) -> Assignment:
        lease = self.ask(row, role, "/api/assignments/claim/", {"campaign": self.campaign.pk, "stage": stage})
        return Assignment.objects.get(pk=lease["assignment"])

    def edit(self, pk: int, body: dict) -> dict:
        return self.ask(2, "annotator", f"/api/assignments/{pk}/edits/", body)

    def hand_in(self, pk: int, body: dict) -> None:
        self.ask(2, "annotator", f"/api/assignments/{pk}/submit/", body | {"sure": True})

    def judge(self, pk: int, body: dict) -> None:
        self.ask(5, "reviewer", f"/api/assignments/{pk}/judge/", body | {"sure": True})


class Pages(Door):
    def claim(self, row: int, role: str, stage: str) -> Assignment:
        """The next item is opened as the page of the queue leads to it."""
        asked = {"campaign": self.campaign.pk, "stage": stage}
        with walking_from(self.walked, row, EDIT_BEGINS):
            answer = self.people[role].post(reverse("annotate-next"), asked, follow=True)
        assert answer.status_code == 200
        found = Assignment.objects.get(pk=answer.context["data"]["id"])
        assert found.lease_token is not None
        return found

    def edit(self, pk: int, body: dict) -> dict:
        return self.ask(2, "annotator", reverse("annotate-edits", args=[pk]), body)

    def hand_in(self, pk: int, body: dict) -> None:
        self.ask(2, "annotator", reverse("annotate-submit", args=[pk]), body)

    def judge(self, pk: int, body: dict) -> None:
        self.ask(5, "reviewer", reverse("annotate-verify-judge", args=[pk]), body)


# What the other of the two ways enters alone, as files, and as rooms with the rows that are told of them.
BY_THE_OTHER = {
    Programs: ("annotations/desk/write/document_views.py", "annotations/dom", "annotations/templatetags"),
    Pages: ("annotations/work/api.py",),
}
NOT_SHOWN = {
    Programs: [(5, "annotations/corpus"), (5, "annotations/dom")],
    Pages: [],
}


def write_and_judge(door: Door, session: Session) -> None:
    """One text of each stage of a session, written by two edits, handed in, and accepted."""
    step = next(session.bare_steps()).pk
    for stage, field in (("decompose", "instruction"), ("rewrite", "rewrite")):
        work = door.claim(2, "annotator", stage)
        before, held = getattr(work.parts.get(), field), {"token": str(work.lease_token), "base": work.version}
        for text in ("Go.", "Go there."):
            said = {"op_id": str(uuid4()), "kind": "text", "step": step, "field": field}
            saved = door.edit(work.pk, held | {"edits": [said | {"before": before, "after": text}]})
            before, held = text, held | {"base": saved["version"]}
        door.hand_in(work.pk, held)
    found = door.claim(5, "reviewer", "verify")
    checklist = {row["code"]: True for row in session.campaign.rubric}
    verdict = {"token": str(found.lease_token), "version": found.judged.version, "outcome": "accept"}
    door.judge(found.pk, verdict | {"checklist": checklist})


def typed(work: Assignment, version: int, before: str, after: str) -> dict:
    """An edit of the first text of somebody's work, as programs send it."""
    said = {"op_id": str(uuid4()), "kind": "text", "step": work.parts.get().first_step_id, "field": "instruction"}
    held = {"token": str(work.lease_token), "base": version}
    return held | {"edits": [said | {"before": before, "after": after}]}


@pytest.fixture
def rehearsed() -> tuple[Programs, Assignment, int]:
    """Somebody's work with its version after one edit: what an edit loads is loaded."""
    campaign = factories.make_campaign()
    moving_on.open_work(factories.make_session(campaign, tasks=1, steps=2))
    door = Programs(campaign, {})
    work = door.claim(2, "annotator", "decompose")
    saved = door.edit(work.pk, typed(work, work.version, "", "Go."))
    door.walked.clear()
    return door, work, saved["version"]


def test_an_edit_that_is_saved_enters_the_rooms_that_are_told(rehearsed: tuple[Programs, Assignment, int]) -> None:
    """Rows 2 and 3 alone: the whole way takes too long for whoever changes a line."""
    door, work, version = rehearsed
    door.edit(work.pk, typed(work, version, "Go.", "Go there."))
    assert door.walked.keys() == {(2,), (3,)}
    assert once_more(door.walked, section_of(EDIT)) == []
    assert {"annotations/work/api.py", "annotations/work/decompose"} <= door.walked[2,]
    assert {"annotations/edits", "annotations/text/merging.py"} <= door.walked[3,]


@pytest.mark.slow
@pytest.mark.parametrize("way", [Programs, Pages])
def test_an_edit_enters_the_rooms_that_are_told(way: type[Door], tmp_path: Path) -> None:
    """By programs and by pages, row by row."""
    campaign = factories.make_campaign()
    rehearsed, session = (factories.make_session(campaign, tasks=1, steps=2, name=name) for name in ("a", "b"))
    moving_on.open_work(rehearsed)
    write_and_judge(way(campaign, {}), rehearsed)  # modules are loaded before
    walked: Walked = {}
    with walking_from(walked, 4, EDIT_BEGINS):
        moving_on.open_work(session)
    write_and_judge(way(campaign, walked), session)
    campaign.refresh_from_db()
    user, dataset = factories.make_user("admin", campaign.project), campaign.ensure_target()
    with walking_on(walked, 7):
        keys = [concern.key for concern in check_dataset(dataset).concerns()]
        release = make_release(dataset, "1.0", user, "CC0-1.0", "Consent was given.", accepted_findings=keys)
    with walking_on(walked, 8):
        export_release(release, "mt-mind2web", tmp_path)
    assert walked.keys() == {(row,) for row in range(2, 9)}
    rooms, elsewise = set().union(*walked.values()), (*SENT_BACK, *BY_THE_OTHER[way])
    section = section_of(EDIT)
    assert once_more(walked, section) == []
    assert [name for name in unwalked(named_in(section), rooms) if name not in elsewise] == []
    assert [one for one in elsewhere(walked, section) if one[1] not in elsewise] == []
    assert sorted(not_again(walked, section)) == sorted([*NOT_SHOWN[way], BY_CUTS_THAT_CAME_BACK])


def test_a_room_that_is_entered_once_more_is_found() -> None:
    section = """
| 1 | `annotations/desk/write/` | a person writes |
| 2 | `annotations/work/verify/` | another one judges |

Asked from everywhere: rows (`annotations/models/`).
"""
    written, judged = {"annotations/desk/write", "annotations/models"}, {"annotations/work/verify"}
    assert once_more({(1,): written, (2,): judged | {"annotations/models"}}, section) == []
    assert once_more({(1,): written, (2,): judged | written}, section) == [((2,), "annotations/desk/write")]
    assert once_more({(1, 2): written | judged}, section) == []
    again = f"{section}Verifying writes (2) by `annotations/desk/write/`; it tells nobody."
    assert once_more({(1,): written, (2,): judged | written}, again) == []
    assert once_more({(1,): written | judged}, again) == [((1,), "annotations/work/verify")]
    assert not_again({(1,): written, (2,): judged}, again) == [(2, "annotations/desk/write")]


def test_a_room_on_two_rows_without_a_sentence_is_found() -> None:
    table = """
| 1 | `annotations/text/merging.py` | merges |
| 2 | `annotations/tell/` | tells |
| 3 | `annotations/text/amounts.py` | counts |
"""
    assert unexplained(table) == {"annotations/text": [3]}
    assert unexplained(f"{table}\nIn the words of `annotations/text/` (2).") == {"annotations/text": [3]}
    assert unexplained(f"{table}\nIn the words of `annotations/text/` (3).") == {}
    assert unexplained(section_of(EDIT).replace("`annotations/text/` merges", "Texts are merged")) == {
        "annotations/text": [7]
    }


def test_a_second_entry_between_planning_and_scores_is_found() -> None:
    """Calls are on the row of the innermost call that begins one, and on the one before once it has returned."""
    section = section_of(OBSERVATION)
    assert once_more({(7,): {"agents/llm"}}, section) == [((7,), "agents/llm")]
    assert once_more({(8,): {"evaluation/studies"}}, section) == [((8,), "evaluation/studies")]
    walk = Walk(5, {"rows_of": 6, "named_in": 7})
    sys.setprofile(walk.called)
    rows_of(section_of(EDIT))
    sys.setprofile(None)
    assert {
        (code.co_name, row) for code, row in walk._seen if code.co_name in ("rows_of", "named_in", "section_of")
    } == {
        ("section_of", 5),
        ("rows_of", 6),
        ("named_in", 7),
    }


def test_the_text_is_held_to_say_what_is_entered_once_more() -> None:
    """Without its sentence on the rooms of writing, verifying enters one that is not told there."""
    section, twice = section_of(EDIT), "`annotations/desk/write/`"
    walked: Walked = {(5, 6): {"annotations/work/verify", "annotations/desk/write"}}
    assert section.count(twice) == 1
    assert once_more(walked, section) == []
    assert once_more(walked, section.replace(twice, "")) == [((5, 6), "annotations/desk/write")]


def test_a_room_that_is_entered_and_not_told_is_found() -> None:
    told = {"agents/pipeline.py", "agents/stages", "annotations/corpus/store.py"}
    assert unwalked(told, {"agents/stages", "annotations/corpus", "annotations/corpus/importing.py"}) == [
        "agents/pipeline.py",
        "annotations/corpus/store.py",
    ]
    assert untold({"agents/pipeline.py", "agents/stages/rank", "annotations/corpus", "annotations/dom"}, told) == [
        "annotations/dom"
    ]
    assert unwalked(told, {"agents/pipeline.py", "annotations/corpus/store.py"}) == ["agents/stages"]
    with walking() as rooms:
        Job.Kind.IMPORT.__str__()
        told_in(EDIT)
        jobs.publish.__name__  # noqa: B018  naming is no call
    assert rooms == {}

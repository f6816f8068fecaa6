"""Edits of an annotation: nothing is lost, nothing is made twice, everything can be undone; also at the same time."""

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from annotations.edits import saving
from annotations.edits.saving import open_desk
from annotations.models import Assignment, Edit, NotYours
from annotations.models.work.edits import origins, stacks, together
from tests import factories

pytestmark = pytest.mark.django_db
WORDS = "find the red shoes and sort them by price".split()

# What a person does in a window: which of the two, on which part, what, where, and whether it is sent a second time.
ACTIONS = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.integers(0, 3),
        st.sampled_from(["write", "write", "write", "erase", "cut", "join", "mark", "look"]),
        st.integers(0, 12),
        st.booleans(),
    ),
    min_size=1,
    max_size=10,
)


class Window:
    """What one window shows, possibly out of date, and the edits that it makes of that."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment, self.user = assignment, assignment.user
        self.token = str(assignment.lease_token)
        self.look()

    def look(self) -> None:
        with transaction.atomic():
            assignment = self.locked()
            self.version, self.parts = assignment.version, open_desk(assignment, self.user).ordered()

    def locked(self) -> Assignment:
        return Assignment.objects.for_saving(self.assignment.pk, self.user)

    def send(self, *rows: dict) -> saving.Saved:
        """Save without looking: what the window shows stays as it was."""
        with transaction.atomic():
            return saving.save(self.locked(), self.user, self.token, self.version, list(rows))

    def step_back(self, undo_or_redo: Any) -> saving.Saved:
        with transaction.atomic():
            return undo_or_redo(self.locked(), self.user, self.token, 0)

    def edit(self, place: int, what: str, where: int, word: str, steps: list[int]) -> dict | None:
        """The edit that the action makes of what is shown; None when it makes none."""
        part = self.parts[place % len(self.parts)]
        said = part["rewrite"].split()
        if what == "write":
            after = [*said[: where % (len(said) + 1)], word, *said[where % (len(said) + 1) :]]
            return text(part["step"], part["rewrite"], " ".join(after))
        if what == "erase" and said:
            after = [other for index, other in enumerate(said) if index != where % len(said)]
            return text(part["step"], part["rewrite"], " ".join(after))
        if what == "mark" and said:
            start = part["rewrite"].index(said[where % len(said)])
            mark = {"id": word, "phenomenon": "pronoun", "start": start, "end": start + len(said[where % len(said)])}
            after = [*part["mentions"], mark | {"antecedent": None}]
            return {"kind": "mentions", "step": part["step"], "before": part["mentions"], "after": after}
        if what == "cut" and (free := [step for step in steps if step not in {p["step"] for p in self.parts}]):
            after = {"instruction": "", "rewrite": word}
            return {"kind": "cut", "step": free[where % len(free)], "before": None, "after": after}
        if what == "join" and len(self.parts) > 1:
            part = self.parts[1 + place % (len(self.parts) - 1)]
            before = {name: part[name] for name in ("instruction", "rewrite", "mentions")}
            return {"kind": "join", "step": part["step"], "before": before, "after": None}
        return None


def text(step: int, before: str, after: str, field: str = "rewrite") -> dict:
    return {"op_id": str(uuid4()), "kind": "text", "step": step, "field": field, "before": before, "after": after}


def words_of(content: Any) -> set[str]:
    """The words and the ids of mentions of a text, a part, a list of parts or of mentions."""
    if isinstance(content, str):
        return set(content.split())
    if isinstance(content, list):
        return set().union(*map(words_of, content)) if content else set()
    if isinstance(content, dict):
        return {content["id"]} if "id" in content else words_of([v for k, v in content.items() if k != "step"])
    return set()


@pytest.fixture
def assignment() -> Assignment:
    return leased()


def leased() -> Assignment:
    session = factories.make_session(tasks=2, steps=3)
    assignment = factories.make_assignment(factories.make_item(session, stage="rewrite"))
    assignment.parts.update(rewrite=" ".join(WORDS))
    return assignment.take(assignment.user)


# Not shrunk: every example is a dozen transactions, and the actions are short enough to be read.
@pytest.mark.slow
@settings(
    max_examples=15,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(actions=ACTIONS)
def test_two_windows_with_stale_views_lose_nothing_and_all_can_be_undone(assignment: Assignment, actions):
    steps = [step.pk for step in assignment.item.session.steps()]
    with transaction.atomic():
        windows = [Window(assignment), Window(assignment)]
        begin = now = windows[0].parts
        new, alive = (f"new{number}" for number in count()), words_of(begin)
        for who, place, what, where, twice in actions:
            window, word = windows[who], next(new)
            row = None if what == "look" else window.edit(place, what, where, word, steps)
            if row is None:
                window.look()
                continue
            row = {"op_id": str(uuid4())} | row
            before, saved = now, window.send(row)
            status, now = saved.results[0]["status"], saved.desk.ordered()
            if status == "conflict":
                assert now == before, "a conflict changes nothing"
                known = {p["step"]: p for p in before}.get(row["step"])
                theirs = saved.results[0]["theirs"]
                assert theirs == (known and known.get(row.get("field") or row["kind"], theirs))
            else:
                assert status in ("applied", "merged")
                alive -= words_of(row["before"]) - words_of(row["after"])
                alive |= words_of(row["after"]) - words_of(row["before"])
            assert alive <= words_of(now), "what somebody wrote and nobody took away is there"
            check_order(now, steps)
            if twice:
                again = window.send(row)
                assert again.results[0]["status"] == ("conflict" if status == "conflict" else "repeated")
                assert again.desk.ordered() == now
        while (saved := windows[0].step_back(saving.undo)).results:
            assert saved.results[0]["status"] == "applied"
            check_order(saved.desk.ordered(), steps)
        assert Window(assignment).parts == begin
        while windows[1].step_back(saving.redo).results:
            pass
        assert Window(assignment).parts == now
        versions = list(Edit.objects.filter(assignment=assignment).values_list("version", flat=True))
        assert versions == list(range(1, len(versions) + 1)) == list(range(1, windows[0].locked().version + 1))
        transaction.set_rollback(True)


def check_order(parts: list[dict], steps: list[int]) -> None:
    """The first part begins at the first step, the others where later ones begin: all steps are covered, once."""
    places = [steps.index(part["step"]) for part in parts]
    assert places[0] == 0
    assert places == sorted(set(places))


def test_undo_goes_over_what_somebody_else_has_written(assignment: Assignment):
    first = assignment.item.session.steps().first().pk
    window = Window(assignment)
    said = " ".join(WORDS)
    window.send(text(first, said, said.replace("red", "blue")))
    Assignment.objects.update(lease_until=None)
    other = factories.make_user("annotator", assignment.item.session.campaign.project)
    taken = Window(assignment.take(other))
    taken.send(text(first, said.replace("red", "blue"), said.replace("red", "blue").replace("price", "date")))
    assert taken.step_back(saving.undo).results[0]["after"] == said.replace("red", "blue")
    assert taken.step_back(saving.undo).results == [], "the edits of others are not undone"
    with pytest.raises(NotYours, match="taken this over"):
        window.step_back(saving.undo)


def test_an_undo_that_would_overwrite_later_words_is_a_conflict(assignment: Assignment):
    first = assignment.item.session.steps().first().pk
    said = " ".join(WORDS)
    Window(assignment).send(text(first, said, said.replace("red", "blue")))
    author = assignment.user
    other = factories.make_user("annotator", assignment.item.session.campaign.project)
    for user, change in ((other, ("blue", "green")), (author, None)):
        Assignment.objects.filter(pk=assignment.pk).update(lease_until=None)
        assignment = Assignment.objects.get(pk=assignment.pk).take(user)
        if change:
            now = Window(assignment).parts[0]["rewrite"]
            Window(assignment).send(text(first, now, now.replace(*change)))
    result = Window(assignment).step_back(saving.undo).results[0]
    assert (result["status"], result["theirs"]) == ("conflict", said.replace("red", "green"))
    assert Window(assignment).parts[0]["rewrite"] == said.replace("red", "green")


def test_mentions_move_with_their_words_and_come_back_with_them(assignment: Assignment):
    first = assignment.item.session.steps().first().pk
    said = " ".join(WORDS)
    window = Window(assignment)
    mark = {"id": "m", "phenomenon": "pronoun", "start": said.index("them"), "end": said.index("them") + 4}
    row = {"op_id": str(uuid4()), "kind": "mentions", "step": first, "before": [], "after": [mark]}
    window.send(row)
    window.send(text(first, said, f"please {said}"))
    found = Window(assignment).parts[0]["mentions"][0]
    assert (found["start"], found["text"], found["antecedent"]) == (mark["start"] + 7, "them", None)
    window.send(text(first, f"please {said}", ""))
    window.step_back(saving.undo)
    assert Window(assignment).parts[0]["mentions"] == [found]
    window.step_back(saving.undo)
    assert Window(assignment).parts[0]["mentions"][0]["start"] == mark["start"]


def test_an_undo_can_be_redone_until_something_else_is_edited():
    assert stacks([(1, None), (2, None)]) == ([1, 2], [])
    assert stacks([(1, None), (2, None), (3, 2)]) == ([1], [3])
    assert stacks([(1, None), (2, None), (3, 2), (4, 1)]) == ([], [3, 4])
    assert stacks([(1, None), (2, None), (3, 2), (4, 3)]) == ([1, 4], []), "a redo can be undone again"
    assert stacks([(1, None), (2, 1), (3, None)]) == ([3], [])


def test_what_was_accepted_together_is_one_portion_of_the_stack():
    rows = [(1, None, 7), (2, None, 7), (3, None, None), (4, None, None), (5, None, 7), (6, None, 8), (7, 6, None)]
    came_of = origins([*rows, (8, 7, None)])
    assert came_of == {1: 7, 2: 7, 3: None, 4: None, 5: 7, 6: 8, 7: 8, 8: 8}
    assert together([1, 2, 3, 4, 5, 6], came_of) == [[1, 2], [3], [4], [5], [6]]
    assert together([1, 2, 5, 8], came_of) == [[1, 2, 5], [8]]
    assert together([], came_of) == []


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_saves_at_the_same_time_lose_no_word():
    assignment = leased()
    steps = [step.pk for step in assignment.item.session.steps()]
    start, sent, conflicts = threading.Barrier(2), 12, []

    def work(who: int) -> None:
        window = Window(assignment)
        start.wait()
        try:
            for number in range(sent):
                said = window.parts[0]["rewrite"]
                row = text(steps[0], said, f"w{who}x{number} {said}" if who else f"{said} w{who}x{number}")
                while (result := window.send(row).results[0])["status"] == "conflict":
                    conflicts.append(result)
                    theirs = result["theirs"]
                    row = text(steps[0], theirs, f"{theirs} w{who}x{number}")
                if number % 3 == 0:
                    window.look()
                else:
                    window.parts[0]["rewrite"] = result["after"] if number % 2 else row["after"]
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, range(2)))
    said = Window(assignment).parts[0]["rewrite"].split()
    for who in range(2):
        for number in range(sent):
            assert said.count(f"w{who}x{number}") == 1
    versions = list(Edit.objects.filter(assignment=assignment).values_list("version", flat=True))
    assert versions == list(range(1, 2 * sent + 1))

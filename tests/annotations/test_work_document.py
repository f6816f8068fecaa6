"""The document of an annotation over HTTP: what the browser reads, who may read and write, and what a save costs."""

import uuid
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotations.desk.write import page_titles
from annotations.models import Assignment, Part, Proposal, Session, Step
from tests import factories

pytestmark = pytest.mark.django_db


class Browser:
    """A signed-in client of one annotation, which sends what the page would."""

    def __init__(self, assignment: Assignment, user=None) -> None:
        self.client = Client()
        self.user = user or assignment.user
        self.client.force_login(self.user)
        self.path = f"/annotate/assignments/{assignment.pk}/"
        self.version, self.token = 0, None

    def get(self, name: str = "document/", status: int = 200, **headers: Any) -> Any:
        response = self.client.get(self.path + name, headers=headers)
        assert response.status_code == status, response.content
        return response.json() if status == 200 else response

    def post(self, name: str, body: dict | None = None, status: int = 200) -> dict:
        response = self.client.post(self.path + name, body or {}, content_type="application/json")
        assert response.status_code == status, response.content
        return response.json() if "json" in response["Content-Type"] else {}

    def take(self) -> "Browser":
        self.token = self.post("take/")["token"]
        return self

    def edit(self, *edits: dict, status: int = 200) -> dict:
        edits = [{"op_id": str(uuid.uuid4())} | edit for edit in edits]
        return self._seen(self.post("edits/", self._body() | {"edits": edits}, status))

    def undo(self, name: str = "undo/") -> dict:
        return self._seen(self.post(name, self._body()))

    def _body(self) -> dict:
        return {"base": self.version, "token": self.token}

    def _seen(self, said: dict) -> dict:
        self.version = said.get("version", self.version)
        return said


@pytest.fixture
def assignment() -> Assignment:
    session = factories.make_session(tasks=2, steps=3)
    return factories.make_assignment(factories.make_item(session, stage="decompose"))


@pytest.fixture
def browser(assignment: Assignment) -> Browser:
    return Browser(assignment).take()


def text(step: int, before: str, after: str, field: str = "instruction") -> dict:
    return {"kind": "text", "step": step, "field": field, "before": before, "after": after}


def cut(step: int, instruction: str = "") -> dict:
    return {"kind": "cut", "step": step, "before": None, "after": {"instruction": instruction, "rewrite": ""}}


def steps_of(assignment: Assignment) -> list[int]:
    return [step.pk for step in assignment.item.session.steps()]


def member(assignment: Assignment, role: str):
    return factories.make_user(role, assignment.item.session.campaign.project)


def test_the_document_holds_steps_tasks_and_parts_in_order(assignment: Assignment, browser: Browser):
    document = browser.get()
    ids = steps_of(assignment)
    assert [step["id"] for step in document["steps"]] == ids
    assert [step["index"] for step in document["steps"]] == list(range(6))
    assert [step["task"] for step in document["steps"]] == [0, 0, 0, 1, 1, 1]
    assert [task["first_step"] for task in document["tasks"]] == [ids[0], ids[3]]
    assert document["tasks"][0]["instruction"] == "Please do part 1 of the task."
    assert document["parts"] == [{"step": ids[0], "instruction": "", "rewrite": "", "mentions": []}]
    assert document["target_parts"] == 2
    assert document["steps"][0] | {"frame": None} == {
        "id": ids[0],
        "index": 0,
        "task": 0,
        "operation": "TYPE",
        "value": "red shoes",
        "action_repr": "[input]  Search -> TYPE: red shoes",
        "gold": ["5"],
        "frame": None,
        "tree_url": f"{browser.path}steps/{ids[0]}/tree/",
        "frame_url": f"{browser.path}steps/{ids[0]}/frame/",
    }
    assert (document["writable"], document["token"], document["stage"]) == (True, browser.token, "decompose")


@pytest.mark.slow
def test_a_long_session_costs_no_more_queries_than_a_short_one(django_assert_max_num_queries):
    def queries(steps: int) -> int:
        assignment = factories.make_assignment(factories.make_item(factories.make_session(steps=steps)))
        browser = Browser(assignment)
        with django_assert_max_num_queries(16) as counted:
            browser.get()
        return len(counted)

    assert queries(2) == queries(9)


def test_the_frame_of_a_step_is_shown_and_made_anew(assignment: Assignment, browser: Browser):
    frame = browser.get()["steps"][0]["frame"]
    assert browser.get(f"steps/{steps_of(assignment)[0]}/frame/")["frame"].keys() == frame.keys()
    assert browser.client.get(frame["url"].partition("#")[0]).status_code == 200
    other = factories.make_session()
    browser.get(f"steps/{other.steps().first().pk}/frame/", status=404)


@pytest.mark.slow
def test_in_blind_mode_only_reviewers_and_admins_see_the_work_of_others(assignment: Assignment):
    for role, status in (("reviewer", 200), ("admin", 200), ("annotator", 404), ("reader", 404)):
        Browser(assignment, member(assignment, role)).get(status=status)
    assignment.item.session.campaign.blind = False
    assignment.item.session.campaign.save()
    seen = Browser(assignment, member(assignment, "annotator")).get()
    assert (seen["writable"], seen["token"]) == (False, None)
    assert seen["why_not"] == f"This is the work of {assignment.user.get_username()}."
    Browser(assignment, factories.make_user("admin")).get(status=404)


def test_steps_of_a_test_split_need_the_right_to_see_test_gold():
    session = factories.make_session(split="test_task")
    assignment = factories.make_assignment(factories.make_item(session))
    browser = Browser(assignment)
    for name in ("document/", f"steps/{session.steps().first().pk}/tree/", "history/"):
        browser.get(name, status=403)
    browser.post("take/", status=403)
    assignment.user.memberships.update(sees_test_gold=True)
    assert len(browser.get()["steps"]) == 6


def test_work_in_the_bin_does_not_exist(assignment: Assignment, browser: Browser):
    assignment.item.session.deleted_at = timezone.now()
    assignment.item.session.save()
    browser.get(status=404)
    browser.post("take/", status=404)
    browser.edit(text(steps_of(assignment)[0], "", "x"), status=404)


def test_proposals_that_are_not_decided_come_with_the_document(assignment: Assignment, browser: Browser):
    campaign = assignment.item.session.campaign
    row = Proposal.objects.create(
        campaign=campaign,
        session=assignment.item.session,
        assignment=assignment,
        kind="cuts",
        model_name="m",
        content={"cuts": []},
    )
    assert browser.get()["proposals"] == [
        {"id": row.pk, "kind": "cuts", "model": "m", "content": {"cuts": []}, "outcome": ""}
    ]


def test_edits_are_saved_once_and_say_what_became_of_them(assignment: Assignment, browser: Browser):
    first, _, third, *_ = steps_of(assignment)
    edit = {"op_id": str(uuid.uuid4())} | text(first, "", "Find shoes")
    said = browser.edit(edit, cut(third, "Sort them"))
    assert [row["status"] for row in said["results"]] == ["applied", "applied"]
    assert [part["step"] for part in said["parts"]] == [first, third]
    assert (said["version"], said["undo"], said["redo"], said["others"]) == (2, True, False, [])
    again = browser.edit(edit)
    assert [(row["status"], row["after"]) for row in again["results"]] == [("repeated", "Find shoes")]
    assert (again["version"], again["others"]) == (2, [])
    assert browser.get()["parts"] == again["parts"]


def test_two_windows_of_one_person_merge_or_hear_of_a_conflict(assignment: Assignment, browser: Browser):
    first = steps_of(assignment)[0]
    browser.edit(text(first, "", "find red shoes"))
    other = Browser(assignment)
    other.token, other.version = other.get()["token"], browser.version
    browser.edit(text(first, "find red shoes", "find blue shoes"))
    said = other.edit(text(first, "find red shoes", "find red shoes in Boston"))
    assert (said["results"][0]["status"], said["results"][0]["after"]) == ("merged", "find blue shoes in Boston")
    assert [(edit["before"], edit["after"]) for edit in said["others"]] == [("find red shoes", "find blue shoes")]
    said = browser.edit(text(first, "find blue shoes", "find green shoes"))  # does not touch what the other wrote
    assert said["results"][0]["after"] == "find green shoes in Boston"
    said = other.edit(text(first, "find blue shoes in Boston", "find black shoes in Boston"))
    conflict = said["results"][0]
    assert (conflict["status"], conflict["theirs"]) == ("conflict", "find green shoes in Boston")
    assert said["parts"][0]["instruction"] == "find green shoes in Boston"
    said = other.edit(text(first, conflict["theirs"], "find black shoes in Boston"))  # the person's choice
    assert said["results"][0]["status"] == "applied"


def test_an_edit_of_a_part_that_was_joined_away_is_a_conflict(assignment: Assignment, browser: Browser):
    first, _, third, *_ = steps_of(assignment)
    browser.edit(cut(third, "Sort"))
    browser.edit({"kind": "join", "step": third, "before": {"instruction": "Sort", "rewrite": ""}, "after": None})
    said = browser.edit(text(third, "Sort", "Sort them"))
    assert (said["results"][0]["status"], said["results"][0]["theirs"]) == ("conflict", None)
    assert [part["step"] for part in said["parts"]] == [first]


def test_joining_a_part_that_somebody_has_changed_is_a_conflict(assignment: Assignment, browser: Browser):
    third = steps_of(assignment)[2]
    browser.edit(cut(third, "Sort"))
    browser.edit(text(third, "Sort", "Sort by price"))
    said = browser.edit({"kind": "join", "step": third, "before": {"instruction": "Sort", "rewrite": ""}})
    assert said["results"][0]["status"] == "conflict"
    assert said["results"][0]["theirs"]["instruction"] == "Sort by price"
    assert len(said["parts"]) == 2


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"kind": "paint"}, "kind"),
        ({"op_id": "1"}, "UUID"),
        ({"step": 0}, "none of this session"),
        ({"field": "colour"}, "field"),
        ({"after": None}, "characters"),
        ({"after": "x" * 10_001}, "characters"),
        ({"after": "\ud800"}, "half of a character"),
        ({"proposal": 4711}, "proposal"),
        ({"kind": "mentions", "after": [{"id": "a"}]}, "phenomenon"),
    ],
)
def test_edits_that_make_no_sense_are_refused_as_a_whole(assignment: Assignment, browser: Browser, change, why):
    first = steps_of(assignment)[0]
    good = text(first, "", "Find shoes")
    assert why in browser.edit(good, good | change, status=400)["error"]
    assert browser.get()["version"] == 0


def test_the_first_part_cannot_be_joined(assignment: Assignment, browser: Browser):
    first = steps_of(assignment)[0]
    browser.edit({"kind": "join", "step": first, "before": {"instruction": "", "rewrite": ""}}, status=400)
    assert Part.objects.get(assignment=assignment).first_step_id == first


def test_every_answer_holds_the_warnings_of_the_texts_as_they_are():
    session = factories.make_session(tasks=1, steps=2)
    assignment = factories.make_assignment(factories.make_item(session, stage="rewrite"))
    assignment.parts.update(instruction="Search for red shoes", rewrite="Search for red shoes")
    browser = Browser(assignment).take()
    step = steps_of(assignment)[0]
    assert browser.get()["warnings"] == []
    said = browser.edit(text(step, "Search for red shoes", "Search for it", "rewrite"))
    lost, unmarked = said["warnings"]
    assert (lost["step"], lost["field"], lost["code"], lost["span"]) == (step, "instruction", "value-lost", [11, 20])
    assert "“red shoes” is entered in these steps" in lost["text"]
    assert (unmarked["code"], unmarked["span"]) == ("no-antecedent", [11, 13])
    assert browser.get()["warnings"] == said["warnings"]
    assert browser.undo()["warnings"] == []


def test_a_decomposition_is_warned_of_values_that_nobody_asked_for(assignment: Assignment, browser: Browser):
    first = steps_of(assignment)[0]
    assignment.item.session.tasks.first().conversation.turns.update(instruction="Search for red shoes")
    assert browser.edit(text(first, "", "Search"))["warnings"][0]["code"] == "value-lost"
    assert browser.edit(text(first, "Search", "Search for red shoes"))["warnings"] == []


@pytest.mark.slow
def test_only_the_one_who_does_the_item_writes(assignment: Assignment, browser: Browser):
    edit = text(steps_of(assignment)[0], "", "x")
    for role, status in (("admin", 403), ("reviewer", 403), ("annotator", 404), ("reader", 404)):
        stranger = Browser(assignment, member(assignment, role))
        stranger.token = browser.token
        stranger.edit(edit, status=status)
        stranger.post("undo/", {"base": 0, "token": browser.token}, status=status)
        stranger.post("submit/", {"base": 0, "token": browser.token}, status=status)
        stranger.post("give-back/", {"token": browser.token}, status=status)
    Browser(assignment, factories.make_user("admin")).edit(edit, status=404)
    assert browser.get()["version"] == 0


def test_without_the_lease_nothing_is_written(assignment: Assignment, browser: Browser):
    edit = text(steps_of(assignment)[0], "", "x")
    Assignment.objects.update(lease_token=uuid.uuid4())
    said = browser.edit(edit, status=409)
    assert (said["code"], said["holder"]) == ("lease_lost", assignment.user.get_username())
    assert browser.take().edit(edit)["version"] == 1
    browser.token = None
    assert browser.edit(edit, status=409)["code"] == "lease_lost"


def test_a_lease_that_ran_out_is_good_until_somebody_takes_the_work_over(assignment: Assignment, browser: Browser):
    first = steps_of(assignment)[0]
    Assignment.objects.update(lease_until=timezone.now() - Assignment.LEASE)
    browser.edit(text(first, "", "mine"))
    other = Browser(assignment, member(assignment, "annotator")).take()
    assert other.token not in (None, browser.token)
    said = browser.edit(text(first, "mine", "mine too"), status=409)
    assert (said["code"], said["holder"]) == ("taken_over", other.user.get_username())
    assert other.get()["parts"][0]["instruction"] == "mine", "what was saved goes on with the work"


@pytest.mark.slow
def test_what_is_submitted_is_not_edited(assignment: Assignment, browser: Browser):
    first = steps_of(assignment)[0]
    problems = browser.post("submit/", {"base": 0, "token": browser.token}, status=422)["problems"]
    assert problems == ["Part 1, from step 1, has no instruction."]
    browser.edit(text(first, "", "Find shoes"))
    assert browser.post("submit/", {"base": 0, "token": browser.token}, status=409)["code"] == "stale"
    browser.post("submit/", {"base": browser.version, "token": browser.token})
    assert Assignment.objects.get(pk=assignment.pk).state == "submitted"
    assert browser.edit(text(first, "Find shoes", "x"), status=409)["code"] == "submitted"
    assert browser.post("take/", status=409)["code"] == "refused"
    assert (browser.get()["writable"], browser.get()["why_not"]) == (False, "It has been submitted.")


def test_what_is_submitted_has_its_mentions_where_their_words_are():
    assignment = factories.make_assignment(factories.make_item(stage="rewrite"))
    assignment.parts.update(rewrite="Sort them")
    browser, step = Browser(assignment).take(), steps_of(assignment)[0]
    mark = {"id": "m", "phenomenon": "pronoun", "start": 5, "end": 9, "antecedent": None}
    browser.edit({"kind": "mentions", "step": step, "before": [], "after": [mark]})
    browser.edit(text(step, "Sort them", "Please sort them", "rewrite"))
    browser.post("submit/", {"base": browser.version, "token": browser.token})
    (mention,) = Part.objects.get(assignment=assignment).mentions
    assert (mention["start"], mention["end"], mention["text"]) == (12, 16, "them")


@pytest.mark.slow
def test_a_heartbeat_holds_the_lease_and_giving_back_ends_it(assignment: Assignment, browser: Browser):
    before = browser.get()["lease_until"]
    Assignment.objects.update(lease_until=timezone.now())
    assert browser.post("lease/", {"token": browser.token})["held"] is True
    assert browser.get()["lease_until"] >= before
    assert browser.post("lease/", {"token": str(uuid.uuid4())})["held"] is False
    browser.post("give-back/", {"token": browser.token})
    assert browser.post("lease/", {"token": browser.token})["held"] is False
    assert browser.edit(text(steps_of(assignment)[0], "", "x"), status=409)["code"] == "lease_lost"


@pytest.mark.parametrize(("lost", "status"), [("role", 403), ("membership", 404), ("gold", 403)])
def test_a_heartbeat_of_who_may_write_no_longer_keeps_nothing(assignment: Assignment, browser: Browser, lost, status):
    """Nothing could be saved either; after the lease the work is anybody's."""
    rows = browser.user.memberships
    if lost == "role":
        rows.update(role="reader")
    elif lost == "membership":
        rows.all().delete()
    else:
        Session.objects.update(split="test_task")
    until = timezone.now()
    Assignment.objects.update(lease_until=until)
    browser.post("lease/", {"token": browser.token}, status=status)
    assert Assignment.objects.get().lease_until == until


def test_without_a_session_the_browser_is_told_so_in_json(assignment: Assignment, browser: Browser):
    browser.client.logout()
    assert browser.get(status=401).json()["code"] == "signed_out"
    assert browser.edit(text(steps_of(assignment)[0], "", "x"), status=401)["code"] == "signed_out"


@pytest.mark.slow
def test_the_token_in_the_document_lets_a_page_go_on_after_signing_in_again(assignment: Assignment, browser: Browser):
    browser.client = Client(enforce_csrf_checks=True)
    browser.client.force_login(browser.user)
    body = {"base": 0, "token": browser.token, "edits": [cut(steps_of(assignment)[1]) | {"op_id": str(uuid.uuid4())}]}

    def status(token: str) -> int:
        sent = {"content_type": "application/json", "headers": {"X-CSRFToken": token}}
        return browser.client.post(f"{browser.path}edits/", body, **sent).status_code

    former = browser.get()["csrf"]
    assert status(former) == 200
    assert status("x" * 64) == 403
    browser.client.cookies.pop("csrftoken")  # what signing in does: another secret
    token = browser.get()["csrf"]
    assert (status(former), status(token)) == (403, 200)


def test_a_save_costs_few_queries(assignment: Assignment, browser: Browser, django_assert_num_queries):
    first = steps_of(assignment)[0]
    browser.edit(text(first, "", "Find shoes"))
    # Session, user, the savepoint's two, then: lock, steps, parts, log, edit, part, version.
    with django_assert_num_queries(11):
        browser.edit(text(first, "Find shoes", "Find red shoes"))


def test_the_pages_are_named_and_opened_once_for_it(assignment: Assignment, browser: Browser, monkeypatch):
    first, second, third, *_ = steps_of(assignment)
    title = "<title><text>{}</text></title>"
    Step.objects.filter(pk=first).update(snapshot=factories.make_snapshot(f"<html>{title.format('A &amp; B')}</html>"))
    Step.objects.filter(pk=second).update(
        snapshot=factories.make_snapshot("<html><p/></html>"),
        raw_snapshot=factories.make_snapshot(f"<html backend_node_id='1'>{title.format(' Find  shoes ')}</html>"),
    )
    Step.objects.filter(pk=third).update(snapshot=None)
    titles = browser.get("titles/")["titles"]
    assert titles == ["A & B", "Find shoes", "", *titles[3:]]
    assert len(titles) == len(steps_of(assignment))
    monkeypatch.setattr(page_titles, "title_of", lambda html: pytest.fail("opened again"))
    assert browser.get("titles/")["titles"] == titles


@pytest.mark.slow
def test_undo_and_redo_survive_a_reload_and_stand_in_the_history(assignment: Assignment, browser: Browser):
    first, _, third, *_ = steps_of(assignment)
    begin = browser.get()["parts"]
    browser.edit(text(first, "", "Find shoes"), cut(third, "Sort them"))
    changed = browser.get()["parts"]
    again = Browser(assignment).take()
    again.version = again.get()["version"]
    again.undo()
    assert again.undo()["parts"] == begin
    assert again.undo()["results"] == []
    again.undo("redo/")
    said = again.undo("redo/")
    assert (said["parts"], said["undo"], said["redo"]) == (changed, True, False)
    history = browser.get("history/")["edits"]
    assert [edit["undoes"] for edit in history] == [True, True, True, True, False, False]
    assert {edit["who"] for edit in history} == {assignment.user.get_username()}


def test_an_undo_that_is_sent_twice_is_made_once(assignment: Assignment, browser: Browser):
    first = steps_of(assignment)[0]
    browser.edit(text(first, "", "a"))
    browser.edit(text(first, "a", "a b"))
    body = {"base": browser.version, "token": browser.token, "op_id": str(uuid.uuid4())}
    for _ in range(2):
        assert browser.post("undo/", body)["parts"][0]["instruction"] == "a"


def test_the_tree_of_a_page_is_one_array_that_browsers_keep(assignment: Assignment, browser: Browser):
    step = assignment.item.session.steps().first()
    response = browser.client.get(f"{browser.path}steps/{step.pk}/tree/")
    rows = response.json()["nodes"]
    assert rows[:5] == [
        [0, "1", "html", "", False, False],
        [1, "2", "body", "", False, False],
        [2, "3", "h1", f"{step.turn.conversation.source_id}, turn 0, step 0", False, False],
        [2, "4", "form", "", False, False],
        [3, "5", "input", "text query Search", True, True],
    ]
    assert len(rows) == 14
    assert "private" in response["Cache-Control"]
    again = browser.client.get(response.wsgi_request.path, headers={"If-None-Match": response["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    packed = browser.client.get(response.wsgi_request.path, headers={"Accept-Encoding": "gzip"})
    assert packed["Content-Encoding"] == "gzip"
    Browser(assignment, member(assignment, "annotator")).get(f"steps/{step.pk}/tree/", status=404)

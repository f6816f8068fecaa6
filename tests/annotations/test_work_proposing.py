"""Proposals: how they are made of a session, what became of them at submit, and the pass rates of models."""

import socket
import time
import uuid
from collections.abc import Iterator

import pytest
from rest_framework.test import APIClient

from annotations.campaigns.propose import proposing
from annotations.campaigns.propose.proposing import edit_distance
from annotations.models import Assignment, Edit, Job, Proposal, Worker
from annotations.text.garbled import garbled
from tests import factories
from tests.annotations.test_work_document import Browser, cut, member, text

pytestmark = pytest.mark.django_db
SHOES, HOTEL = "Search for red shoes in size nine.", "Book a hotel room in Oslo for two."


def make_work(stage: str = "decompose", *, tasks: int = 1, steps: int = 6, proposer: str = "embedded") -> Assignment:
    campaign = factories.make_campaign(proposer=proposer, steps_per_part=3)
    session = factories.make_session(campaign, tasks=tasks, steps=steps)
    for task in session.tasks.all():
        task.conversation.turns.update(instruction="Search for red shoes by price, then sort the second list by price")
    assignment = factories.make_assignment(factories.make_item(session, stage=stage))
    assignment.parts.all().delete()
    return assignment


@pytest.fixture
def assignment() -> Assignment:
    assignment = make_work()
    assignment.begin()
    return assignment


@pytest.fixture
def browser(assignment: Assignment) -> Browser:
    return Browser(assignment).take()


def accept(browser: Browser, proposal: dict) -> None:
    """All edits that make the document as proposed."""
    parts = {part["step"]: part for part in browser.get()["parts"]}
    rows = []
    for part in proposal["content"]["parts"]:
        now = parts.get(part["step"], {"instruction": "", "rewrite": "", "mentions": []})
        if part["step"] not in parts:
            rows.append(cut(part["step"]))
        for field in ("instruction", "rewrite"):
            if part.get(field):
                rows.append(text(part["step"], now[field], part[field], field))
        if part.get("mentions"):
            rows.append({"kind": "mentions", "step": part["step"], "before": [], "after": part["mentions"]})
    browser.edit(*(row | {"proposal": proposal["id"]} for row in rows))


def outcome(proposal: dict) -> tuple[str, float | None]:
    row = Proposal.objects.get(pk=proposal["id"])
    assert (row.decided_at is None) == (row.outcome == "")
    return row.outcome, row.distance


def hand_in(browser: Browser) -> None:
    for part in browser.get()["parts"]:
        if not part["instruction"]:
            browser.edit(text(part["step"], "", "Go on"))
    browser.post("submit/", {"base": browser.version, "token": browser.token})


def test_cuts_are_proposed_from_the_recorded_pages_and_texts(assignment: Assignment, browser: Browser):
    steps = [step.pk for step in assignment.item.session.steps()]
    proposal = browser.post("propose/", {"kind": "cuts"})["proposal"]
    assert (proposal["kind"], proposal["model"], proposal["outcome"]) == ("cuts", "pages and forms 3", "")
    assert [part["step"] for part in proposal["content"]["parts"]] == [steps[0], steps[3]]
    assert proposal["content"]["parts"][1]["why"]
    assert [part["instruction"] for part in proposal["content"]["parts"]] == [
        "Search for red shoes by price",
        "Sort the second list by price",
    ]
    assert browser.get()["proposals"] == [proposal]
    assert len(browser.get()["parts"]) == 1, "a proposal changes nothing by itself"


@pytest.mark.slow
def test_what_is_accepted_and_handed_in_as_it_is_counts_as_unchanged(browser: Browser):
    proposal = browser.post("propose/", {"kind": "cuts"})["proposal"]
    accept(browser, proposal)
    assert outcome(proposal) == ("", None)
    hand_in(browser)
    assert outcome(proposal) == ("unchanged", 0)


@pytest.mark.slow
def test_what_is_accepted_and_changed_counts_as_edited_with_its_distance(browser: Browser):
    proposal = browser.post("propose/", {"kind": "cuts"})["proposal"]
    accept(browser, proposal)
    first = browser.get()["parts"][0]
    browser.edit(text(first["step"], first["instruction"], "Search for blue shoes by price"))
    hand_in(browser)
    said, distance = outcome(proposal)
    assert said == "edited"
    assert distance == pytest.approx(0.5 * (1 / 11) / 2)  # one of eleven tokens of one of two texts; cuts count half


@pytest.mark.slow
def test_what_is_not_accepted_or_taken_back_counts_as_rejected(browser: Browser):
    proposal = browser.post("propose/", {"kind": "cuts"})["proposal"]
    accept(browser, proposal)
    while browser.undo()["results"]:
        pass
    hand_in(browser)
    said, distance = outcome(proposal)
    assert (said, distance > 0.5) == ("rejected", True)


def test_what_was_accepted_is_undone_and_redone_in_one_press(browser: Browser):
    proposal = browser.post("propose/", {"kind": "cuts"})["proposal"]
    first = browser.get()["parts"][0]
    browser.edit(text(first["step"], first["instruction"], "Mine"))
    before = browser.get()["parts"]
    accept(browser, proposal)
    accepted = browser.get()["parts"]
    assert len(accepted) == 2
    browser.edit(text(first["step"], accepted[0]["instruction"], "Mine again"))
    assert browser.undo()["parts"] == accepted, "an edit of one's own is a press of its own"
    undone = browser.undo()
    assert (undone["parts"], undone["undo"], undone["redo"]) == (before, True, True)
    assert browser.undo("redo/")["parts"] == accepted
    assert browser.undo()["parts"] == before, "what was redone goes as a whole, too"
    assert browser.undo()["parts"] == [first], "and what was there before it stays a press of its own"
    assert browser.undo()["results"] == []
    assert browser.undo("redo/")["parts"] == before
    assert browser.undo("redo/")["parts"] == accepted


def test_an_undo_of_a_proposal_that_is_sent_twice_is_made_once(browser: Browser):
    first = browser.get()["parts"][0]
    browser.edit(text(first["step"], first["instruction"], "Mine"))
    accept(browser, browser.post("propose/", {"kind": "cuts"})["proposal"])
    body = {"base": browser.version, "token": browser.token, "op_id": str(uuid.uuid4())}
    once = browser.post("undo/", body)
    assert len(once["results"]) == 3
    again = browser.post("undo/", body)
    assert (again["results"], again["parts"]) == ([], once["parts"])
    assert once["parts"][0]["instruction"] == "Mine"


def test_undoing_a_proposal_leaves_what_others_wrote_since(assignment: Assignment, browser: Browser):
    accept(browser, browser.post("propose/", {"kind": "cuts"})["proposal"])
    accepted = browser.get()["parts"]
    other = factories.make_user("annotator", assignment.item.session.campaign.project)
    Assignment.objects.filter(pk=assignment.pk).update(user=other)  # somebody goes on with it
    second = accepted[1]
    Browser(Assignment.objects.get(pk=assignment.pk)).take().edit(text(second["step"], second["instruction"], "Other"))
    Assignment.objects.filter(pk=assignment.pk).update(user=assignment.user)
    browser.take()
    browser.version = browser.get()["version"]
    said = browser.undo()
    assert "conflict" in {result["status"] for result in said["results"]}
    assert said["parts"][1]["instruction"] == "Other"
    assert said["parts"][0]["instruction"].endswith("then sort the second list by price")


@pytest.mark.slow
def test_a_redone_acceptance_counts_again(browser: Browser):
    proposal = browser.post("propose/", {"kind": "cuts"})["proposal"]
    accept(browser, proposal)
    browser.undo()
    browser.undo("redo/")
    first = browser.get()["parts"][0]
    browser.edit(text(first["step"], first["instruction"], "Something else"))
    hand_in(browser)
    assert outcome(proposal)[0] == "edited"


@pytest.mark.slow
def test_rewrites_are_proposed_with_their_marks():
    decomposed = make_work(steps=6)
    steps = [step.pk for step in decomposed.item.session.steps()]
    assignment = factories.make_assignment(factories.make_item(decomposed.item.session, stage="rewrite"))
    assignment.parts.update(instruction="Search for red shoes", rewrite="Search for red shoes")
    said = "Sort the red shoes by price"
    assignment.parts.create(first_step_id=steps[3], instruction=said, rewrite=said)
    browser = Browser(assignment).take()
    proposal = browser.post("propose/", {"kind": "rewrite"})["proposal"]
    assert [(part["step"], part["rewrite"]) for part in proposal["content"]["parts"]] == [
        (steps[3], "Sort them by price")
    ]
    accept(browser, proposal)
    document = browser.get()
    assert document["parts"][1]["mentions"] == proposal["content"]["parts"][0]["mentions"]
    assert document["warnings"] == []
    hand_in(browser)
    assert outcome(proposal) == ("unchanged", 0)


@pytest.mark.slow
def test_a_new_proposal_takes_the_place_of_one_that_nobody_used(assignment: Assignment, browser: Browser):
    first = browser.post("propose/", {"kind": "cuts"})["proposal"]
    second = browser.post("propose/", {"kind": "cuts"})["proposal"]
    assert [row["id"] for row in browser.get()["proposals"]] == [second["id"]]
    assert not Proposal.objects.filter(pk=first["id"]).exists()
    accept(browser, second)
    browser.post("propose/", {"kind": "cuts"})
    assert assignment.proposals.count() == 2


@pytest.mark.slow
def test_why_nothing_is_proposed_is_said(assignment: Assignment, browser: Browser):
    assert "no rewrite are proposed" in browser.post("propose/", {"kind": "rewrite"}, status=422)["error"]
    assert "cuts or rewrite" in browser.post("propose/", {"kind": "sessions"}, status=422)["error"]
    assignment.item.session.campaign.proposer = ""
    assignment.item.session.campaign.save()
    assert "without proposals" in browser.post("propose/", {"kind": "cuts"}, status=422)["error"]
    for role, status in (("admin", 403), ("reviewer", 403), ("annotator", 404), ("reader", 404)):
        Browser(assignment, member(assignment, role)).post("propose/", {"kind": "cuts"}, status=status)


@pytest.fixture
def listening(db, monkeypatch) -> Iterator[None]:
    """Something that takes connections where the model is said to be, and a worker that would ask it."""
    Worker.objects.tell("one", name="gpu@one", host="one", hostname="one", queues=["gpu"])
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("LLM_BASE_URL", f"http://127.0.0.1:{server.getsockname()[1]}/v1")
        monkeypatch.setenv("LLM_MODEL", "test")
        yield


def test_an_endpoint_that_does_not_answer_is_told_within_a_second(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("LLM_BASE_URL", f"http://127.0.0.1:{server.getsockname()[1]}/v1")
    monkeypatch.setenv("LLM_MODEL", "test")
    assignment = make_work(proposer="endpoint")
    assignment.begin()
    browser = Browser(assignment).take()
    begun = time.monotonic()
    told = browser.post("propose/", {"kind": "cuts"}, status=422)["error"]
    assert time.monotonic() - begun < 1
    assert "cannot be reached (connection refused)" in told
    assert "let the campaign propose by rules" in told
    assert not Job.objects.exists()


@pytest.mark.usefixtures("listening")
def test_why_a_job_made_no_proposal_is_told():
    assignment = make_work(proposer="endpoint")
    assignment.begin()
    browser = Browser(assignment).take()
    job = Job.objects.get(pk=browser.post("propose/", {"kind": "cuts"}, status=202)["job"])
    assert browser.post("propose/", {"job": job.pk})["error"] == ""
    Job.objects.filter(pk=job.pk).update(state="failed", last_error="the model gave no answer: wrong key")
    assert browser.post("propose/", {"job": job.pk})["error"] == "the model gave no answer: wrong key"


@pytest.mark.usefixtures("listening")
def test_the_endpoint_is_asked_in_the_background_once():
    assignment = make_work(proposer="endpoint")
    assignment.begin()
    browser = Browser(assignment).take()
    first = browser.post("propose/", {"kind": "cuts"}, status=202)["job"]
    assert browser.post("propose/", {"kind": "cuts"}, status=202)["job"] == first
    job = Job.objects.get(pk=first)
    assert (job.kind, job.created_by, job.params["assignment"]) == ("propose", assignment.user, assignment.pk)


def test_other_vectors_are_named_in_the_proposal(assignment: Assignment):
    from agents.encoders.embedding import HashEncoder

    encoder = HashEncoder(16)
    proposal = proposing.Proposing(assignment).propose("cuts", encoder.encode, encoder.name)
    assert proposal.model_name == "pages and forms 3 · hash-16"


def test_pass_rates_are_kept_per_model_and_kind():
    assignment = make_work()
    campaign = assignment.item.session.campaign
    for model, decided, distance, passed in (
        ("a", "unchanged", 0.0, True),
        ("a", "unchanged", 0.0, False),
        ("a", "edited", 0.3, False),
        ("a", "rejected", 0.9, None),
        ("a", "", None, None),
        ("b", "unchanged", 0.0, None),
    ):
        ended = {"outcome": decided, "distance": distance, "has_passed": passed}
        Proposal.objects.create(campaign=campaign, kind="cuts", model_name=model, content={}, **ended)
    a, b = campaign.proposals.pass_rates()
    assert (a.kind, a.model, a.unchanged, a.edited, a.rejected, a.open) == ("cuts", "a", 2, 1, 1, 1)
    assert (a.passed, a.judged, a.rate) == (1, 3, pytest.approx(1 / 3))
    assert a.distance == pytest.approx(0.3)
    assert (b.model, b.unchanged, b.rate, b.distance) == ("b", 1, None, 0.0)


def test_a_proposal_that_asks_twice_is_not_kept_and_what_it_leaves_out_is_said(assignment: Assignment):
    steps = [step.pk for step in assignment.item.session.steps()]
    source = "Search for red shoes by price, then sort the second list by price"
    twice = [
        {"step": steps[0], "instruction": source},
        {"step": steps[3], "instruction": "Sort the second list by price"},
    ]
    with pytest.raises(proposing.NoProposals, match="“sort the second list by price” in 2 parts"):
        proposing.left_out("cuts", twice, assignment.item.session)
    less = [{"step": steps[0], "instruction": "Search for red shoes by price"}, {"step": steps[3], "instruction": ""}]
    assert proposing.left_out("cuts", less, assignment.item.session) == ["sort the second list by price"]


def two_tasks() -> tuple[Assignment, list[int]]:
    """An annotation of two tasks of three steps, each with a clause of its own, and the first steps of the tasks."""
    assignment = make_work(tasks=2, steps=3)
    for task, instruction in zip(assignment.item.session.tasks.order_by("position"), (SHOES, HOTEL), strict=True):
        task.conversation.turns.update(instruction=instruction)
    assignment.begin()
    steps = [step.pk for step in assignment.item.session.steps()]
    return assignment, [steps[0], steps[3]]


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        (f"{SHOES} {HOTEL}", HOTEL, "It asks for “Book a hotel room in Oslo for two.” in 2 parts."),
        (f"{SHOES} {HOTEL}", SHOES, "It asks for “Search for red shoes in size nine.” in 2 parts."),
        (SHOES, f"{HOTEL} {HOTEL}", "It asks for “Book a hotel room in Oslo for two.” twice in one part."),
    ],
)
def test_a_proposal_with_a_clause_of_another_task_or_one_twice_is_refused(first: str, second: str, why: str):
    assignment, steps = two_tasks()
    client = APIClient()
    client.force_login(assignment.user)
    parts = [{"step": step, "instruction": text} for step, text in zip(steps, (first, second), strict=True)]
    body = {"assignment": assignment.pk, "kind": "cuts", "model_name": "cutter", "parts": parts}
    said = client.post("/api/proposals/", body, format="json")
    assert (said.status_code, why in said.content.decode()) == (422, True), said.content
    assert Browser(assignment).get()["proposals"] == []


@pytest.mark.parametrize(
    "end", [" in sand, ,please.", " in sand,, please", " in sand ,please.", " in sand..", " in sand,."]
)
def test_a_proposal_with_garbled_punctuation_is_refused_unless_the_source_has_it(end: str):
    assignment, steps = two_tasks()
    parts = [{"step": steps[0], "instruction": SHOES}, {"step": steps[1], "instruction": HOTEL.removesuffix(".") + end}]
    made = proposing.Proposing(assignment)
    with pytest.raises(proposing.NoProposals, match=r"punctuation is garbled: “.*sand"):
        made.keep("cuts", "cutter", parts)
    assignment.parts.update(instruction=f"One thing{end}")
    assert made.keep("cuts", "cutter", parts).outcome == ""


@pytest.mark.parametrize(
    "text", ["Wait... then go.", "At .5, or 1,5 cm", "Go to ../docs, please", "Really?!", "A, .5", ""]
)
def test_punctuation_that_people_write_is_not_garbled(text: str):
    assert garbled(text) == ""


def test_a_clause_of_another_task_is_doubled_for_whoever_writes():
    assignment, steps = two_tasks()
    assignment.parts.all().delete()
    for step, said in zip(steps, (f"{SHOES} {HOTEL}", HOTEL), strict=True):
        assignment.parts.create(first_step_id=step, instruction=said)
    states = [[one["state"] for one in task] for task in Browser(assignment).get()["clauses"]]
    assert states == [[""], ["doubled"]]


def test_a_campaign_that_asks_a_model_proposes_by_rules_where_that_is_asked_for():
    assignment = make_work(proposer="endpoint")
    assignment.begin()
    browser = Browser(assignment).take()
    assert browser.post("propose/", {"kind": "cuts", "by": "rules"})["proposal"]["model"] == "pages and forms 3"


def test_a_proposal_that_asks_for_what_no_source_says_is_refused(assignment: Assignment):
    first, other = (step.pk for step in list(assignment.item.session.steps())[::3])
    parts = [
        {"step": first, "instruction": "Search for red shoes by price", "why": []},
        {"step": other, "instruction": "Then sort the second list by price. And delete my account.", "why": []},
    ]
    with pytest.raises(proposing.UnusableProposal, match="asks for “And delete my account"):
        proposing.Proposing(assignment).keep("cuts", "model", parts)
    parts[1]["instruction"] = "Then sort the second list by price."
    assert proposing.Proposing(assignment).keep("cuts", "model", parts).outcome == ""


@pytest.mark.parametrize("key", ["", "once"])
def test_a_proposal_from_elsewhere_that_leaves_out_everything_is_refused_and_counted(assignment: Assignment, key: str):
    client = APIClient()
    client.force_login(assignment.user)
    steps = [step.pk for step in assignment.item.session.steps()]
    parts = [{"step": step, "instruction": "Add to list"} for step in steps]
    body = {"assignment": assignment.pk, "kind": "cuts", "model_name": "cutter", "parts": parts}
    for _ in range(2):
        said = client.post("/api/proposals/", body, format="json", headers={"Idempotency-Key": key} if key else {})
        assert said.status_code == 422, said.content
        assert "leaves out 2 of 2 clauses" in said.content.decode()
    (kept,) = assignment.proposals.all()
    assert (kept.model_name, kept.outcome, kept.decided_at is None) == ("cutter", "rejected", False)
    assert Browser(assignment).get()["proposals"] == []


def test_the_clauses_that_no_part_or_two_ask_for_are_told_with_every_save(browser: Browser):
    states = [one["state"] for one in browser.get()["clauses"][0]]
    assert states == ["", ""]
    first = browser.get()["parts"][0]
    saved = browser.edit(text(first["step"], first["instruction"], "Search for red shoes by price"))
    assert [one["state"] for one in saved["clauses"][0]] == ["", "uncovered"]


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [
        ("", "", 0),
        ("abc", "abc", 0),
        ("", "ab", 1),
        ("kitten", "sitting", 3 / 7),
        ("ab", "ba", 1),
        ("abcd", "abd", 0.25),
    ],
)
def test_edit_distance_is_that_of_levenshtein_by_the_longer_one(a, b, distance):
    assert edit_distance(a, b) == edit_distance(b, a) == pytest.approx(distance)


def test_an_edit_names_a_proposal_of_its_own_annotation_only(browser: Browser):
    other = make_work()
    proposal = Proposal.objects.create(
        campaign=other.item.session.campaign, assignment=other, kind="cuts", model_name="m", content={"parts": []}
    )
    row = {"op_id": str(uuid.uuid4())} | cut(browser.get()["steps"][1]["id"]) | {"proposal": proposal.pk}
    assert "made for something else" in browser.edit(row, status=400)["error"]
    assert not Edit.objects.exists()


def test_what_was_kept_before_there_were_checks_is_checked_when_it_is_shown(assignment: Assignment, browser: Browser):
    steps = [step.pk for step in assignment.item.session.steps()]
    source = "Search for red shoes by price, then sort the second list by price"
    twice = [
        {"step": steps[0], "why": [], "instruction": source},
        {"step": steps[3], "why": [], "instruction": "Sort the second list by price"},
    ]
    garbled_one = [{"step": steps[0], "why": [], "instruction": f"{source},, please"}]
    good = assignment.keep_proposal("cuts", "m", [{"step": steps[0], "why": [], "instruction": source}])
    for parts in (twice, garbled_one):  # as they were kept then, and nothing but what is open gives way to another
        campaign, session = good.campaign, good.session
        assignment.proposals.create(
            campaign=campaign, session=session, kind="cuts", model_name="m", content={"parts": parts}
        )
    assert [proposal["id"] for proposal in browser.get()["proposals"]] == [good.pk]
    (rate,) = assignment.item.session.campaign.proposals.pass_rates()
    assert (rate.model, rate.rejected, rate.open) == ("m", 0, 3), "to look at an item decides nothing"
    proposing.Proposing(assignment).settle()
    (rate,) = assignment.item.session.campaign.proposals.pass_rates()
    assert (rate.model, rate.rejected, rate.open) == ("m", 2, 0)


def test_a_bad_proposal_that_was_accepted_before_is_shown_no_more_and_settled_at_submit(
    assignment: Assignment, browser: Browser
):
    steps = [step.pk for step in assignment.item.session.steps()]
    kept = assignment.keep_proposal("cuts", "m", [{"step": steps[0], "why": [], "instruction": "Add to list"}])
    first = browser.get()["parts"][0]
    assert browser.get()["proposals"] == []
    browser.edit(text(steps[0], first["instruction"], "Add to list") | {"proposal": kept.pk})
    assert browser.get()["proposals"] == []
    assert outcome({"id": kept.pk}) == ("", None)
    hand_in(browser)
    assert outcome({"id": kept.pk})[0] == "unchanged"

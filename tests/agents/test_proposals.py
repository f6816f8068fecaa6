"""Proposals by an endpoint: what is asked, what is read from replies and what is wrong with them."""

import json

import pytest

from agents.models import Connection
from agents.proposals.replies import BadProposal, read_cuts, read_rewrites
from annotations.campaigns.propose import proposing
from annotations.jobs.following import work_inline
from annotations.models import Assignment, Campaign, Job, Proposal
from annotations.work.decompose.cuts import SeenStep
from tests import factories
from tests.agents.llm_server import failure, in_turn, prompt_text, serve

pytestmark = pytest.mark.django_db
STEPS = [SeenStep(10 + n, n // 3, "CLICK", f"Link {n}", "", None) for n in range(6)]
FIRST, SECOND = "Find red shoes. Sort them by price. Buy it.", "Open the mail. Read it."
TASKS = [FIRST, SECOND]


def ask(kind: str, assignment: Assignment, monkeypatch, *replies) -> tuple[Job, list[dict]]:
    """The job after it has run, and the requests that the endpoint got."""
    monkeypatch.setenv("LLM_MODEL", "test-model")
    monkeypatch.setenv("LLM_ATTEMPTS", "1")
    job = proposing.Proposing(assignment).start_job(kind, assignment.user)
    with serve(in_turn(*replies)) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.url)
        return work_inline(job), server.requests


@pytest.fixture
def assignment() -> Assignment:
    campaign = factories.make_campaign(proposer="endpoint", steps_per_part=3)
    session = factories.make_session(campaign, tasks=2, steps=3)
    assignment = factories.make_assignment(factories.make_item(session))
    assignment.parts.all().delete()
    assignment.begin()
    return assignment


def parts(*rows: tuple) -> str:
    return json.dumps({"parts": [{"first_step": first, "instruction": text} for first, text in rows]})


def test_cuts_come_from_the_endpoint_with_its_name(assignment: Assignment, monkeypatch):
    reply = parts((1, "Do part 1 of the task"), (3, "Press search"), (4, "Do part 1 of the task"))
    job, requests = ask("cuts", assignment, monkeypatch, reply)
    assert (job.state, job.report["said"]) == ("done", "Proposed 3 parts")
    steps = [step.pk for step in assignment.item.session.steps()]
    proposal = Proposal.objects.get(pk=job.report["proposal"])
    assert (proposal.model_name, proposal.kind, proposal.assignment) == ("test-model", "cuts", assignment)
    assert proposal.content["parts"][1] == {"step": steps[2], "instruction": "Press search", "why": []}
    asked = prompt_text(requests[0])
    assert "(1) Please do part 1 of the task\nSteps:\n1. [input]  Search -> TYPE: red shoes" in asked
    assert "(2) Please do part 1 of the task\nSteps:\n4. " in asked
    assert "Aim at 2 requests" in asked
    assert "6. " in asked
    assert "7. " not in asked


def test_a_campaign_names_the_connection_that_proposes(assignment: Assignment, monkeypatch):
    reply = parts((1, "Do part 1 of the task"), (4, "Again"))
    campaign = assignment.item.session.campaign
    Campaign.objects.filter(pk=campaign.pk).update(connection="mine")
    with serve(lambda body: reply) as server:
        Connection.objects.create(name="mine", base_url=server.url, model="its-model", private=True)
        job, requests = ask("cuts", assignment, monkeypatch, "nobody asks the environment")
        assert (job.report["model"], requests) == ("its-model", [])
        assert server.requests[0]["model"] == "its-model"
    Connection.objects.all().delete()
    job, requests = ask("cuts", assignment, monkeypatch, reply)
    assert (job.state, requests) == ("failed", [])
    assert "names the connection mine, which there is no more" in job.last_error


def test_rewrites_come_with_marks_at_their_places(assignment: Assignment, monkeypatch):
    session = assignment.item.session
    rewrite = factories.make_assignment(factories.make_item(session, stage="rewrite"))
    rewrite.parts.update(instruction="Find red shoes")
    rewrite.parts.create(first_step=session.steps()[3], instruction="Sort red shoes")
    mention = {"words": "them", "phenomenon": "pronoun", "antecedent": {"turn": 1, "words": "red shoes"}}
    reply = {"turns": [{"turn": 1, "text": "Find red shoes"}, {"turn": 2, "text": "Sort them", "mentions": [mention]}]}
    job, requests = ask("rewrite", rewrite, monkeypatch, f"```json\n{json.dumps(reply)}\n```")
    found = Proposal.objects.get(pk=job.report["proposal"]).content["parts"][1]
    first, second = (part.first_step_id for part in rewrite.ordered_parts())
    assert (found["step"], found["rewrite"]) == (second, "Sort them")
    (mark,) = found["mentions"]
    assert (mark["start"], mark["end"], mark["text"]) == (5, 9, "them")
    assert mark["antecedent"] == {"step": first, "start": 5, "end": 14, "text": "red shoes"}
    assert "1. Find red shoes\n2. Sort red shoes" in prompt_text(requests[0])


def test_what_is_wrong_is_told_to_the_model_once(assignment: Assignment, monkeypatch):
    job, requests = ask(
        "cuts", assignment, monkeypatch, parts((1, "All")), parts((1, "Do part 1 of the task"), (4, "Again"))
    )
    assert job.state == "done"
    assert len(requests) == 2
    assert "no part begins at step 4, where a task begins" in requests[1]["messages"][-1]["content"]


def test_a_second_bad_reply_ends_the_job_with_the_reason(assignment: Assignment, monkeypatch):
    job, requests = ask("cuts", assignment, monkeypatch, "Sure! Here are the parts.", "Sorry.")
    assert (job.state, len(requests)) == ("failed", 2)
    assert "the model's proposal cannot be used: it is no JSON" in job.last_error
    assert not Proposal.objects.exists()


def test_a_proposal_that_leaves_out_most_of_the_source_is_not_shown_and_counts_as_failed(
    assignment: Assignment, monkeypatch
):
    good = proposing.Proposing(assignment).propose("cuts")
    reply = parts(*((number, "Add to list") for number in range(1, 7)))
    job, _ = ask("cuts", assignment, monkeypatch, reply)
    assert (job.state, "proposal" in job.report) == ("failed", False)
    assert job.last_error.startswith("that of test-model cannot be used. It leaves out 2 of 2 clauses of the source")
    assert "propose by rules, or write the parts yourself" in job.last_error
    assert list(assignment.proposals.filter(outcome="")) == [good], "what is shown stays"
    ask("cuts", assignment, monkeypatch, reply)
    (rate,) = [rate for rate in Proposal.objects.pass_rates() if rate.model == "test-model"]
    assert (rate.rejected, rate.open, rate.judged) == (1, 0, 0)
    proposing.Proposing(assignment).settle()
    proposing.judge(Proposal.objects.unjudged(), assignment, passed=True)
    (rate,) = [rate for rate in Proposal.objects.pass_rates() if rate.model == "test-model"]
    assert (rate.judged, rate.passed, rate.rate) == (1, 0, 0.0)


def test_a_proposal_that_covers_half_of_the_source_is_shown_with_what_it_leaves_out(
    assignment: Assignment, monkeypatch
):
    job, _ = ask("cuts", assignment, monkeypatch, parts((1, "Do part 1 of the task"), (4, "Add to list")))
    found = Proposal.objects.get(pk=job.report["proposal"])
    assert (found.outcome, found.content["left_out"]) == ("", ["Please do part 1 of the task."])


def test_an_endpoint_that_fails_ends_the_job_with_the_reason(assignment: Assignment, monkeypatch):
    job, _ = ask("cuts", assignment, monkeypatch, failure(401, "wrong key"))
    assert job.state == "failed"
    assert "the model gave no answer" in job.last_error


def test_nothing_is_proposed_for_work_that_was_handed_in(assignment: Assignment, monkeypatch):
    job = proposing.Proposing(assignment).start_job("cuts", assignment.user)
    Assignment.objects.update(state="submitted")
    assert "not in work any more" in work_inline(job).last_error


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("[]", 'list "parts"'),
        ('{"parts": []}', 'list "parts"'),
        ('{"parts": [1]}', 'list "parts"'),
        (parts((2, "x"), (4, "y")), "does not begin at step 1"),
        (parts((1, "x"), (4, "y"), (3, "z")), "do not go up"),
        (parts((1, "x"), (1, "y"), (4, "z")), "do not go up"),
        (parts((1, "x"), (7, "y")), "from 1 to 6"),
        (parts((1, "x"), (True, "y")), "from 1 to 6"),
        (parts((1, "x"), (4, " ")), "instruction"),
        (parts((1, "x"), (4, None)), "instruction"),
        (parts((1, "x"), (5, "y")), "step 4, where a task begins"),
    ],
)
def test_cuts_that_cannot_be_used_are_refused(reply, why):
    with pytest.raises(BadProposal, match=why):
        read_cuts(reply, STEPS, TASKS)


def numbered(*clauses: object, left_out: object = ()) -> str:
    """A reply with one part for each task, by the numbers of their clauses."""
    rows = [{"first_step": first, "clauses": own} for first, own in zip((1, 3, 4), clauses, strict=False)]
    return "Here it is:\n" + json.dumps({"parts": rows, "left_out": list(left_out)})


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (numbered([1, 2], [3], [4, 5]), ["Find red shoes. Sort them by price.", "Buy it.", SECOND]),
        (numbered(["1"], "2-3", "4, 5"), ["Find red shoes.", "Sort them by price. Buy it.", SECOND]),
        (numbered([3, 1], 2, [[4], 5]), ["Find red shoes. Buy it.", "Sort them by price.", SECOND]),
        (numbered([1], [2, 3], ["5"], left_out=[4]), ["Find red shoes.", "Sort them by price. Buy it.", "Read it."]),
    ],
)
def test_a_model_may_name_the_clauses_of_parts_by_their_numbers(reply, said):
    found = read_cuts(reply, STEPS, TASKS)
    assert [(part["step"], part["instruction"]) for part in found] == list(zip((10, 12, 13), said, strict=True))


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (numbered([1, 2], [3], [4]), "clause 5 is in none of the requests"),
        (numbered([1, 2], [2, 3], [4, 5]), "clause 2 is given more than once"),
        (numbered([1, 2], [3], [4, 5], left_out=[5]), "clause 5 is given more than once"),
        (numbered([1, 2], [3], [4, 5, 6]), "there are the clauses 1 to 5 only"),
        (numbered([1, 2, 3], [], [4, 5]), "a request of task 1 has no clause"),
        (numbered([1, 2], [4], [3, 5]), "or one of another task"),
        (numbered([1, 2], [3], [4, 5, None]), "no number of a clause"),
        (numbered([1, 2], [3], ["1-9999"] * 1_000), "more clauses than there are"),
    ],
)
def test_numbers_that_are_no_partition_of_the_clauses_are_refused(reply, why):
    with pytest.raises(BadProposal, match=why):
        read_cuts(reply, STEPS, TASKS)


@pytest.mark.parametrize(
    ("second", "why"),
    [
        ({"turn": 1}, "turns 1 to 2"),
        ({"turn": 3}, "from 1 to 2"),
        ({"text": ""}, "text"),
        ({"mentions": "them"}, "no list"),
        ({"mentions": [{"words": "it", "phenomenon": "pronoun", "antecedent": {}}]}, 'does not say "it"'),
        ({"mentions": [{"words": "them", "phenomenon": "rhyme"}]}, "no phenomenon"),
        ({"mentions": [{"words": "them", "phenomenon": "pronoun"}]}, "no antecedent"),
        ({"mentions": [{"words": "them", "phenomenon": "pronoun", "antecedent": {"turn": 2}}]}, "from 1 to 1"),
        (
            {"mentions": [{"words": "them", "phenomenon": "pronoun", "antecedent": {"turn": 1, "words": "bags"}}]},
            'does not say "bags"',
        ),
    ],
)
def test_rewrites_that_cannot_be_used_are_refused(second, why):
    turns = [{"turn": 1, "text": "Find red shoes"}, {"turn": 2, "text": "Sort them"} | second]
    with pytest.raises(BadProposal, match=why):
        read_rewrites(json.dumps({"turns": turns}), [10, 13])


def test_an_ellipsis_is_a_point_after_the_words_before_it():
    mention = {"words": "And", "phenomenon": "ellipsis", "antecedent": {"turn": 1, "words": "Find flights"}}
    turns = [{"turn": 1, "text": "Find flights to Rome"}, {"turn": 2, "text": "And to Oslo", "mentions": [mention]}]
    (mark,) = read_rewrites(json.dumps({"turns": turns}), [10, 13])[1]["mentions"]
    assert (mark["start"], mark["end"], mark["text"], mark["antecedent"]["step"]) == (3, 3, "", 10)


@pytest.mark.slow
@pytest.mark.django_db
def test_the_embedded_model_groups_tasks_that_ask_for_like_things_in_other_words():
    campaign = factories.make_campaign()
    website = factories.make_website(campaign.source)
    wishes = ("Buy tickets for a wrestling show", "Order seats at the wrestling event", "Track my parcel")
    tasks = [factories.make_conversation(turns=1, dataset=campaign.source, website=website) for _ in wishes]
    for task, wish in zip(tasks, wishes, strict=True):
        task.turns.update(instruction=wish)
    job = proposing.start_sessions_job(campaign, factories.make_user("admin", campaign.project))
    assert proposing.start_sessions_job(campaign, factories.make_superuser()) == job
    assert work_inline(job).state == Job.State.DONE
    proposal = campaign.proposals.get()
    assert (proposal.model_name, proposal.content["tasks"]) == ("all-MiniLM-L6-v2", [tasks[0].pk, tasks[1].pk])

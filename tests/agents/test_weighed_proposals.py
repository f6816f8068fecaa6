"""The embedded model weighs proposals: how likely it holds texts, cuts that it chooses, wordings that it chooses."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

from agents.llm.weighing import LikelihoodModel
from agents.proposals.weighed import MOST, ClauseWeigher, in_words, likeliest, shares
from annotations.campaigns.propose import proposing
from annotations.jobs.following import work_inline
from annotations.models import Assignment, Job, Proposal
from annotations.work.decompose.clauses import covered, recorded_tasks
from annotations.work.decompose.cuts import SeenStep, propose_cuts
from annotations.work.rewrite.rewrites import propose_rewrites
from tests import factories
from tests.annotations.sample_cuts import sample_conversations
from tests.annotations.test_work_proposing import make_work

TICKETS = "Find concert tickets for Coldplay in Boston on June 3"


@pytest.fixture(scope="module")
def model() -> LikelihoodModel:
    return LikelihoodModel()


@pytest.fixture
def no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("LLM_BASE_URL", "LLM_MODEL", "LLM_EMBEDDED"):
        monkeypatch.delenv(variable, raising=False)


def test_shares_of_a_step_add_up_to_one_and_the_likelier_clause_has_more() -> None:
    found = shares(np.array([[0.0, 500.0], [4.0, -500.0], [1.0, 0.0]]))
    assert found.sum(axis=0) == pytest.approx([1.0, 1.0])
    assert list(found.argmax(axis=0)) == [1, 0]


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (SeenStep(1, 0, "CLICK", "[button]  Find trains -> CLICK", "", None), 'click "Find trains"'),
        (SeenStep(1, 0, "TYPE", "[textbox]  From -> TYPE: Arlen", "Arlen", None), 'type "Arlen" into "From"'),
        (SeenStep(1, 0, "SELECT", "[combobox]  A -> B -> SELECT: c", "c", None), 'choose "c" for "A -> B"'),
        (SeenStep(1, 0, "HOVER", "no form at all", "", None), 'hover "no form at all"'),
    ],
)
def test_steps_are_told_in_words(step: SeenStep, said: str) -> None:
    assert in_words(step) == said


@pytest.mark.slow
def test_what_fits_is_likelier_and_what_was_read_before_changes_nothing(model: LikelihoodModel) -> None:
    asked = "I want to fly to Paris on Friday"
    pieces = ['type "Paris" into "To"', 'type "Leeds" into "To"']
    one, other = (model.log_likelihoods(asked, "On the website I", [piece]) for piece in pieces)
    assert one[0] > other[0]
    both = model.log_likelihoods(asked, "On the website I", pieces)
    assert both[0] == pytest.approx(one[0], rel=0.05)  # rounding depends on what is read beside it
    assert model.log_likelihoods(asked, "On the website I", pieces) == pytest.approx(both, rel=0.05)
    assert all(likelihood < 0 for likelihood in both)


@pytest.mark.slow
def test_what_the_model_cannot_read_at_once_is_refused(model: LikelihoodModel) -> None:
    with pytest.raises(ValueError, match="more than the 8,192 that the embedded model reads"):
        model.log_likelihoods("Go on", "I", ["word " * 9_000])
    steps = [SeenStep(n, 0, "CLICK", "Link", "", None) for n in range(MOST)]
    with pytest.raises(ValueError, match="is too long for the embedded model"):
        ClauseWeigher(model, lambda done, clauses: None)(["a", "b"], steps)


@pytest.mark.slow
def test_more_steps_than_are_read_together_are_weighed(model: LikelihoodModel) -> None:
    steps = [SeenStep(n, 0, "CLICK", f"[link]  {n} -> CLICK", "", None) for n in range(90)]
    told: list[tuple[int, int]] = []
    found = ClauseWeigher(model, lambda *of: told.append(of))(["Click 3", "Click 80"], steps)
    assert (found.shape, told) == ((2, 90), [(0, 2), (1, 2)])


@pytest.mark.slow
def test_every_proposal_for_the_sample_asks_for_each_clause_once(model: LikelihoodModel) -> None:
    """Figures of docs/embedded.md, where $FIGURES names a file for them."""
    right = true = whole = 0
    seconds: list[float] = []
    for steps, instruction, firsts in sample_conversations():
        begun = time.monotonic()
        meaning = ClauseWeigher(model, lambda done, clauses: None)
        parts = propose_cuts(steps, [instruction], len(firsts), meaning=meaning)
        seconds.append(time.monotonic() - begun)
        said = {part.step: part.instruction for part in parts}
        (task,) = covered(recorded_tasks(((step.key, 0, instruction) for step in steps), said), said)
        assert [clause.state for clause in task if clause.text] == [""] * len([one for one in task if one.text])
        found = {part.step for part in parts[1:]}
        right, true = right + len(found & set(firsts)), true + len(firsts) - 1
        whole += found == set(firsts[1:])
    if file := os.environ.get("FIGURES"):
        took = f"{np.median(seconds):.1f} s, at most {max(seconds):.1f} s"
        Path(file).write_text(f"{right} of {true} cuts, {whole} whole, {took}")
    assert right / true > 0.65


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.usefixtures("no_endpoint")
def test_a_campaign_without_an_endpoint_gets_cuts_that_the_embedded_model_has_weighed() -> None:
    assignment = make_work(proposer="endpoint")
    assignment.begin()
    job = work_inline(proposing.Proposing(assignment).start_job("cuts", assignment.user))
    assert (job.state, job.last_error) == (Job.State.DONE, "")
    assert job.progress["phase"] == "Weighs clause 2 of 2 against the steps"
    proposal = Proposal.objects.get(pk=job.report["proposal"])
    assert proposal.model_name == "embedded:smollm2-135m · weighed clauses 1"
    parts = proposal.content["parts"]
    assert [part["instruction"] for part in parts] == [
        "Search for red shoes by price",
        "Sort the second list by price",
    ]
    assert "left_out" not in proposal.content


def rewriting(*instructions: str) -> Assignment:
    """Somebody at work on the rewrite of parts with these instructions."""
    session = factories.make_session(factories.make_campaign(proposer="endpoint"), steps=len(instructions))
    assignment = factories.make_assignment(factories.make_item(session, stage="rewrite"))
    assignment.parts.all().delete()
    for step, said in zip(session.steps(), instructions, strict=False):
        assignment.parts.create(first_step=step, instruction=said)
    return assignment


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.usefixtures("no_endpoint")
def test_rewrites_of_the_embedded_model_are_wordings_that_rules_have_found() -> None:
    texts = (TICKETS, "Sort the concert tickets by price", "Show hotels in Boston")
    assignment = rewriting(*texts)
    job = work_inline(proposing.Proposing(assignment).start_job("rewrite", assignment.user))
    assert (job.state, job.last_error) == (Job.State.DONE, "")
    proposal = Proposal.objects.get(pk=job.report["proposal"])
    assert proposal.model_name == "embedded:smollm2-135m · weighed wordings 1"
    found = {part["rewrite"] for part in proposal.content["parts"]}
    assert found
    assert found <= {rewrite.rewrite for rewrite in propose_rewrites(list(enumerate(texts)))}


@pytest.mark.slow
def test_the_likeliest_wording_is_the_one_that_people_would_say(model: LikelihoodModel) -> None:
    assert likeliest(model, [TICKETS], ["Sort them by price", "Price by them sort"]) == 0
    assert likeliest(model, [TICKETS], ["Price by them sort", "Sort them by price"]) == 1

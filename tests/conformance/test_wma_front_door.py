"""WMA: published steps, pages and scores go in by the door of users: an import, a study, its steps and scores."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from evaluation.scores.scoring import RunScores
from tests.conformance.cases import params
from tests.conformance.wma_front_door import AskedStep, PublishedSteps, number_of

pytestmark = pytest.mark.django_db
ELSEWHERE = "`CLICK [901]`"


def kept(file: str, name: str) -> list[dict]:
    """The cases of a list; the test that needs them is skipped where the file is not here."""
    found = params(file, "weblinx_wma", name)
    if any(case.marks for case in found):
        pytest.skip(f"{file} is not here")
    return [case.values[0] for case in found]


@pytest.mark.slow
def test_steps_are_scored_as_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = kept("wma_mind2web", "step_metrics")
    published = PublishedSteps(
        [AskedStep.of_score(case) for case in cases],
        lambda prompt, n: [cases[number_of(prompt)]["response"]] * n,
        tmp_path,
        monkeypatch,
    )
    assert [row.trace["plan"]["text"] for row in published.run("bare")] == [case["pred_act"] for case in cases]
    assert_scored(published, cases)
    assert_aggregated(published, cases)


@pytest.mark.slow
def test_what_the_most_frequent_of_the_samples_says_is_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first sample drawn says something else: what is judged is the action taken, as it was written."""
    cases = kept("wma_mind2web", "step_metrics")

    def drawn(prompt: str, n: int) -> Sequence[str]:
        return [ELSEWHERE, *[cases[number_of(prompt)]["response"]] * (n - 1)]

    published = PublishedSteps([AskedStep.of_score(case) for case in cases], drawn, tmp_path, monkeypatch)
    rows = published.run("cot")
    assert {row.trace["plan"]["text"] for row in rows} == {ELSEWHERE.strip("`")}
    assert_scored(published, cases)


def assert_scored(published: PublishedSteps, cases: Sequence[dict]) -> None:
    judged = RunScores(published.done).outcomes("faithful")
    assert [step.element_correct for step in judged] == [case["element_acc"] for case in cases]
    assert [step.operation_f1 for step in judged] == pytest.approx([case["action_f1"] for case in cases], abs=1e-9)
    assert [step.success for step in judged] == [bool(case["step_success"]) for case in cases]


def assert_aggregated(published: PublishedSteps, cases: Sequence[dict]) -> None:
    """Each task has one step here, so that its mean is the step's own, however they are grouped."""
    stored = dict(published.done.scores.filter(preset="faithful").values_list("metric", "value"))
    for ours, theirs in (("element_accuracy", "element_acc"), ("step_success", "step_success")):
        assert stored[ours] == pytest.approx(sum(case[theirs] for case in cases) / len(cases), abs=1e-9)


@pytest.mark.slow
def test_pages_are_shown_as_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = kept("wma_mind2web", "tree_obs")
    steps = [
        AskedStep(case["cleaned_html"], case["candidate_ids"], case["candidate_ids"][:1], "CLICK [1]") for case in cases
    ]
    published = PublishedSteps(steps, lambda prompt, n: [ELSEWHERE] * n, tmp_path, monkeypatch)
    most = max(len(case["candidate_ids"]) for case in cases)
    published.run("bare", simplify__page_elements=str(most))
    shown = {number_of(prompt): prompt for prompt in published.llm.asked}
    for number, case in enumerate(cases):
        assert f"Observation: `{case['obs']}`" in shown[number]


@pytest.mark.slow
def test_answers_of_the_value_function_are_read_as_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step of `wma` each: two actions are imagined, of which the first one is valued with the answers of a case."""
    cases = [case for case in kept("wma_scores", "likert") if case["responses"]]  # an endpoint always answers
    first, second = "CLICK [12]", "CLICK [7]"
    asked: dict[int, int] = {}

    def answer(prompt: str, n: int) -> Sequence[str]:
        number = number_of(prompt)
        if "[Score]" in prompt:
            asked[number] = asked.get(number, 0) + 1
            given = cases[number]["responses"] if asked[number] == 1 else ["[Score]: 1"]
            return list(given)
        if "[Next State]" in prompt:
            return ["[Rationale] r\n[Next State] s"] * n
        return [f"`{first}`"] * (n - 1) + [f"`{second}`"]

    step = AskedStep.of_score({"pos_ids": ["12"], "target_act": first})
    rows = PublishedSteps([step] * len(cases), answer, tmp_path, monkeypatch).run("wma", imagine__loop="mind2web")
    found = [row.trace["imagine"]["scores"][0] for row in rows]
    assert found == [pytest.approx(case["mean_and_individual"][1], abs=1e-9) for case in cases]
    values = [row.branches[0]["value"] for row in rows]
    assert values == pytest.approx([case["mean_and_individual"][0] for case in cases], abs=1e-9)


@pytest.mark.slow
def test_the_most_frequent_actions_are_the_published_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The samples of a case stand for actions, one each; those imagined are the published top k in their order."""
    cases = kept("wma_scores", "top_actions")
    acts = [dict(zip(dict.fromkeys(case["parsed_samples"]), ACTS, strict=False)) for case in cases]

    def answer(prompt: str, n: int) -> Sequence[str]:
        if "[Score]" in prompt:
            return ["[Score]: 3"] * n
        if "[Next State]" in prompt:
            return ["[Rationale] r\n[Next State] s"] * n
        number = number_of(prompt)
        return [f"`{acts[number][sample]}`" for sample in cases[number]["parsed_samples"]]

    step = AskedStep.of_score({"pos_ids": ["12"], "target_act": "CLICK [12]"})
    published = PublishedSteps([step] * len(cases), answer, tmp_path, monkeypatch)
    for row, case, act in zip(published.run("wma", imagine__samples=str(cases[0]["k"])), cases, acts, strict=True):
        told = [branch["representation"] for branch in row.branches]
        assert [told_value(words) for words in told] == [told_value(act[sample]) for sample in case["top"]]


ACTS = [f"TYPE [12] [v{number}]" for number in range(20)]


def told_value(words: str) -> str:
    """The value of an action, however it is told."""
    return words.rpartition("v")[2].strip("]")

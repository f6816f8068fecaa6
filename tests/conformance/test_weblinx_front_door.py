"""WebLINX: published evaluations go in by the door that users take: an import, a study, its stored steps and scores."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agents.models import Run
from agents.stages.compose import action_strings
from agents.weblinx import documents
from agents.weblinx.turns import Demo, ReplayTurn
from evaluation.metrics.weblinx.ranking import evaluate_elements
from tests.conformance.test_weblinx_truncation import candidates_of, words_around
from tests.conformance.weblinx import ToyTokenizer, demos, params, section
from tests.conformance.weblinx_front_door import (
    Chosen,
    PublishedDemos,
    Reading,
    Replies,
    Scored,
    published_wording,
    ranking_demo,
)
from tests.quick import first_is_quick

pytestmark = pytest.mark.django_db
METRICS, PROMPTS, RANKING = "weblinx_metrics", "weblinx_truncation", "dmr_recall"
TURN_SCORES = {"overall": "overall", "element-group": "element_group", "text-group": "text_group"}


def kept(name: str, *keys: str) -> list[Any]:
    """The cases of a list; none where the file is not here."""
    return [case.values[0] for case in params(name, *keys) if not case.marks]


def shown(run: Run, grouping: str) -> dict[str, float]:
    rows = run.scores.filter(preset="faithful", grouping=grouping)
    return dict(rows.values_list("metric", "value"))


@pytest.mark.slow
def test_replies_score_as_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = section(METRICS, "end_to_end", "model_results")
    results.sort(key=lambda result: (result["demo_name"], result["turn_index"]))
    published = PublishedDemos(section(METRICS, "end_to_end", "demos"), tmp_path, monkeypatch)
    published.ranked_by(lambda settings, quirks: Chosen({}))
    model = Replies(result["output_predicted"] for result in results)
    published.planned_by(model, [(result["demo_name"], result["turn_index"]) for result in results])
    run = published.run("weblinx-flan-t5")
    assert len(model.asked) == len(results)
    scores = shown(run, "turn")
    for row in section(METRICS, "end_to_end", "aggregated"):
        assert scores[_named(row)] == pytest.approx(row["unconditional_score"], abs=1e-9), row
    counted = run.scores.get(preset="faithful", metric="overall", grouping="turn")
    assert counted.n == len(section(METRICS, "end_to_end", "processed"))


def _named(row: dict[str, Any]) -> str:
    """How a row of the published table is called among our scores."""
    intent, metric = row["intent"], row["metric"].replace("-", "_")
    if intent == "overall":
        return intent if metric == "overall" else metric
    return TURN_SCORES.get(intent) or f"{intent}.{metric}"


TOKENIZERS = sorted({case["tokenizer"] for case in kept(PROMPTS, "llama_prompt")})


@pytest.mark.slow
@pytest.mark.parametrize("tokenizer", TOKENIZERS or params(PROMPTS, "llama_prompt"))
def test_prompts_are_the_published_ones(tokenizer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded, trees = demos(PROMPTS), section(PROMPTS, "tree_repr")
    cases = [case for case in kept(PROMPTS, "llama_prompt") if case["tokenizer"] == tokenizer]
    cases.sort(key=lambda case: (case["demo"], case["turn_index"]))
    # Where nothing is ranked an earlier turn's elements are shown, and the cases hold lists of the turn itself.
    cases = [case for case in cases if documents.is_ranked(recorded[case["demo"]], _turn(case, recorded))]
    assert cases
    listed = {_place(case): trees[case["same_candidates_as_tree_repr_index"]] for case in cases}
    published = PublishedDemos(section(PROMPTS, "demos"), tmp_path, monkeypatch)
    published.ranked_by(
        lambda settings, quirks: Chosen(
            {place: [c["uid"] for c in tree["candidates"]] for place, tree in listed.items()}
        )
    )
    model = Replies([""] * len(cases), ToyTokenizer(tokenizer))
    published.planned_by(model, list(listed))
    # The cases' candidates were drawn of all elements, also of those that nobody sees, which no ranker is shown.
    monkeypatch.setattr(documents, "visible_boxes", lambda boxes, *viewport: boxes)
    monkeypatch.setattr(action_strings, "FastTokenizer", lambda tokenizer: tokenizer)
    first, demo = cases[0], recorded[cases[0]["demo"]]
    words = words_around(first["out"], first, demo, _turn(first, recorded), candidates_of(listed[_place(first)]))
    monkeypatch.setattr(action_strings, "WeblinxWording", SimpleNamespace(of=lambda pack: published_wording(words)))
    published.run("weblinx-flan-t5")
    assert [prompt.flat for prompt in model.asked] == [case["flan_text"] for case in cases]


def _turn(case: dict[str, Any], recorded: dict[str, Demo]) -> ReplayTurn:
    return recorded[case["demo"]].turns[case["turn_index"]]


def _place(case: dict[str, Any]) -> tuple[str, int]:
    return case["demo"], case["turn_index"]


@pytest.mark.slow
@pytest.mark.parametrize("window", sorted({case["history_w"] for case in kept(RANKING, "records")}))
def test_dense_markup_ranking_reads_the_published_texts(
    window: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = PublishedDemos(section(RANKING, "demos"), tmp_path, monkeypatch)
    made: list[Reading] = []

    def reading(*arguments: Any) -> Reading:
        made.append(Reading(*arguments))
        return made[-1]

    published.ranked_by(reading)
    published.run("dmr-minilm", **({} if window == 5 else {"rank__history_turns": str(window)}))
    read = made[-1].read
    for case in kept(RANKING, "records"):
        if case["history_w"] != window:
            continue
        found = read[case["demo"], case["turn_index"]]
        assert found.query == case["query"]
        if "docs" in case:
            texts = dict(zip(found.node_ids, found.texts, strict=True))
            assert texts == {doc["uid"]: doc["doc"] for doc in case["docs"]}


@pytest.mark.slow
@first_is_quick("case", params(RANKING, "ranking"))
def test_rankings_score_as_published(case: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = case["records"]
    published = PublishedDemos([ranking_demo(records)], tmp_path, monkeypatch)
    turns = sorted({record["turn_index"] for record in records})
    scores = {  # the turn before them is the instruction
        place: [(record["uid"], record["score"]) for record in records if record["turn_index"] == number]
        for place, number in enumerate(turns, 1)
    }
    published.ranked_by(lambda settings, quirks: Scored(settings, quirks, scores))
    found = shown(published.run("dmr-minilm"), "positive element")
    wanted = _once(records) if _stands_twice(records) else case
    if "error" in case:
        assert not found, "the published code has no recall where nothing is right"
    for name, value in wanted.items():
        if name.startswith(("recall", "mrr")):
            assert found["mrr" if name == "mrr@50" else name] == pytest.approx(value, abs=1e-9), name


def _right(records: list[dict]) -> list[tuple[int, str, int]]:
    return [(record["turn_index"], record["uid"], record["rank"]) for record in records if record["label"]]


def _stands_twice(records: list[dict]) -> bool:
    """Whether a page has its right element twice, which counts twice in the published code: a deviation of ours."""
    return len(set(_right(records))) < len(_right(records))


def _once(records: list[dict]) -> dict[str, float]:
    return evaluate_elements([rank for *_, rank in sorted(set(_right(records)))], [])

"""On real pages a training draws elements, of recalled pages too, and leaves the gold one out at times (Q5); a run that
is given the same elements is asked the same, and a changed drawing is found."""

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

import pytest

from agents.generators.local import prompt_ids
from agents.memory.encoding import memory_encoder, snippet_form
from agents.memory.retrieve import DatasetMemory
from agents.pipeline import Pipeline
from agents.recipes.literature import Recipe, get, override
from agents.runs.building import build_training
from agents.stages.kind import Parts
from agents.stages.registry import training_of
from agents.stages.simplify import snippets
from agents.training.samples.examples import CandidateDraw
from agents.training.samples.history import PromptHistory
from agents.training.samples.rows import SplitRows, StepRows
from agents.training.samples.tokens import PageSamples
from agents.training.settings import PlannerSettings, make_settings
from agents.types import Observation, RankedCandidate, RecordedStep
from agents.words.past_step import PastStep
from agents.words.sequence import PagePart
from annotations.dom.tree import node_ids
from annotations.models import Dataset, Split
from tests.evaluation.sample_rows import import_website
from tests.evaluation.test_training_of_recipes import TEXTS, _Keeps
from tests.quick import first_is_quick
from tests.tiny_models import byte_tokenizer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("hash_encoder")]
TOKENIZER = byte_tokenizer(TEXTS, 400, pad="<pad>", eos="</s>", template="$A </s>")
RECIPES = ("mindact", "self-map", "self-map-mcq")
WITHOUT = {"recall.memory": "none", "recall.rationales": "none"}
MEMORIES: dict[str, dict[str, str]] = {  # long prompts, or the first recalled pages would be cut away unseen
    "mindact": {"compose.max_tokens": "20000", "recall.memory": "fixed", "recall.k": "2"},
    "self-map": {"compose.max_tokens": "20000"},
    "self-map-mcq": {"compose.max_tokens": "20000", "simplify.memory_pages": "whole"},
}
REPEATS, GROUP, NONE_RATIO = 3, 5, 0.2
NONE = {"multichoice": "A.", "generation": "None"}


@pytest.fixture(scope="module")
def dataset(rows_of_the_file: None, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """A conversation of the sample as training data: pages with dozens of elements."""
    dataset = import_website(tmp_path_factory.mktemp("sample") / "site", conversations=1)
    dataset.conversations.update(split=Split.TRAIN)
    return dataset


Negatives = Sequence[tuple[str, int]]
PUBLISHED = CandidateDraw.draw


class Drawn(NamedTuple):
    gold: str | None
    others: list[str]

    @property
    def shown(self) -> list[str]:
        return [*([self.gold] if self.gold else []), *self.others]


class _These:
    """In place of a ranker: of one step the elements that were drawn, of others all on their pages."""

    def __init__(self, key: int, node_ids: Sequence[str]) -> None:
        self.key, self.node_ids = key, node_ids

    def rank(self, observations: Sequence[Observation]) -> list[tuple[RankedCandidate, ...]]:
        return [tuple(RankedCandidate(i, 1.0, n, "") for n, i in enumerate(self._of(seen))) for seen in observations]

    def _of(self, seen: Observation) -> Sequence[str]:
        if seen.key == self.key:
            return self.node_ids
        on_page = set(node_ids(seen.root))
        return [i for i in seen.candidate_ids if i in on_page]


def recipe_of(name: str, changes: dict[str, str]) -> Recipe:
    return override(get(name), {"plan.backend": "local", "plan.model": "x", **changes})


def drawn_of(step: RecordedStep, *parts: int) -> Drawn:
    """What sources.md M4.3 says of a sample, written down a second time: in one of five no gold element."""
    rng = Random("/".join(map(str, ("sample", *parts))))
    rng.random()  # where a ranking says which elements are the best, from which of them
    without = rng.random() <= NONE_RATIO
    on_page = set(node_ids(step.observation.root))
    gold = [i for i in step.positive_ids if i in on_page]
    others = [i for i in step.observation.candidate_ids if i not in step.positive_ids and i in on_page]
    if gold and not without:
        return Drawn(rng.choice(gold), rng.sample(others, GROUP - 1))
    return Drawn(None, rng.sample(others, GROUP))


def recorded_steps(dataset: Dataset) -> list[RecordedStep]:
    conversations = SplitRows(dataset, Split.TRAIN).recorded()
    return [recorded.recorded(step) for _, recorded in conversations for step in recorded.steps]


class Asked:
    """Runs that are given what was drawn for the training, of their pages and of those that they recall."""

    def __init__(self, recipe: Recipe, dataset: Dataset, patch: pytest.MonkeyPatch) -> None:
        self.recipe, self.steps = recipe, {step.observation.key: step for step in recorded_steps(dataset)}
        encoder = memory_encoder(recipe)
        self.memory = DatasetMemory(dataset, encoder, snippet_form(recipe))
        self.encoder, self.of_memory = encoder, dict[int, Drawn]()
        patch.setattr(snippets, "draw_candidates", self._drawn)

    def prompt(self, step: RecordedStep, drawn: Drawn, *parts: int) -> list[int]:
        """What a run asks about these elements, as token ids."""
        keeps, compose = _Keeps(), self.recipe.compose
        self.of_memory = {key: drawn_of(past, *parts, key) for key, past in self.steps.items()}
        ranker = _These(step.observation.key, drawn.shown)
        shared = Parts(self.recipe, 0, None, self.memory, self.encoder, ranker=ranker, generator=keeps)
        Pipeline.of(shared).decide([step.observation])
        return prompt_ids(keeps.prompts[0], TOKENIZER, compose.max_tokens, compose.piece_tokens)

    def _drawn(self, past: PastStep, rng: Random, settings: snippets.SnippetSettings) -> Drawn:
        found = self.of_memory[past.key]
        return found if settings.simplification else found._replace(others=[i for i, _ in past.negatives])


class Compared(NamedTuple):
    wrong: list[int]  # samples whose prompt or answer is not what a run is asked and should answer
    drawn: list[Drawn]  # what should have been drawn of the current pages
    recalled: list[Drawn]  # and of those recalled


def compared(recipe: Recipe, dataset: Dataset, **changes: object) -> Compared:
    kind, settings = training_of(recipe)
    made = make_settings(kind, settings | {"none_ratio": NONE_RATIO} | changes)
    assert isinstance(made, PlannerSettings)
    rows = StepRows(SplitRows(dataset, Split.TRAIN), made, pipeline=build_training(recipe, dataset))
    samples = PageSamples(rows, TOKENIZER, made, repeats=REPEATS, recipe=recipe)
    steps = recorded_steps(dataset)
    assert samples.size == REPEATS * len(steps)
    found = Compared([], [], [])
    trained = samples.get(0, range(samples.size))
    with pytest.MonkeyPatch.context() as patch:
        runs = Asked(recipe, dataset, patch)
        for index, (prompt, answer) in enumerate(trained):
            step, parts = steps[index // REPEATS], (made.seed, 0, index)
            should = drawn_of(step, *parts)
            found.drawn.append(should)
            says_none = TOKENIZER.decode(answer, skip_special_tokens=True).strip() == NONE[made.paradigm]
            if prompt != runs.prompt(step, should, *parts) or says_none != (should.gold is None):
                found.wrong.append(index)
            (row,) = rows.get([index // REPEATS])
            found.recalled.extend(runs.of_memory[past.key] for past in row.memory)
    return found


@pytest.mark.slow
@first_is_quick(
    ("name", "memory"),
    [
        *((name, False) for name in RECIPES),
        ("self-map", True),
        ("mindact", True),  # whole pages are recalled
        ("self-map-mcq", True),
    ],
)
def test_training_and_use_read_the_same_of_what_was_drawn(name: str, memory: bool, dataset: Dataset) -> None:
    wrong, drawn, recalled = compared(recipe_of(name, MEMORIES[name] if memory else WITHOUT), dataset)
    assert wrong == []
    for found in (drawn, recalled) if memory else (drawn,):
        without = sum(one.gold is None for one in found)
        assert 0 < without < len(found) / 2
        assert len({tuple(one.others) for one in found}) > len(found) / 2, "negatives are drawn anew"
    assert bool(recalled) == memory


def first_ones(draw: CandidateDraw, positives: Sequence[str], negatives: Negatives, rng: Random) -> Drawn:
    return Drawn(positives[0] if positives else None, [node_id for node_id, _ in negatives][: GROUP - 1])


def gold_always(draw: CandidateDraw, positives: Sequence[str], negatives: Negatives, rng: Random) -> Drawn:
    return Drawn(*PUBLISHED(CandidateDraw(GROUP, 0.0), positives, negatives, rng))


def best_alone(draw: CandidateDraw, positives: Sequence[str], negatives: Negatives, rng: Random) -> Drawn:
    return Drawn(*PUBLISHED(draw, positives[:1], negatives[:GROUP], rng))


@pytest.mark.slow
@pytest.mark.parametrize("other", [first_ones, gold_always, best_alone])
def test_another_drawing_is_found(
    other: Callable[..., Drawn], dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CandidateDraw, "draw", other)
    wrong, drawn, _ = compared(recipe_of("mindact", WITHOUT), dataset)
    assert len(wrong) > len(drawn) / 10


@pytest.mark.slow
@pytest.mark.parametrize("other", [gold_always, first_ones, best_alone])
def test_another_drawing_of_recalled_pages_alone_is_found(
    other: Callable[..., Drawn], dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is drawn of the current page stays as it is."""
    recalled = PromptHistory._recalled

    def otherwise(history: PromptHistory, past: PastStep, rng: Random) -> list[PagePart]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(CandidateDraw, "draw", other)
            return recalled(history, past, rng)

    monkeypatch.setattr(PromptHistory, "_recalled", otherwise)
    wrong, drawn, _ = compared(recipe_of("self-map", MEMORIES["self-map"]), dataset)
    assert len(wrong) > len(drawn) / 10


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{"none_ratio": 0.6}, {"num_candidates": 4}])
def test_other_settings_of_the_drawing_are_found(changes: dict[str, float], dataset: Dataset) -> None:
    assert compared(recipe_of("mindact", WITHOUT), dataset, **changes).wrong

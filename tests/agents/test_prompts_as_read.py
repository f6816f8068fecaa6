"""What a trace shows of a page prompt is what the model read of it: where something was cut, it says so."""

from dataclasses import replace
from typing import Any

import pytest

from agents.cookbook.deviations import of_recipe
from agents.generators.as_read import as_read
from agents.generators.embedded import EmbeddedGenerator, Room
from agents.generators.local import LocalGenerator, prompt_ids
from agents.llm.protocol import GREEDY, Request
from agents.pipeline import Pipeline
from agents.prompts.packs import webnav
from agents.recipes import literature
from agents.recipes.literature import RECIPES
from agents.stages.compose.pages import CUT_FIRST
from agents.stages.kind import Parts
from agents.words.generator import CUT, PagePrompt
from agents.words.sequence import PagePart
from tests.agents.prompt_world import AllCandidates, Asked, KnownMemory, recorded
from tests.tiny_models import tiny_t5

WORDS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon".split()
)


def said(name: str, words: int) -> str:
    """So many words, each another one."""
    return " ".join(f"{name}{WORDS[place % len(WORDS)]}{place}" for place in range(words))


def step(name: str, words: int) -> tuple[PagePart, ...]:
    page, question = PagePart("webpage", said(f"{name}p", words)), PagePart("human", said(f"{name}q", 6))
    return page, question, PagePart("gpt", f"{name}answer")


PROMPT = PagePrompt(
    (*step("now", 60)[:2], PagePart("gpt", "")),
    "Act as asked.",
    (*step("first", 30), *step("second", 8), *step("third", 12)),
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LocalGenerator:
    texts = [PROMPT.system, *(part.text for part in (*PROMPT.history, *PROMPT.current))]
    return LocalGenerator(tiny_t5(tmp_path_factory.mktemp("t5"), texts, width=16, layers=1))


def squeezed(text: str) -> str:
    return "".join(text.replace(CUT, "").split())


def read_by(model: LocalGenerator, prompt: PagePrompt, tokens: int, piece: int) -> str:
    ids = prompt_ids(prompt, model.tokenizer, tokens, piece)
    return squeezed(str(model.tokenizer.decode(ids, skip_special_tokens=True)))


LIMITS = [(100_000, 100_000), (100_000, 40), (400, 100), (300, 60), (200, 100), (90, 30), (10, 20)]


@pytest.mark.parametrize(("tokens", "piece"), LIMITS)
def test_what_is_told_is_what_the_model_read_to_the_character(model: LocalGenerator, tokens: int, piece: int) -> None:
    """Read without speakers, so that nothing stands between the parts."""
    prompt = replace(PROMPT, spoken=False)
    shown = as_read(prompt, model.tokenizer, tokens, piece)
    told = "".join(squeezed(part.text) for part in (*shown.history, *shown.current))
    assert squeezed(shown.system) + told == read_by(model, prompt, tokens, piece)


@pytest.mark.parametrize(("tokens", "piece"), LIMITS)
def test_each_part_of_a_conversation_is_told_as_far_as_it_was_read(
    model: LocalGenerator, tokens: int, piece: int
) -> None:
    model.configure(max_new_tokens=2, max_tokens=tokens, max_piece=piece)
    (answer,) = model.generate([PROMPT])
    read = read_by(model, PROMPT, tokens, piece)
    if tokens == piece:
        assert answer.sent is None, "it read all"
        return
    assert answer.sent is not None
    parts = (*answer.sent.history, *answer.sent.current)
    assert all(squeezed(part.text) in read for part in parts)
    lost = [squeezed(whole.text) for whole in (*PROMPT.history, *PROMPT.current) if squeezed(whole.text) not in read]
    assert lost
    assert any(CUT in part.text for part in parts)


def test_the_embedded_model_is_told_with_its_cuts_too() -> None:
    class Llm(Asked):
        def complete(self, requests: list[Request]) -> list[Any]:
            self.sent = [message.content for request in requests for message in request.messages]
            return super().complete(requests)

    llm = Llm(webnav())
    generator = EmbeddedGenerator(llm, "embedded:smollm2-135m", 9, GREEDY, Room(200, 60))
    (answer,) = generator.generate([PROMPT])
    assert answer.sent is not None
    asked = squeezed(" ".join(llm.sent))
    parts = [part for part in (*answer.sent.history, *answer.sent.current) if part.text]
    assert all(squeezed(part.text) in asked for part in parts)
    assert len(answer.sent.history) < len(PROMPT.history)
    assert parts[0].text.startswith(CUT)
    assert answer.sent.current[0].text.endswith(CUT)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mindact", "self-map"])
def test_a_trace_holds_of_page_and_memory_what_was_sent(name: str, model: LocalGenerator) -> None:
    """The beginning of a long page, and nothing of its end."""
    limits = {"compose.piece_tokens": "120", "compose.max_tokens": "600", "recall.rationales": "none"}
    recipe = literature.override(RECIPES[name], {"recall.memory": "chronological", **limits})

    def prompts(max_piece: int) -> list[str]:
        model.configure(max_new_tokens=2, max_tokens=600 if max_piece < 9_000 else 90_000, max_piece=max_piece)
        parts = Parts(recipe, 0, None, KnownMemory(), None, None, AllCandidates(), model)
        decided = Pipeline.of(parts).decide([one.observation for one in recorded()])
        return [decision.trace["compose"]["prompt"] for decision in decided]

    for cut, whole in zip(prompts(60), prompts(9_000), strict=True):
        assert CUT in cut
        assert CUT not in whole
        assert len(cut) < len(whole)
        pages = [text.partition("── round 1 ──\n")[2].partition("\n\n")[0] for text in (cut, whole)]
        shown = pages[0].removesuffix(f" {CUT}")
        assert pages[1].startswith(shown)
        assert len(shown) < len(pages[1])


WORKFLOWS = {"recall.workflows": "environment", "recall.memory": "chronological", "recall.rationales": "none"}


@pytest.mark.slow
@pytest.mark.parametrize(("pages", "tokens", "lost"), [("whole", 500, True), ("whole", 90_000, False)])
def test_workflows_that_whole_pages_push_out_are_told_before_and_at_each_step(
    pages: str, tokens: int, lost: bool, model: LocalGenerator
) -> None:
    """On the lengths as they are: the trace says so exactly where a workflow is not read."""
    limits = {"compose.piece_tokens": "120", "compose.max_tokens": f"{tokens}", "simplify.memory_pages": pages}
    recipe = literature.override(RECIPES["mindact"], WORKFLOWS | limits)
    told = {one.key: one.words for one in of_recipe(recipe)}
    assert f"{tokens:,} tokens is cut at its beginning" in told[CUT_FIRST]
    model.configure(max_new_tokens=2, max_tokens=tokens, max_piece=120)
    parts = Parts(recipe, 0, None, KnownMemory(), None, None, AllCandidates(), model)
    seen = []
    for decision in Pipeline.of(parts).decide([one.observation for one in recorded()]):
        assert decision.workflow_ids
        compose = decision.trace["compose"]
        is_read = "workflows" not in compose.get("cut", [])
        shown = compose["prompt"].partition("── round 1 ──")[0]
        assert ("this workflow opens a form" in shown) == is_read, "as the trace shows what was read"
        seen.append(not is_read)
    assert any(seen) == lost


@pytest.mark.parametrize(
    "changes",
    [
        {"simplify.memory_pages": "simplified"},
        {"recall.workflows": "none"},
        {"recall.workflows": "semantic", "recall.workflow_k": "0"},
        {"recall.memory": "none"},
        {"plan.backend": "endpoint", "plan.model": "gpt-4"},
    ],
)
def test_nothing_is_told_to_be_cut_where_nothing_can_push_workflows_out(changes: dict[str, str]) -> None:
    recipe = literature.override(RECIPES["mindact"], WORKFLOWS)
    assert CUT_FIRST in {one.key for one in of_recipe(recipe)}
    embedded = {"plan.backend": "endpoint", "plan.model": "embedded:smollm2-135m"}
    assert CUT_FIRST in {one.key for one in of_recipe(literature.override(recipe, embedded))}
    of_the_site = literature.override(recipe, {"recall.workflow_k": "0"})  # its own are shown, however many there are
    assert CUT_FIRST in {one.key for one in of_recipe(of_the_site)}
    other = literature.override(recipe, changes)
    assert CUT_FIRST not in {one.key for one in of_recipe(other)}

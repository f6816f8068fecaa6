"""The changes that a language model writes of an action, as facts, so that it can be measured as the other world models
are."""

from collections import Counter
from collections.abc import Sequence

from agents.llm.protocol import Llm, Message
from agents.memory.describe import EFFECT
from agents.models import TrainedModel
from agents.prompts.packs import webnav
from agents.stages.imagine.model_questions import AROUND_PAGE, NOTHING_DONE, cut_tree, imagining_weights
from agents.stages.imagine.scores import next_state
from agents.words.generator import ChatGenerator, ChatPrompt, Generator
from agents.world_model.effects import facts, happenings
from agents.world_model.lines import PageLines
from agents.world_model.predicting import Situation
from agents.world_model.records import described
from annotations.dom.differences import difference

PAGE_TOKENS, NEW_TOKENS = 900, 200
CHANGES, PAGES = "world_model", "world_model_page"  # texts that ask for the change, and for the whole page

Foretold = Counter[str]


def trained_facts(model: str, situations: Sequence[Situation]) -> list[Foretold | None]:
    """Of a model trained here, which writes changes or whole pages, as it was taught; None where its answer cannot be
    read. ValueError where there is no such model."""
    row = TrainedModel.objects.filter(name=model).first()
    writes_pages = row is not None and row.config.get("paradigm") == PAGES
    generator = imagining_weights(model)
    answer_tokens = PAGE_TOKENS if writes_pages else NEW_TOKENS
    generator.configure(max_new_tokens=answer_tokens, max_tokens=PAGE_TOKENS + AROUND_PAGE)
    return _written(generator, PAGES if writes_pages else CHANGES, situations)


def prompted_facts(llm: Llm, situations: Sequence[Situation]) -> list[Foretold | None]:
    """Of a language model that was told nothing but the page and the action; None where its answer holds no page. It is
    asked for the whole next one, as no rule compares prose with a page."""
    return _written(ChatGenerator(llm, max_tokens=PAGE_TOKENS + NEW_TOKENS), PAGES, situations)


def _written(generator: Generator, text: str, situations: Sequence[Situation]) -> list[Foretold | None]:
    """The facts of the greedy answer to each situation, asked without the past of its turn."""
    pages = [cut_tree(one.tree, PAGE_TOKENS, generator.count_tokens) for one in situations]
    prompts = []
    for one, page in zip(situations, pages, strict=True):
        filled = {"objective": one.instruction, "previous": NOTHING_DONE, "observation": page}
        said = webnav().prompt(text).messages(**filled, action=described(one.action, page))
        prompts.append(ChatPrompt(tuple(Message(*message) for message in said)))
    answers = [next_state(answer.text).text for answer in generator.generate(prompts)]
    if text == CHANGES:
        return [facts_in(answer) if answer.strip() else None for answer in answers]
    return [facts_of_page(page, answer) for page, answer in zip(pages, answers, strict=True)]


def facts_of_page(page: str, written: str) -> Foretold | None:
    """How a page that was written differs from the one that was shown; None where no element was written."""
    return facts(happenings(difference(page, written))) if PageLines.of(written).lines else None


def facts_in(text: str) -> Foretold:
    """The facts that a description holds which is written in the form of `agents.memory.describe.told`."""
    found = (part.strip() for part in text.strip().removeprefix(EFFECT).removesuffix(".").split("; "))
    return Counter(part for part in found if part.startswith(("added ", "removed ", "changed ")))

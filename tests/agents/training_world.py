"""Small trainings for tests: pages, steps and settings that tiny models learn in seconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agents.training.samples.examples import PlanningStep, RankingStep
from agents.training.samples.pairs import LinesOf, Pairs, prepare
from agents.training.samples.tokens import PromptAndAnswer
from agents.words.past_step import PastStep
from annotations.sample.build import build_website
from annotations.sample.weblinx import build

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

ANIMALS = ("ant", "bat", "cat", "dog", "eel", "fox", "gnu", "hen", "ibex", "jay")
ROLES = {"press": "button", "write": "textbox", "choose": "listbox", "follow": "link"}
ACTS = (("CLICK", ""), ("TYPE", "red"), ("SELECT", "blue"), ("TYPE", "two"), ("CLICK", ""))


@dataclass(frozen=True, slots=True)
class TextPair:
    """A prompt and its answer."""

    prompt: str
    answer: str


class TextSamples:
    """Prompts and answers that are texts already. Prompts are cut from the left."""

    def __init__(self, pairs: Sequence[TextPair], tokenizer: "PreTrainedTokenizerBase", max_length: int) -> None:
        self.pairs, self.tokenizer, self.max_length, self.size = pairs, tokenizer, max_length, len(pairs)

    def get(self, epoch: int, indices: Sequence[int]) -> list[PromptAndAnswer]:
        chosen = [self.pairs[index] for index in indices]
        prompts = self.tokenizer([pair.prompt for pair in chosen])["input_ids"]
        answers = self.tokenizer(text_target=[pair.answer for pair in chosen])["input_ids"]
        return [(prompt[-self.max_length :], answer) for prompt, answer in zip(prompts, answers, strict=True)]


def text_pairs(count: int = 50) -> list[TextPair]:
    """Prompts that name an element, an operation and a value, and the answers that follow from them."""
    pairs = []
    for place in range(count):
        name, (operation, value) = ANIMALS[place % 10], ACTS[place // 10 % 5]
        pairs.append(
            TextPair(
                f"page {place % 10}: {operation.lower()} {value} at the {name} in row {place // 10}",
                f"Element: {name}{place // 10}\nAction: {operation}\n" + (f"Value: {value}" if value else ""),
            )
        )
    return pairs


def ranking_steps(count: int = 50) -> list[RankingStep]:
    """Each step asks for a kind of element by what one does with it; the page has one element of every kind."""
    steps = []
    for place in range(count):
        verb = list(ROLES)[place % len(ROLES)]
        texts = {role: f"{role} {ANIMALS[(place + shift) % 10]}" for shift, role in enumerate(ROLES.values())}
        gold = texts.pop(ROLES[verb])
        steps.append(RankingStep(place // 5, f"{verb} {ANIMALS[place % 7]}", (gold,), tuple(texts.values())))
    return steps


def page(names: Sequence[str]) -> str:
    buttons = "".join(
        f'<button backend_node_id="{10 + place}"><text backend_node_id="{100 + place}">{name}</text></button>'
        for place, name in enumerate(names)
    )
    return f'<html backend_node_id="1"><body backend_node_id="2">{buttons}</body></html>'


def planning_steps(count: int = 10) -> list[PlanningStep]:
    """Pages with ten buttons, one of which the instruction names; a step is reminded of the one before it."""
    steps: list[PlanningStep] = []
    for place in range(count):
        name = ANIMALS[place % 10]
        others = tuple((str(10 + other), other) for other in range(10) if other != place % 10)
        current = PastStep(
            key=place,
            turn_index=place,
            step_index=0,
            instruction=f"press {name}",
            action_repr=f"[button] {name}",
            operation="CLICK",
            value="",
            html=page(ANIMALS),
            positive_ids=(str(10 + place % 10),),
            negatives=others,
        )
        steps.append(PlanningStep(current, (steps[-1].current,) if steps else ()))
    return steps


class ListedRows:
    """Planning steps from a list."""

    def __init__(self, steps: Sequence[PlanningStep]) -> None:
        self.steps = steps

    def __len__(self) -> int:
        return len(self.steps)

    def get(self, indices: Sequence[int]) -> list[PlanningStep]:
        return [self.steps[index] for index in indices]


def groups_of(steps: Sequence[RankingStep]):
    """The steps by conversation, as `prepare` takes them."""
    numbers = sorted({step.group for step in steps})

    def groups(skip: int):
        for place, number in enumerate(numbers[skip:], start=skip):
            yield place, [step for step in steps if step.group == number]

    return groups


def drawn(steps: Sequence[RankingStep], line: LinesOf, path: Path, epochs: int = 1) -> Pairs:
    assert prepare(groups_of(steps), line, path, lambda: False) == "done"
    return Pairs(path, epochs)


def texts_of(steps: Sequence[RankingStep]) -> list[str]:
    return [text for step in steps for text in (step.query, *step.positives, *step.negatives)]


def weblinx_demonstrations(source: Path, out: Path) -> Path:
    """The sample's conversations on one website as WebLINX demonstrations, in `out`."""
    build_website("willowclinic", source)
    build(source, out)
    return out

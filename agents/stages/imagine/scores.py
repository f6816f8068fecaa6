"""Scores read from answers of value functions, in WMA's published ways and in ours (sources.md B3.2). Core."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeVar

Choice = TypeVar("Choice", bound=Hashable)

RATIONALE, NEXT_STATE = "[Rationale]", "[Next State]"
LIKERT = range(1, 6)
_LIKERT = re.compile(r"\[Score\]:\s*(\d+)")
_WEBARENA = tuple(re.compile(start + r"\s*([\d.]+)") for start in (r"\[Score\]", "score of", "Score:"))
_TAGGED = re.compile(r"\[Score\]\W{0,6}([\d.]+)", re.IGNORECASE)
_LENIENT = re.compile(r"score\W{0,3}(?:of|is)?\W{0,3}([\d.]+)", re.IGNORECASE)


class Valuation(NamedTuple):
    """The mean of an outcome's grades, None where no answer could be read, and the grade read from each answer."""

    mean: float | None
    each: tuple[float | None, ...]


class NextState(NamedTuple):
    """A world model's answer in its parts."""

    rationale: str
    text: str


class Frequent(NamedTuple):
    """The most frequent samples and their shares, the most frequent first; of equally frequent ones the first drawn is
    first."""

    choices: tuple[Any, ...]
    shares: tuple[float, ...]


def likert(answers: Sequence[str]) -> Valuation:
    """1 to 5 after "[Score]:"; every other answer counts as 0."""
    each = [float(found[1]) if (found := _LIKERT.search(answer)) else 0.0 for answer in answers]
    return _mean([value if value in LIKERT else 0.0 for value in each])


def value_model_webarena(answers: Sequence[str]) -> Valuation:
    """The mean of the values, 0 to 1, that answers write in three spellings (`_WEBARENA`); answers that cannot be
    read are left out."""
    read = [_webarena(answer) for answer in answers]
    valid = [value for value in read if value is not None]
    return Valuation(_mean(valid).mean, tuple(value or 0.0 for value in read))


def value_model_mind2web(answers: Sequence[str]) -> Valuation:
    """0 to 1 after "[Score]" alone; answers that cannot be read count as 0."""
    return _mean([_fraction(found[1]) or 0.0 if (found := _WEBARENA[0].search(answer)) else 0.0 for answer in answers])


def corrected(answers: Sequence[str]) -> Valuation:
    """1 to 5 in any usual spelling, where it is given last, after the tag before anywhere else: a reason may speak of
    scores too. Answers that cannot be read are None and left out of the mean."""
    read = [_graded(answer) for answer in answers]
    valid = [value for value in read if value is not None]
    return Valuation(_mean(valid).mean if valid else None, tuple(read))


def is_graded(answer: str) -> bool:
    """Whether an answer states any number as its score, in whatever spelling."""
    return bool(_stated(answer))


def progress(answers: Sequence[str]) -> Valuation:
    """0 to 1 in any usual spelling, given last; answers that cannot be read are left out of the mean."""
    read = [_fraction(found[-1].rstrip(".")) if (found := _stated(answer)) else None for answer in answers]
    valid = [value for value in read if value is not None]
    return Valuation(_mean(valid).mean if valid else None, tuple(read))


def next_state(answer: str) -> NextState:
    """The parts of an answer after its two tags, rationale and next state; both empty where the second tag is
    missing."""
    before, tag, after = answer.partition(NEXT_STATE)
    rationale = before.partition(RATIONALE)[2] if tag else ""
    return NextState(rationale.strip(), after.strip())


def frequent(samples: Sequence[Choice], k: int) -> Frequent:
    counted = Counter(samples).most_common(k)
    total = sum(count for _, count in counted)
    return Frequent(tuple(choice for choice, _ in counted), tuple(count / total for _, count in counted))


def progress_labels(tasks: Sequence[tuple[str, int]]) -> list[str]:
    """What a value function learns as the value of each (task, place of the step): the share of the task that is done;
    never 1."""
    lengths: dict[str, int] = {}
    for task, place in tasks:
        lengths[task] = max(lengths.get(task, 0), place + 1)
    return [str(round((place + 1) / (lengths[task] + 1), 2)) for task, place in tasks]


READINGS: dict[str, Callable[[Sequence[str]], Valuation]] = {"faithful": likert, "corrected": corrected}
"""How the answers of a prompted value function become one score, by preset."""


PROGRESS: dict[str, Callable[[Sequence[str]], Valuation]] = {
    "webarena": value_model_webarena,
    "mind2web": value_model_mind2web,
}
"""The same, by `imagine.loop`, in the preset `faithful` for a value function that was trained to say how far on the way
a step is."""


def _stated(answer: str) -> list[str]:
    """The numbers that are given as a score, those after the tag before any others."""
    return _TAGGED.findall(answer) or _LENIENT.findall(answer)


def _graded(answer: str) -> float | None:
    found = _stated(answer)
    value = _number(found[-1].rstrip(".")) if found else None
    return value if value is not None and LIKERT[0] <= value <= LIKERT[-1] else None


def _webarena(answer: str) -> float | None:
    found = next((match for pattern in _WEBARENA if (match := pattern.search(answer))), None)
    return _fraction(found[1].rstrip(".")) if found else None


def _fraction(text: str) -> float | None:
    value = _number(text)
    return value if value is not None and 0 <= value <= 1 else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _mean(values: Sequence[float]) -> Valuation:
    return Valuation(sum(values) / len(values) if values else 0.0, tuple(values))

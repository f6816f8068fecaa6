"""What an action will change, from what the most similar actions have changed. Core: a store of cases is passed in."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from agents.types import Action
from agents.world_model.calibration import Calibration
from agents.world_model.effects import Effect, Happening, applied, difference_of, facts
from agents.world_model.lines import PageLine, PageLines
from agents.world_model.targets import on_shown
from annotations.dom.accessibility import accessibility_tree
from annotations.dom.differences.items import PageDifference
from annotations.dom.tree import Element

NEIGHBOURS = 12  # past cases that are looked at
SHARPNESS = 20.0  # how much more a more similar case counts
SAME_NAME, SAME_SITE = 0.15, 0.1  # what an element of the same name, and the same website, add to the similarity
NOTHING = "The page is expected to stay as it is."


@dataclass(frozen=True)
class Situation:
    """An action that would be done on a page for an instruction. `conversation`: steps of this one are not used as
    cases; 0 for none."""

    instruction: str
    tree: str  # the page as an accessibility tree
    action: Action
    website: str = ""
    conversation: int = 0

    @classmethod
    def of(
        cls,
        instruction: str,
        page: Element,
        action: Action,
        website: str = "",
        conversation: int = 0,
        tree: str | None = None,
    ) -> "Situation":
        """An action on a page: on the line of its `tree`, made where it is not given, that stands for its element."""
        tree = accessibility_tree(page) if tree is None else tree
        return cls(instruction, tree, on_shown(action, page, _lines(tree)), website, conversation)

    @property
    def lines(self) -> PageLines:
        return _lines(self.tree)

    @property
    def target(self) -> PageLine:
        """The element that is acted on; a nameless one where the page does not show it."""
        return self.lines.at(self.action.node_id) or PageLine(self.action.node_id or "", "generic", "")

    @property
    def is_possible(self) -> bool:
        """Whether what is chosen can be: not so where a list tells its options, and none is called so."""
        if self.action.operation != "SELECT":
            return True
        asked = " ".join(self.action.value.casefold().split())
        offered = [line.name.casefold() for line in self.lines.inside(self.target) if line.role == "option"]
        return not offered or any(asked in one or one in asked for one in offered if one)

    @property
    def key(self) -> str:
        """The text by whose vector similar cases are found."""
        target = self.target
        value = f" {self.action.value}" if self.action.value else ""
        return f"{self.action.operation} {target.role} {target.name}{value}\n{self.website}\n{self.instruction}"


@lru_cache(maxsize=64)
def _lines(tree: str) -> PageLines:
    return PageLines.of(tree)


@dataclass(frozen=True)
class PastCase:
    """A past transition that was found for a situation; `similarity` is the cosine of both key texts."""

    key: int
    operation: str
    role: str
    name: str
    website: str
    effects: tuple[Effect, ...]
    similarity: float


class TransitionStore(Protocol):
    """Finds past transitions. The shell implements it over pgvector, tests over lists."""

    def similar(self, situations: Sequence[Situation], k: int) -> list[list[PastCase]]:
        """The k most similar cases of each, by operation, element, website and instruction; never of the situation's
        own conversation."""
        ...


@dataclass(frozen=True)
class Prediction:
    """What an action is expected to change. `confidence`: the share of such predictions that were right in everything;
    `raw`: the share of the cases that say so, by weight; `cases`: the transitions that it follows from."""

    happenings: tuple[Happening, ...]
    confidence: float
    raw: float
    cases: tuple[PastCase, ...] = ()

    @property
    def difference(self) -> PageDifference:
        return difference_of(self.happenings)

    @property
    def facts(self) -> Counter[str]:
        return facts(self.happenings)

    @property
    def text(self) -> str:
        """The prediction in words, a line for each fact."""
        return "\n".join(self.facts.elements()) or NOTHING


@dataclass(frozen=True)
class _Vote:
    weight: float
    happenings: tuple[Happening, ...]


@dataclass
class RetrievedEffects:
    """A world model without training: it looks up what happened in the most similar cases, carries that over to the
    page at hand, and expects what most of them say, by weight."""

    store: TransitionStore
    calibration: Calibration = field(default_factory=Calibration)
    elsewhere: Calibration = field(default_factory=Calibration)  # where no case is of the website
    neighbours: int = NEIGHBOURS

    def predict(self, situations: Sequence[Situation]) -> list[Prediction]:
        """A prediction for each situation. Where there is no case at all, or where what is chosen is not there, it
        expects nothing, with confidence 0: no curve was fitted on such predictions."""
        found = self.store.similar(situations, self.neighbours)
        return [self._prediction(situation, cases) for situation, cases in zip(situations, found, strict=True)]

    def _prediction(self, situation: Situation, cases: Sequence[PastCase]) -> Prediction:
        if not cases or not situation.is_possible:
            return Prediction((), 0.0, 0.0)
        top = max(nearness(situation, case) for case in cases)
        votes = [_vote(situation, case, SHARPNESS * (nearness(situation, case) - top)) for case in cases]
        expected, share = _most_expected(votes)
        is_known = any(case.website == situation.website for case in cases)
        curve = self.calibration if is_known else self.elsewhere
        return Prediction(expected, curve.of(share), share, tuple(cases))


def nearness(situation: Situation, case: PastCase) -> float:
    """How near a case is to a situation, 0 to 1: by the cosine, and by whether it has the same element's name and the
    same website."""
    target = situation.target
    same_name = bool(target.name) and (case.role, case.name) == (target.role, target.name)
    same_site = bool(situation.website) and case.website == situation.website
    whole = 1 + SAME_NAME + SAME_SITE
    return (case.similarity + SAME_NAME * same_name + SAME_SITE * same_site) / whole


def _vote(situation: Situation, case: PastCase, exponent: float) -> _Vote:
    return _Vote(math.exp(exponent), tuple(applied(case.effects, situation.lines, situation.action)))


def _most_expected(votes: Sequence[_Vote]) -> tuple[tuple[Happening, ...], float]:
    """What most votes say by weight, as a whole (of equals, the most similar case's), and its share of the weight. Put
    together of what each fact's majority says, it would be what no case has shown."""
    weights: Counter[frozenset[tuple[str, int]]] = Counter()
    said: dict[frozenset[tuple[str, int]], tuple[Happening, ...]] = {}
    for vote in votes:
        told = frozenset(facts(vote.happenings).items())
        weights[told] += vote.weight  # type: ignore[assignment]
        said.setdefault(told, vote.happenings)
    most, weight = weights.most_common(1)[0]
    return said[most], weight / sum(weights.values())

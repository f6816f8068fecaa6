"""Two versions of one annotation beside each other: the stretches of steps that both cut off, and what differs in them.
Core.

A version maps the first step of each part to what the part says: {"instruction", "rewrite", "mentions"}.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PartSays = Mapping[str, Any]
WholeVersion = Mapping[int, PartSays]
PlacedPart = tuple[int, PartSays]
TEXTS = ("instruction", "rewrite")


@dataclass(frozen=True)
class Stretch:
    """The steps from one cut that both versions have up to the next such cut, with the parts of each version there:
    (first step, what it says). Where both have one part, they cut these steps alike."""

    steps: Sequence[int]
    first: list[PlacedPart]
    second: list[PlacedPart]

    @property
    def step(self) -> int:
        """Its first step, by which decisions name it."""
        return self.steps[0]

    @property
    def differs_in(self) -> str:
        """ "cuts", "words" or "mentions"; "" where both say the same. Spaces do not count."""
        if len(self.first) > 1 or len(self.second) > 1:
            return "cuts"
        (_, ours), (_, theirs) = self.first[0], self.second[0]
        if any(" ".join(ours[name].split()) != " ".join(theirs[name].split()) for name in TEXTS):
            return "words"
        return "" if _pointed(ours) == _pointed(theirs) else "mentions"


def stretches(order: Sequence[int], first: WholeVersion, second: WholeVersion) -> list[Stretch]:
    """The stretches of two versions, in order. `order`: the steps; in both a part begins at the first one."""
    starts = [place for place, step in enumerate(order) if step in first and step in second]
    found = []
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        within = order[start:end]
        ours, theirs = ([(step, one[step]) for step in within if step in one] for one in (first, second))
        found.append(Stretch(within, ours, theirs))
    return found


def reworded(parts: Sequence[PartSays], stretch: Stretch) -> list[PlacedPart]:
    """Parts that somebody wrote anew ({"step", "instruction", "rewrite"}) in place of those of a stretch, each with the
    mentions that the first version has at its step, where it has none the second, as far as their words are still
    there."""
    known = [dict(stretch.first), dict(stretch.second)]
    found: list[PlacedPart] = []
    for part in parts:
        marked = (one[part["step"]]["mentions"] for one in known if part["step"] in one)
        mentions: list[dict[str, Any]] = next(filter(None, marked), [])
        kept = [mention for mention in mentions if mention.get("text", "") in part["rewrite"]]
        found.append((part["step"], {name: part[name] for name in TEXTS} | {"mentions": kept}))
    return found


def _pointed(says: PartSays) -> list[tuple[str, str, int, str]]:
    """What the mentions mark and point to, wherever that is and however they are named."""
    found = []
    for mention in says["mentions"]:
        to = mention.get("antecedent") or {}
        found.append((mention["phenomenon"], mention.get("text", ""), to.get("step", -1), to.get("text", "")))
    return sorted(found)

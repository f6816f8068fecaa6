"""Places that an instruction names. Core."""

import re

from agents.learned.instruction import ORDINALS, Instruction

_ORDINAL = re.compile(r"\b(\d{1,3})(?:st|nd|rd|th)\b")


def places_named(instruction: Instruction) -> list[int]:
    """3 for "3rd" and for "third"."""
    named = [ORDINALS.index(word) + 1 for word in instruction.lower if word in ORDINALS]
    return [*map(int, _ORDINAL.findall(instruction.text)), *named]

"""Checks of instructions while they are written: they warn, with a place and a sentence, and never block. Core."""

from collections.abc import Sequence

from annotations.edits.warned import PartText, Warned
from annotations.text.alike_words import says
from annotations.text.garbled import garbled

GARBLED = "garbled"


def check_instructions(parts: Sequence[PartText], tasks: Sequence[str]) -> list[Warned]:
    """Warnings about a decomposition: values that a part's steps type must have been asked for by then, and punctuation
    is not garbled.

    `tasks`: the recorded instructions. A value that they do not say is not missed in any part.
    """
    found: list[Warned] = []
    for place, part in enumerate(parts):
        said = [other.instruction for other in parts[: place + 1]]
        if wrong := garbled(part.instruction, tasks):
            text = f"The punctuation of part {place + 1} is garbled: “{wrong}”."
            found.append(Warned(part.step, "instruction", GARBLED, text))
        asked = [value for value in dict.fromkeys(part.values) if any(says(task, value) for task in tasks)]
        for value in asked if part.instruction.strip() else ():
            if not any(says(text, value) for text in said):
                text = f"The steps enter “{value}”, which no instruction up to here asks for."
                found.append(Warned(part.step, "instruction", "value-lost", text))
    return found

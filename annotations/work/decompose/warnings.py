"""Checks of instructions while they are written: they warn, with a place and a sentence, and never block. Core."""

from collections.abc import Sequence

from annotations.edits.warned import PartText, Warned
from annotations.text.alike_words import says
from annotations.text.garbled import garbled
from annotations.work.decompose.invented import AskedFor

# The codes of warnings that are asked about before a text is handed in.
GARBLED, INVENTED, VALUE_LOST = "garbled", "invented", "value-lost"


def check_instructions(parts: Sequence[PartText], tasks: Sequence[str], pressed: Sequence[str] = ()) -> list[Warned]:
    """Warnings about a decomposition: values that a part's steps type must have been asked for by then, punctuation is
    not garbled, and nothing is said that no source says.

    `tasks`: the recorded instructions. A value that they do not say is not missed in any part. `pressed`: what the
    steps are called.
    """
    source = AskedFor(tasks, [value for part in parts for value in part.values], pressed)
    found: list[Warned] = []
    for place, part in enumerate(parts):
        said = [other.instruction for other in parts[: place + 1]]
        if wrong := garbled(part.instruction, tasks):
            text = f"The punctuation of part {place + 1} is garbled: “{wrong}”."
            found.append(Warned(part.step, "instruction", GARBLED, text))
        if part.instruction.strip() and (why := source.lacks(part.instruction)):
            found.append(Warned(part.step, "instruction", INVENTED, f"Part {place + 1}: {why}"))
        asked = [value for value in dict.fromkeys(part.values) if any(says(task, value) for task in tasks)]
        for value in asked if part.instruction.strip() else ():
            if not any(says(text, value) for text in said):
                text = f"The steps enter “{value}”, which no instruction up to here asks for."
                found.append(Warned(part.step, "instruction", VALUE_LOST, text))
    return found

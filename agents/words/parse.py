"""Read a planner's reply: which element and which "OP value" it names (planners spec 4.5).

Two forms: multiple choice ("C.\\nAction: TYPE\\nValue: york") and generation ("Element: (a id=1 ...").
Choices are the pairs (backend node id, text) that the prompt listed, in its order.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

ListedElement = Sequence[str]  # backend node id, text

NONE_OPTION = "A"  # "A. None of the above"
FIRST_OPTION = "B"

_ACTION = re.compile(r"Action: (CLICK|SELECT|TYPE)")
_VALUE = re.compile(r"Value: (.*)$", re.MULTILINE)
_ELEMENT = re.compile(r"Element: (.*)$", re.MULTILINE)
_ID = re.compile(r"id=(\d+)")


@dataclass(frozen=True)
class ParseQuirks:
    """Errors of the published parsers that can be reproduced, each named after its number (`Quirks`)."""

    q8_empty_reply_crashes: bool  # IndexError for an empty multiple-choice reply; else it means "none"
    q9_option_before_a_wraps: bool  # "@", "?", ... pick a choice counted from the end; else "none"
    q10_unreadable_picks_first: bool  # an element line without a usable id nearly always picks choice 0


FAITHFUL = ParseQuirks(True, True, True)
CORRECTED = ParseQuirks(False, False, False)


@dataclass(frozen=True)
class ParsedReply:
    """A parsed reply: the chosen element's backend node id (None: no element) and the action text "OP value"."""

    element: str | None
    action: str


def parse_multichoice(text: str, choices: Sequence[ListedElement], quirks: ParseQuirks = FAITHFUL) -> ParsedReply:
    """The element of the reply's option letter; raises IndexError for an empty reply under quirk Q8."""
    option, action = read_option(text, quirks)
    return ParsedReply(option_element(option, choices, quirks), action)


def parse_generation(text: str, choices: Sequence[ListedElement], quirks: ParseQuirks = FAITHFUL) -> ParsedReply:
    """The element whose id or text the reply repeats; under quirk Q10 no choices at all raise ValueError."""
    text = text.strip()
    action = read_action(text)
    if text.startswith("None"):
        return ParsedReply(None, action)
    found = _ELEMENT.search(text)
    line = found.group(1) if found else ""
    number = _ID.search(line)
    if number and int(number.group(1)) < len(choices):
        return ParsedReply(choices[int(number.group(1))][0], action)
    if quirks.q10_unreadable_picks_first:
        return ParsedReply(_most_similar_pair(line, choices), action)
    return ParsedReply(_most_similar_text(line, choices), action)


def read_option(text: str, quirks: ParseQuirks = FAITHFUL) -> tuple[str, str]:
    """The option (first character, "A" for an empty reply unless quirk Q8 raises IndexError) and the action text."""
    text = text.strip()
    if not text and not quirks.q8_empty_reply_crashes:
        return NONE_OPTION, read_action(text)
    return text[0], read_action(text)


def read_action(text: str) -> str:
    """The text "OP value" from the first "Action:" and the first "Value:"; both may be missing, which leaves " "."""
    operation = _ACTION.search(text)
    value = _VALUE.search(text)
    return f"{operation.group(1) if operation else ''} {value.group(1).strip() if value else ''}"


def option_element(option: str, choices: Sequence[ListedElement], quirks: ParseQuirks = FAITHFUL) -> str | None:
    """Backend node id of an option letter; None for "A" and for options beyond the choices."""
    index = ord(option) - ord(FIRST_OPTION)
    lowest = -len(choices) if quirks.q9_option_before_a_wraps else 0
    if option == NONE_OPTION or not lowest <= index < len(choices):
        return None
    return choices[index][0]


def _most_similar_pair(line: str, choices: Sequence[ListedElement]) -> str:
    """Q10: the published code compares the line's characters with the two strings of each pair.

    Only a node id or text of one character can be equal to a character, so nearly every ratio is 0 and the
    first choice wins.
    """
    ratios = [SequenceMatcher(None, line, list(choice)).ratio() for choice in choices]
    return choices[ratios.index(max(ratios))][0]


def _most_similar_text(line: str, choices: Sequence[ListedElement]) -> str | None:
    """What Q10 meant to do: the choice whose text is most like the line; None when none has anything in common."""
    ratios = [SequenceMatcher(None, line, choice[1]).ratio() for choice in choices]
    best = max(ratios, default=0.0)
    return choices[ratios.index(best)][0] if best > 0 else None

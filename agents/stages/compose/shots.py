"""Worked examples for prompts of pages to models that were not trained on the task. Core."""

import re

from agents.prompts.packs import Pack
from agents.words.sequence import PagePart
from agents.words.shown_page import AnswerForm

_SHOWN = re.compile(r"'''\n(.*?)\n'''\n\n(.*)", re.DOTALL)  # a page and what is asked about it


def examples(shots: int) -> str:
    """The sentence that so many worked examples are shown, to append to another sentence; "" for none."""
    return f" {shots} worked examples come first." if shots else ""


def shots_text(form: AnswerForm) -> str:
    """The text of a prompt pack that holds the examples with answers of that form."""
    return f"page_shots_{form.name}"


def shot_messages(pack: Pack, form: AnswerForm, shots: int) -> tuple[PagePart, ...]:
    """The first examples of a pack, three messages each: page, question, answer."""
    said = pack.prompt(shots_text(form)).messages()[: 2 * shots] if shots else []
    messages: list[PagePart] = []
    for (_, question), (_, answer) in zip(said[::2], said[1::2], strict=True):
        shown = _SHOWN.fullmatch(question)
        page, asked = shown.groups() if shown else ("", question)
        messages += [PagePart("webpage", page), PagePart("human", asked), PagePart("gpt", answer)]
    return tuple(messages)

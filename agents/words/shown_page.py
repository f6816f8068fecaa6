"""Format one page with a task, as the MindAct family shows it to a planner (sources.md M4.1).

The same text serves the current step and memory snippets of earlier steps; snippets have no block of previous actions.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from agents.prompts.packs import Pack, webnav
from annotations.dom.prune import prune_tree
from annotations.dom.text import tree_repr
from annotations.dom.tree import NODE_ID, Element, parse
from annotations.sandbox.deadline import page_deadline

CHOICE_WORDS = 10  # an element is offered by the first words of its text
PREVIOUS_ACTIONS = 5
_ELEMENT_LINE = re.compile(r"^Element: .*\n")


@dataclass(frozen=True, slots=True)
class PageTask:
    """One step for a planner: the instruction, the actions so far and, when known, the gold action."""

    instruction: str  # confirmed_task
    previous_actions: Sequence[str] = ()  # action representations of the turn, oldest first
    operation: str = ""  # gold operation (CLICK, TYPE, SELECT); only read when there is a gold element
    value: str = ""


@dataclass(frozen=True, slots=True)
class PageWording:
    """The fixed words of the prompt; "" for those that a recipe does not use."""

    header: str
    question_generation: str
    question_multichoice: str
    none: str = "None of the above"
    system: str = ""
    rationale_none: str = ""  # why none of the elements was right

    @classmethod
    def of(cls, pack: Pack) -> "PageWording":
        return cls(
            pack.words("page_header"),
            pack.words("page_question_generation"),
            pack.words("page_question_multichoice"),
            pack.words("page_none"),
            pack.words("page_system"),
            pack.words("rationale_none"),
        )


OURS = PageWording.of(webnav())


class AnswerForm:
    """How a planner answers on a page that it is shown: here with the element's text in full. Operation and value
    follow on lines of their own."""

    name: ClassVar[str] = "generation"  # as texts of a prompt pack are named by it
    none: ClassVar[str] = "None"  # the whole answer where no element is right
    texts: ClassVar[frozenset[str]] = frozenset({"page_question_generation"})  # of a pack, that its question holds

    def question(self, wording: PageWording, choices: Sequence[str]) -> str:
        """What is asked about a page, with the elements to choose from where they are listed."""
        return wording.question_generation

    def element(self, index: int, text: str) -> str:
        """The line by which an answer names one of the choices."""
        return f"Element: {text}"

    def without_element(self, answer: str) -> str:
        """Operation and value of an answer, as they were written."""
        return _ELEMENT_LINE.sub("", answer)


class LetterForm(AnswerForm):
    """The elements are listed with letters, and the answer begins with one of them."""

    name = "multichoice"
    none = "A."
    texts = frozenset({"page_question_multichoice", "page_none"})

    def question(self, wording: PageWording, choices: Sequence[str]) -> str:
        listed = [f"{self.element(index, text)} {text}" for index, text in enumerate(choices)]
        return "\n".join([wording.question_multichoice, "", f"{self.none} {wording.none}", *listed]) + "\n"

    def element(self, index: int, text: str) -> str:
        return f"{choice_letter(index)}."

    def without_element(self, answer: str) -> str:
        return answer[len(self.none) :]


IN_FULL, BY_LETTER = AnswerForm(), LetterForm()


@dataclass(frozen=True, slots=True)
class PageInput:
    """A formatted page: what the planner sees, what it should answer, and which element each choice is."""

    context: str  # the pruned page as text
    input: str  # task, previous actions, question and choices
    target: str  # the gold answer; the answer "none" when no candidate is gold
    choices: tuple[tuple[str, str], ...]  # (backend node id, text) in document order; choice i is printed as id=i
    id_mapping: dict[str, int] = field(default_factory=dict)  # backend node id -> printed id
    gold_index: int = -1  # index of the gold choice, -1 for none


@page_deadline()
def format_input(
    page: Element | str | bytes,
    candidate_ids: Collection[str],
    task: PageTask,
    form: AnswerForm,
    gold_id: str | None = None,
    previous_k: int | None = PREVIOUS_ACTIONS,
    keep_html_brackets: bool = False,
    wording: PageWording = OURS,
) -> PageInput:
    """Format the surroundings of some candidates of a page for one planner call.

    The order of `candidate_ids` does not matter: choices follow the document. `gold_id=None`, or an id that is not
    among the candidates, asks for the answer "none". `previous_k=None` is the form of memory snippets, without
    previous actions. Raises IndexError for a candidate that is not on the page (see `prune_tree`).
    """
    root = page if isinstance(page, Element) else parse(page)
    pruned = prune_tree(root, candidate_ids)
    context, id_mapping = tree_repr(pruned, keep_html_brackets=keep_html_brackets)
    choices = tuple(
        (node.attrib[NODE_ID], _choice_text(node, id_mapping, keep_html_brackets))
        for node in pruned.iter("*")
        if NODE_ID in node.attrib
    )
    gold_index = -1 if gold_id is None else id_mapping.get(gold_id, -1)
    return PageInput(
        context=context,
        input=_input_text(task, form, [text for _, text in choices], previous_k, wording),
        target=_target_text(task, form, gold_index, choices[gold_index][1] if gold_index >= 0 else ""),
        choices=choices,
        id_mapping=id_mapping,
        gold_index=gold_index,
    )


def gold_context(
    page: Element | str | bytes, gold_id: str, id_mapping: dict[str, int], keep_html_brackets: bool = False
) -> str:
    """Text of the page pruned around the gold element alone, numbered like the page it came from (for rationales).

    "" when the gold element is not among the formatted candidates.
    """
    if gold_id not in id_mapping:
        return ""
    root = page if isinstance(page, Element) else parse(page)
    return tree_repr(prune_tree(root, [gold_id]), dict(id_mapping), keep_html_brackets)[0]


def _choice_text(node: Element, id_mapping: dict[str, int], keep_html_brackets: bool) -> str:
    return " ".join(tree_repr(node, id_mapping, keep_html_brackets)[0].split()[:CHOICE_WORDS])


def choice_letter(index: int) -> str:
    """Letter printed for choice `index`; A is "none of the above"."""
    return chr(ord("B") + index)


def _input_text(
    task: PageTask, form: AnswerForm, choices: list[str], previous_k: int | None, wording: PageWording
) -> str:
    lines = [wording.header, f"Task: {task.instruction}"]
    if previous_k is not None:
        lines += ["Previous actions:", *(task.previous_actions[-previous_k:] or ["None"])]
    return "\n".join([*lines, form.question(wording, choices)])


def _target_text(task: PageTask, form: AnswerForm, gold_index: int, gold_text: str) -> str:
    if gold_index == -1:
        return form.none
    value = "" if task.operation == "CLICK" else f"Value: {task.value}"
    return f"{form.element(gold_index, gold_text)}\nAction: {task.operation}\n{value}"

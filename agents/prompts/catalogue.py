"""Every text that a stage or a job may ask of a pack: what it is for, what is filled in, what form it has. Core."""

from dataclasses import dataclass
from typing import Literal

from agents.prompts.marks import BadText
from agents.prompts.render import Prompt

Form = Literal["words", "messages", "pairs"]
MAX_TEXT = 100_000  # characters
CHAT_ROLES = ("system", "user", "assistant")


@dataclass(frozen=True)
class TextKind:
    """`form`: plain words, messages of any role, or pairs of a question by the user and its answer. `filled`: the
    placeholders that it must hold, each at least once."""

    what: str
    form: Form = "words"
    filled: frozenset[str] = frozenset()


def _kind(what: str, form: Form = "words", filled: str = "") -> TextKind:
    return TextKind(what, form, frozenset(filled.split()))


TEXTS: dict[str, TextKind] = {
    "page_system": _kind("tells a planner of pages what it is"),
    "page_header": _kind("leads from the page to the task"),
    "page_question_generation": _kind("asks for element, action and value in full"),
    "page_question_multichoice": _kind("asks for the letter of an element"),
    "page_none": _kind("the choice of none of the elements"),
    "page_shots_generation": _kind("worked examples with answers in full", "pairs"),
    "page_shots_multichoice": _kind("worked examples with letters", "pairs"),
    "rationale": _kind("asks why an action was right", "messages", "page task actions answer"),
    "rationale_none": _kind("why none of the elements was right"),
    "trajectory_system": _kind("tells a planner of trajectories what it is and how it acts"),
    "abstraction_system": _kind("the same, where no trajectory is shown"),
    "abstraction_demos": _kind("worked examples without trajectories", "pairs"),
    "objective": _kind("asks what the next action is for", "messages", "task trajectory page"),
    "rewrite": _kind("asks for an instruction that stands alone", "messages", "website earlier instruction"),
    "workflow_induction": _kind("asks for workflows that name elements by their texts", "messages", "examples"),
    "workflow_induction_abstract": _kind("asks for workflows that say what elements are for", "messages", "examples"),
    "workflow_summary": _kind("the last line before the workflows that are asked for"),
    "weblinx_system": _kind(
        "tells an action model what it is and what was said",
        filled="utterances last_utterances height width turns",
    ),
    "weblinx_candidates": _kind("lists elements for an action model", filled="candidates"),
    "weblinx_request": _kind("asks an action model for the next call"),
    "miniwob_system": _kind("tells a planner of small pages what it can do"),
    "world_model": _kind("asks what an action will change", "messages", "objective previous observation action"),
    "world_model_page": _kind(
        "asks for the whole page after an action", "messages", "objective previous observation action"
    ),
    "value": _kind(
        "asks how much an action would help", "messages", "objective previous observation action next_state"
    ),
    "value_page": _kind(
        "asks the same with the whole page after it", "messages", "objective previous observation action next_state"
    ),
    "value_only": _kind("asks the same without what it leads to", "messages", "objective previous observation action"),
    "imagined_action": _kind("asks for an action on an imagined page", "messages", "objective previous observation"),
    "imagined_page": _kind("shows a page with what is expected to have changed on it", filled="observation change"),
    "transition_refine": _kind("asks for the key changes of a page", "messages", "added removed changed"),
    "transition_describe": _kind(
        "asks for a transition in words, as if it were predicted",
        "messages",
        "objective previous observation action next_observation changes",
    ),
    "probe_pages": _kind("asks which of two pages comes next", "messages", "objective observation action first second"),
    "probe_actions": _kind("asks which of ten actions is the best", "messages", "objective observation actions"),
    "propose_cuts": _kind("asks for the parts of a session", filled="parts steps"),
    "propose_rewrites": _kind("asks for instructions that refer to earlier ones", filled="requests phenomena"),
    "propose_again": _kind("sends back a proposal that cannot be used", filled="error"),
    "judge_points": _kind("asks a judge what a task demands", "messages", "task"),
    "judge_observation": _kind("asks how much a page says of that", "messages", "task points page action"),
    "judge_verdict": _kind("asks whether the task was done", "messages", "task points actions observations"),
    "judge_trajectory": _kind(
        "asks that, what else was done, how directly, and whether in circles",
        "messages",
        "website task actions first last",
    ),
    "scan_reason": _kind(
        "asks which of a list of reasons explains a failed step",
        "messages",
        "instruction earlier before done reply gold page reasons",
    ),
    "user_instruction": _kind(
        "has a user that is a model say what is next in its own words", "messages", "website earlier request"
    ),
    "user_answer": _kind(
        "has such a user answer a question of the agent", "messages", "website said request unsaid before question"
    ),
    "user_content": _kind(
        "asks such a user whether it got what it asked for", "messages", "website request actions page"
    ),
}
"""Name -> its kind, in the order in which packs show them."""


def induction_texts(style: str) -> tuple[str, str]:
    """The texts that ask for workflows: whole prompt and last line. `style`: elements by their own names (concrete),
    or by their meaning in braces in place of these too (abstract)."""
    return {"concrete": "workflow_induction", "abstract": "workflow_induction_abstract"}[style], "workflow_summary"


def check_text(name: str, text: str) -> None:
    """Raise BadText unless this can be the text of that name: its marks can be read, and its placeholders are the right
    ones. Its form is not checked: see `misfit`."""
    if name not in TEXTS:
        raise BadText(f"there is no text {name!r}; there are {', '.join(TEXTS)}")
    if len(text) > MAX_TEXT or "\0" in text:
        raise BadText(f"a text has at most {MAX_TEXT:,} characters, and no NUL")
    prompt, wanted = Prompt(name, text), TEXTS[name].filled
    _ = prompt.marked
    if lacking := sorted(wanted - prompt.placeholders()):
        raise BadText(f"{_placeholders(lacking)} must stand in it")
    if unknown := sorted(prompt.placeholders() - wanted):
        raise BadText(f"nothing is filled in for {_placeholders(unknown)}")


def misfit(prompt: Prompt) -> str:
    """Why the form of a text does not fit its use (images, tools, roles), as the end of a sentence; "" where it
    does."""
    form, found = TEXTS[prompt.name].form, prompt.marked
    roles = [said.role for said in found.messages]
    if images := [name for said in found.messages for name in said.images]:
        return f"shows images ({', '.join(images)}), which it cannot show there"
    if found.tools:
        return f"names tools ({', '.join(tool['name'] for tool in found.tools)}), which it cannot offer"
    if form == "words" and roles != [""]:
        return "has messages of its own, where it takes plain words"
    if form == "pairs" and roles != ["user", "assistant"] * (len(roles) // 2):
        return "is no row of messages of the user, each with an answer of the assistant"
    if other := [role for role in roles if role and role not in CHAT_ROLES]:
        return f"has a message of the role {other[0]}, where it takes {', '.join(CHAT_ROLES)}"
    return ""


def _placeholders(names: list[str]) -> str:
    return ", ".join(f"{{{{{name}}}}}" for name in names)

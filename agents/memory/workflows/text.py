"""The texts of Agent Workflow Memory: what workflows are induced from, how they are written and read (sources.md M8).

Core. A workflow is a block of lines: "## name", one line saying where it applies, then its steps as action
representations with {placeholders}; blank lines separate workflows.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agents.llm.protocol import Message, exactly
from agents.prompts.catalogue import induction_texts
from agents.prompts.packs import Pack, webnav

EXAMPLE_SITE = "delta"  # of the prompt's worked example; models repeat it, so the filter drops what mentions it
MIN_LINES = 4  # name, description and two steps
MAX_OFFERED = 60  # actions that a small model chooses among

_CLICK_BY_NUMBER = re.compile(r"""\w*click\((['"])\d+\1\)""")
_FILL_BY_TEXT = re.compile(r"""fill\(\s*['"]""")


@dataclass(frozen=True, slots=True)
class WorkflowText:
    """A workflow as read from a model's answer."""

    website: str
    name: str  # without the leading "## "
    description: str
    steps: tuple[str, ...]

    @property
    def content(self) -> str:
        """The block as it is shown in prompts."""
        return "\n".join((f"## {self.name}", self.description, *self.steps))

    @property
    def key(self) -> str:
        """The text by which AWM finds it; MIMS uses the description alone."""
        return f"{self.name}\n{self.description}"


def format_examples(examples: Iterable[tuple[str, Sequence[str]]], prefix: str | None, suffix: str | None) -> str:
    """(task, action representations) of several tasks, numbered from 1, between an opening and a closing line."""
    lines: list[str] = []
    for number, (task, action_reprs) in enumerate(examples, start=1):
        lines += [f"Query #{number}: {task}", "Actions and Environments:", *action_reprs, ""]
    opening = "" if prefix is None else f"{prefix}\n"
    closing = "" if suffix is None else f"\n\n{suffix}"
    return opening + "\n".join(lines) + closing


def offline_prompt(
    website: str,
    domain: str,
    subdomain: str,
    examples: Iterable[tuple[str, Sequence[str]]],
    style: str = "concrete",
    pack: Pack | None = None,
) -> tuple[Message, ...]:
    """What a model is asked, to induce the workflows of a website from (task, action representations) of its tasks."""
    return _induction(examples, f"Website: {domain},{subdomain},{website}", style, pack or webnav())


def online_prompt(
    website: str,
    domain: str,
    subdomain: str,
    examples: Iterable[tuple[str, Sequence[tuple[str, str]]]],
    style: str = "concrete",
    pack: Pack | None = None,
) -> tuple[Message, ...]:
    """What a model is asked, to induce workflows from what an agent has done so far: (task, its calls), a call being
    (last message to the model, answer)."""
    shown = [(task, [f"# {message}\n{answer}" for message, answer in calls]) for task, calls in examples]
    return _induction(shown, f"Website: {domain}, {subdomain}, {website}", style, pack or webnav())


def _induction(examples: Iterable[tuple[str, Sequence[str]]], site: str, style: str, pack: Pack) -> tuple[Message, ...]:
    asks, summary = induction_texts(style)
    text = format_examples(examples, site, pack.prompt(summary).text)
    return tuple(Message(*said) for said in pack.prompt(asks).messages(examples=text))


def workflow_pattern(actions: Iterable[str]) -> str:
    """A regular expression for an answer whose steps are actions of these tasks, for small models that are held to
    one."""
    known = dict.fromkeys(action.splitlines()[0] for action in actions if action.strip())
    step = "|".join(map(exactly, list(known)[:MAX_OFFERED]))
    told = r"Given that you are on the [a-z ]{3,40} page, this workflow [a-z ]{10,80}\."
    return rf"(## [a-z]+(_[a-z]+){{1,4}}\n{told}\n(({step})\n){{2,6}}\n){{2,3}}"


def filter_workflows(text: str, website: str, example_site: str = EXAMPLE_SITE) -> str:
    """A model's answer without what it repeated of the prompt's example.

    Everything up to the header of the website goes, everything from the header of the example on, and every block that
    mentions the example. A header is a single line "# … website"; as published it is put in lower case and the name
    is not, so the header of a website with capitals is never found.
    """
    blocks = text.split("\n\n")
    start = _find_header(blocks, website)
    blocks = blocks[start + 1 :] if start is not None else blocks
    blocks = blocks[: _find_header(blocks, example_site)]
    return "\n\n".join(block for block in blocks if example_site not in block.lower())


def parse_workflows(text: str, website: str) -> list[WorkflowText]:
    """The workflows of a filtered answer; blocks of fewer than four lines are none."""
    blocks = (block.strip().split("\n") for block in text.split("\n\n"))
    return [
        WorkflowText(website, _clean_name(lines[0]), lines[1], tuple(lines[2:]))
        for lines in blocks
        if len(lines) >= MIN_LINES
    ]


def webarena_actions(actions: Iterable[str], idle: bool = True) -> list[str]:
    """The actions of a WebArena trajectory that workflows are made from (sources.md M8.4).

    A click must name its element by a quoted number and a fill by a quoted id. `idle=False`, of the variant where a
    model writes the workflows, leaves out scrolling and waiting too; the variant by rules keeps both.
    """
    return [action for action in actions if _is_usable(action, idle)]


def abstract_trajectory(actions: Iterable[str]) -> str:
    """The names of a trajectory's actions and their first arguments, as one text by which equal trajectories are
    recognised. Messages are taken without their text."""
    parts = []
    for action in actions:
        name, _, arguments = action.partition("(")
        first = arguments.rstrip(")").split(",")[0]
        parts.append(name if name.startswith("send_msg") else f"{name}({first})")
    return "_".join(parts)


def webarena_trajectory(steps: Iterable[tuple[str, str]]) -> str:
    """The steps of a trajectory, each (thought, action), as text in the form that workflows are written in."""
    return "\n\n".join(f"<think>\n{thought}\n</think>\n<action>\n{action}\n</action>" for thought, action in steps)


def _is_usable(action: str, idle: bool) -> bool:
    if "click(" in action:
        return _CLICK_BY_NUMBER.match(action) is not None
    if action.startswith("fill("):
        return _FILL_BY_TEXT.match(action) is not None
    return idle or not action.startswith(("scroll(", "noop("))


def _find_header(blocks: Sequence[str], site: str) -> int | None:
    for index, block in enumerate(blocks):
        line = block.strip()
        if "\n" not in line and line.startswith("#") and line.lower().endswith(site):
            return index
    return None


def _clean_name(line: str) -> str:
    """ "## Workflow 1: `find_flight`" → "find_flight"."""
    name = line.lstrip("#").strip()
    name = name.partition(":")[2].strip() if ":" in name else name
    return name.split("`")[1] if name.count("`") >= 2 else name

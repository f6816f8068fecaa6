"""What a trajectory prompt shows of a step: the page around a few elements, and the action (sources.md M7.6).

Unlike MindAct's pages these keep angle brackets and the backend node ids themselves. Core.
"""

import re
from collections.abc import Sequence

from agents.types import Observation
from agents.words.past_step import PastStep
from annotations.dom.limits import PageError
from annotations.dom.prune import prune_tree
from annotations.dom.text import tree_repr
from annotations.dom.tree import Element, parse
from annotations.sandbox.deadline import page_deadline

PREVIOUS_TOP_K = 3  # elements of the pages of history and exemplars


@page_deadline()
def page_text(page: Element | str, node_ids: Sequence[str]) -> str:
    """The page around these elements. Raises IndexError for an element that is not on the page."""
    root = page if isinstance(page, Element) else parse(page)
    return tree_repr(prune_tree(root, node_ids), keep_html_brackets=True, renumber=False)[0]


def page_or_nothing(observation: Observation, node_ids: Sequence[str]) -> str:
    """The page around some elements; "" where it cannot be read."""
    try:
        return page_text(observation.root, node_ids)
    except (PageError, IndexError):
        return ""


def observed_ids(step: PastStep, top_k: int) -> list[str]:
    """The first positive, whatever its rank, and the best `top_k - 1` negatives (gold leak, Q18).

    Without a positive there are only the negatives.
    """
    negatives = [node_id for node_id, _ in sorted(step.negatives, key=_rank)]
    return [*step.positive_ids[:1], *negatives[: top_k - 1]]


def observation(step: PastStep, top_k: int) -> str:
    """The page around `observed_ids`; a target that cleaning lost is put in front of the last "</html>"."""
    shown = page_text(step.root, observed_ids(step, top_k))
    if step.positive_ids or not step.raw_html or not step.raw_target_id:
        return shown
    before, end, after = shown.rpartition("</html>")
    return f"{before}{recorded_target(step)} {end}{after}" if end else shown


def target_observation(step: PastStep) -> str:
    """The page around the target alone."""
    if step.positive_ids:
        return page_text(step.root, [step.target_id])
    return f"<html> {recorded_target(step)} </html>"


def recorded_target(step: PastStep) -> str:
    """The text of the target in the recorded page, as published: cut out of the text by counting tags of its name.

    A target without closing tag runs on to the next closing tag of that name, where there is one.
    """
    shown = page_text(step.raw_html, [step.raw_target_id])
    opening = re.search(rf"<([^\s<>/]+) id={re.escape(step.raw_target_id)}(?=[\s/>])", shown)
    if opening is None:
        raise ValueError(f"the recorded page does not show its target {step.raw_target_id!r}")
    end = shown.index(">", opening.end()) + 1
    tags = re.compile(rf"</?{re.escape(opening[1])}(?=[\s/>])")
    depth = 1
    for tag in tags.finditer(shown, end):
        if not tag[0].startswith("</"):
            depth += 1
            continue
        depth -= 1
        end = tag.end() + 1
        if depth == 0:
            break
    return shown[opening.start() : end]


def target_act(step: PastStep) -> str:
    """The gold action in the prompt's notation: "CLICK [id]", "TYPE [id] [value]"."""
    return act_text(step.operation, step.target_id, step.value)


def act_text(operation: str, node_id: str, value: str) -> str:
    act = f"{operation} [{node_id}]"
    return act if operation == "CLICK" else f"{act} [{value}]"


def _rank(candidate: tuple[str, int]) -> int:
    return candidate[1]

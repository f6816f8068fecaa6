"""Rationales for the steps of a dataset ahead of any run, as Self-MAP's memory refinement asks for them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from agents.memory.rationales import RationaleWriter
from agents.observations import RecordedConversation
from agents.stages.simplify.snippets import SnippetSettings, snippet
from agents.types import RecordedStep
from agents.words.past_step import PastStep, RationaleRequest


def request_of(step: RecordedStep) -> RationaleRequest:
    """What a rationale of a step explains: its page around the first gold element, and the gold answer.

    ValueError for a step without a gold element on its page, or with a page that cannot be read.
    """
    if not step.positive_ids:
        raise ValueError("no gold element is on it")
    past = replace(PastStep.of(step), rationale=None)
    found: list[RationaleRequest] = []
    try:
        snippet(past, step.positive_ids[0], (), SnippetSettings(), found.append)
    except IndexError as error:
        raise ValueError("the gold element is not on it") from error
    return found[0]


Asks = Callable[[RecordedStep], RationaleRequest]
"""What is asked about a step: as pages are shown in groups (`request_of`), or as around their best elements."""


def refine_steps(
    steps: Sequence[tuple[int, int]], writer: RationaleWriter, asks: Asks = request_of
) -> tuple[int, list[dict[str, str]]]:
    """Write the rationales of some steps, given as (step, conversation); how many have one now, and the errors of
    others."""
    requests, errors = requests_of(steps, asks)
    found = writer.write(requests)
    errors += [
        {"record": f"step {request.step.key}", "message": "the model gave no answer that can be read"}
        for request in requests
        if request.step.key not in found
    ]
    return len(found), errors


def requests_of(
    steps: Sequence[tuple[int, int]], asks: Asks = request_of
) -> tuple[list[RationaleRequest], list[dict[str, str]]]:
    """What is asked about some steps, given as (step, conversation), and the errors of those that cannot be shown."""
    wanted = {pk for pk, _ in steps}
    requests, errors = [], []
    for conversation_id in dict.fromkeys(conversation for _, conversation in steps):
        recorded = RecordedConversation(conversation_id)
        for step in (step for step in recorded.steps if step.pk in wanted):
            try:
                requests.append(asks(recorded.recorded(step)))
            except ValueError as error:
                errors.append({"record": f"step {step.pk}", "message": f"its page cannot be shown: {error}"})
    return requests, errors

"""Stored WebLINX conversations as the demonstrations that `agents.weblinx` reads."""

from collections.abc import Mapping
from functools import lru_cache

from agents.observations import RecordedConversation
from agents.weblinx.turns import Demo, RecordedBox, ReplayTurn
from annotations.corpus import weblinx_turns
from annotations.models import Step


class _PageWindow:
    """Pages and boxes of the steps of a conversation; the last few stay decoded."""

    def __init__(self, steps: list[Step]) -> None:
        self._steps = {step.source_index: step for step in steps}
        self.page_html_of = lru_cache(maxsize=8)(self._page_html)
        self.bboxes_of = lru_cache(maxsize=8)(self._bboxes)

    def page_html(self, turn: ReplayTurn) -> str | None:
        """The page of the turn; None when it has none."""
        return self.page_html_of(turn.index)

    def bboxes(self, turn: ReplayTurn) -> Mapping[str, RecordedBox] | None:
        """uid -> bounding box on the turn's page; None when there is no page or no such file."""
        return self.bboxes_of(turn.index)

    def _page_html(self, index: int) -> str | None:
        if (step := self._steps.get(index)) is None:
            return None
        rows = Step.objects.select_related("raw_snapshot__dictionary").only("raw_snapshot")
        return weblinx_turns.page_html(rows.get(pk=step.pk))

    def _bboxes(self, index: int) -> Mapping[str, RecordedBox] | None:
        step = self._steps.get(index)
        return weblinx_turns.bboxes(step) if step else None


def demo_of(recorded: RecordedConversation) -> Demo:
    """The demonstration of a stored conversation. ValueError where it has no recorded turns."""
    turns = weblinx_turns.replay_turns(recorded.conversation)
    if any(step.source_index is None for step in recorded.steps):
        raise ValueError(f"{recorded.conversation.source_id} has no recorded WebLINX turns: import it as weblinx")
    pages = _PageWindow(recorded.steps)
    return Demo(recorded.conversation.source_id, tuple(ReplayTurn(i, data) for i, data in enumerate(turns)), pages)

"""Keeps the prompts that a pipeline makes instead of answering them, so that a model is trained on those of use.
Core."""

from collections.abc import Sequence
from typing import Any

from agents.generators.local import token_count
from agents.types import DecisionUsage
from agents.words.generator import Generated, PlannerPrompt


class Asked:
    """Stands in for a model: answers nothing and keeps the prompts that it is given."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.prompts: list[PlannerPrompt] = []

    def generate(self, prompts: Sequence[PlannerPrompt], sampling: object = None) -> list[Generated]:
        self.prompts += prompts
        return [Generated("", "", DecisionUsage()) for _ in prompts]

    def taken(self) -> list[PlannerPrompt]:
        """The prompts since the last call."""
        taken, self.prompts = self.prompts, []
        return taken

    def count_tokens(self, text: str) -> int:
        return token_count(self.tokenizer, text)

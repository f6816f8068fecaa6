"""What a pipeline asks, kept instead of answered: the prompts of a training are those of use. Core."""

from collections.abc import Sequence
from typing import Any

from agents.generators.local import token_count
from agents.types import DecisionUsage
from agents.words.generator import Generated, PlannerPrompt


class Asked:
    """In place of a model: answers nothing and keeps the prompts that it is given."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.prompts: list[PlannerPrompt] = []

    def generate(self, prompts: Sequence[PlannerPrompt], sampling: object = None) -> list[Generated]:
        self.prompts += prompts
        return [Generated("", "", DecisionUsage()) for _ in prompts]

    def taken(self) -> list[PlannerPrompt]:
        """What was asked since the last time."""
        taken, self.prompts = self.prompts, []
        return taken

    def count_tokens(self, text: str) -> int:
        return token_count(self.tokenizer, text)

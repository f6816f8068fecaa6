"""What asks a language model of stored trajectories: the model, its texts, and how much that is. Core."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from agents.llm.embedded import is_embedded
from agents.llm.errors import LlmError
from agents.llm.protocol import Llm, Message, Reply, Request
from agents.llm.usage import Usage
from agents.prompts.packs import Pack

PAGE_CHARACTERS = 6_000  # of a page, that a model reads
REASONS = r"[^\n]{1,300}\n"  # the form of what is said before an answer: a line


class Demand(NamedTuple):
    """What is asked of a model, at most."""

    requests: int = 0
    characters: int = 0  # of all prompts together


class AskedModel:
    """The model and the texts that something asks with; counts what that takes."""

    MAX_TOKENS = 1_000

    def __init__(self, llm: Llm, pack: Pack) -> None:
        self.llm = llm
        self.pack = pack
        self.usage = Usage()

    def ask(
        self, text: str, questions: Sequence[dict[str, str]], max_tokens: int = MAX_TOKENS, form: str = ""
    ) -> list[str]:
        """The replies to one text of the pack, filled in for each question. Raises LlmError where one is missing.

        `form`: a regular expression that a reply of the embedded model is held to, as it seldom keeps to a form by
        itself; other models are asked by the prompt alone, as published.
        """
        prompt, model = self.pack.prompt(text), self.llm.info.model
        requests = [
            Request(
                tuple(Message(role, words) for role, words in prompt.messages(**question)),
                model,
                max_tokens=max_tokens,
                pattern=form if is_embedded(model) else "",
            )
            for question in questions
        ]
        answers = self.llm.complete(requests)
        self.usage = sum((answer.usage for answer in answers), self.usage)
        if failed := next((answer for answer in answers if isinstance(answer, LlmError)), None):
            raise failed
        return [storable(answer.text) for answer in answers if isinstance(answer, Reply)]


def last_match(pattern: re.Pattern[str], text: str) -> str | None:
    """What the pattern finds last in a reply: before its end a model may weigh other answers."""
    found: list[str] = pattern.findall(text)
    return found[-1] if found else None


def bounded(words: str) -> str:
    """At most PAGE_CHARACTERS of what a page says."""
    return words if len(words) <= PAGE_CHARACTERS else f"{words[:PAGE_CHARACTERS]} …"


def storable(text: str) -> str:
    """The text without characters that PostgreSQL cannot hold."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()

"""How likely the embedded model holds texts that it did not write: for choices among what is known to be right. Core.

What it has read is not kept from call to call, as openvino-genai 2026.4 tells no likelihood of a beginning that it
knows already; so the weights are loaded a second time, without that memory.
"""

from collections.abc import Sequence
from functools import cache

from agents.llm.embedded import CONTEXT, SMOLLM2, Engine, TokenIds, lacking, plain, weights_file
from agents.llm.errors import NotConfigured


class LikelihoodModel:
    """The embedded model as a judge of how likely texts are. Raises NotConfigured where it cannot run here."""

    def __init__(self, model: str = SMOLLM2) -> None:
        if reason := lacking(model):
            raise NotConfigured(reason)
        self._engine = _loaded(model)

    def log_likelihoods(self, said: str, opening: str, pieces: Sequence[str]) -> list[float]:
        """The logarithm of how likely each piece is, a line each, after what a user said, the opening of the reply and
        the pieces before it. ValueError for more than the model can read at once."""
        before = self._ids(f"<|im_start|>user\n{plain(said)}<|im_end|>\n<|im_start|>assistant\n{plain(opening)}\n")
        lines = [self._ids(f" {plain(piece)}\n") for piece in pieces]
        ids = [*before, *(token for line in lines for token in line)]
        if len(ids) >= CONTEXT:
            raise ValueError(f"{len(ids):,} tokens are more than the {CONTEXT:,} that the embedded model reads")
        of_tokens = self._engine.log_likelihoods(ids)
        found, reached = [], len(before)
        for line in lines:
            found.append(sum(of_tokens[reached : reached + len(line)]))
            reached += len(line)
        return found

    def _ids(self, text: str) -> TokenIds:
        return self._engine.ids_of(text)


@cache
def _loaded(model: str) -> Engine:
    return Engine(weights_file(model), remembers=False)

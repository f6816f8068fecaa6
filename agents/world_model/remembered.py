"""What recipes ask of the transitions that are remembered. Core; `agents/memory/transitions.py` implements it."""

from typing import Protocol

from agents.world_model.predicting import RetrievedEffects
from agents.world_model.valuing import EmbeddedValue


class Remembered(Protocol):
    """Past transitions with what was fitted on them."""

    def prepare(self) -> None:
        """See that they are there, embedded and fitted. ValueError says why there is nothing to look up."""
        ...

    def world_model(self) -> RetrievedEffects: ...

    def value(self) -> EmbeddedValue: ...

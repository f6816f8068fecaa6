"""Which failures of a run were judged by gold, or by words, that were corrected since."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agents.models.steps import TrajectoryStepQuerySet
from annotations.corpus.wordings import EarlierWords
from annotations.models import Correction


@dataclass(frozen=True)
class CorrectedSince:
    """What a page of failures says of it, as the run keeps its judgements; `rows` are the failed steps."""

    rows: TrajectoryStepQuerySet

    @cached_property
    def of_gold(self) -> set[int]:
        """Those whose gold was corrected after they were judged."""
        return set(self.rows.judged_by_former_gold().values_list("pk", flat=True))

    @cached_property
    def of_words(self) -> set[int]:
        """Those whose turn said something else to the agent than it says now."""
        keys = self.rows.values_list("pk", "step", "created_at")
        return {pk for pk, step, time in keys if self._words.at(step, time) is not None}

    @cached_property
    def _words(self) -> EarlierWords:
        return EarlierWords(self.rows.values_list("trajectory__conversation", flat=True))

    def chosen(self, what: str) -> set[int] | None:
        """The steps of a filter, `gold` or `words`; None for none."""
        return {"gold": self.of_gold, "words": self.of_words}.get(what)

    def note(self, rows: Iterable[Any]) -> None:
        """Give shown rows `gold_then` and `words_then`, "" where both are what they were."""
        for row in rows:
            then = Correction.objects.gold_at(row.step.pk, row.created_at) if row.pk in self.of_gold else {}
            row.gold_then = then.get("action", "")
            row.words_then = self._words.at(row.step.pk, row.created_at) or ""

"""What scanners that ask a language model say of failed steps; what rules find is kept in `ScannedRun`."""

from typing import Any

from django.db import models

from agents.llm.usage import Usage
from agents.models import TrajectoryStep
from evaluation.models.asked import AskedRow, AskedRowQuerySet


class ScannerAnswerQuerySet(AskedRowQuerySet["ScannerAnswer"]):
    def keep(
        self,
        step_id: int,
        scanner: str,
        asked_with: dict[str, str],
        answer: dict[str, Any],
        usage: Usage,
        seconds: float,
    ) -> "ScannerAnswer":
        """Store what a scanner says of a failed step."""
        return self.keep_answer({"step_id": step_id, "scanner": scanner}, asked_with, answer, usage, seconds)

    def steps_found(self, scanner: str) -> set[int]:
        """Keys of the steps for which it names a reason, by any model."""
        return {row.step_id for row in self.filter(scanner=scanner, error="").exclude(reason="").only("step")}

    def reasons(self) -> dict[int, str]:
        """Key of a step -> its reason, "" where none fits."""
        return {row.step_id: row.reason for row in self.only("step", "reason")}


class ScannerAnswer(AskedRow):
    """Which of the reasons that reviewers have explains a failed step, by a language model."""

    ASKER = "scanner"

    step = models.ForeignKey(TrajectoryStep, models.CASCADE, related_name="scanner_answers")
    scanner = models.CharField(max_length=60)
    reason = models.CharField(max_length=120, blank=True, help_text="Of the project's list; empty: none fits.")
    asked_at = models.DateTimeField(auto_now=True)

    objects = ScannerAnswerQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["step", "scanner", "model", "pack_sha256"], name="step_scanned_once_each")
        ]

    def __str__(self) -> str:
        return f"{self.scanner}: {self.word}"

    @property
    def word(self) -> str:
        """The reason, "none fits" or "no answer"."""
        return "no answer" if self.error else self.reason or "none fits"

    @property
    def words(self) -> str:
        """The reason with what it said."""
        return ": ".join(filter(None, (self.reason, self.said)))

    @property
    def record(self) -> str:
        return self.step.trajectory.conversation.source_id

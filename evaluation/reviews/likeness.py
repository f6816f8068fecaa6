"""Finds the failed steps of a study that are most like one of them, by what is stored: no page is read."""

from collections import defaultdict

from agents.models.steps import TrajectoryStepQuerySet
from annotations.text.tfidf import topic_words
from evaluation.models import ScannedRun, ScannerAnswer
from evaluation.scanners.nearness import FailureTraits, nearest
from evaluation.scanners.step import ScannedAction


class FailureLikeness:
    """The failed ones of some stored steps, compared with each other."""

    def __init__(self, rows: TrajectoryStepQuerySet) -> None:
        self.failed = rows.failed()

    def nearest(self, failure: int | None) -> list[int]:
        """The keys of a failure among them and of those that fail as it does, the most alike first. ValueError where it
        is none of them, or nothing is like it."""
        traits = self._traits()
        if failure not in traits:
            raise ValueError(f"Of the study's failed steps, none has this number: {failure}.")
        alike = nearest(failure, traits)
        if not alike:
            raise ValueError("No other failed step of this study fails as this one does.")
        return [failure, *alike]

    def _traits(self) -> dict[int, FailureTraits]:
        found = self._found()
        columns = ("pk", "operation", "representation", "step__operation", "step__action_repr")
        about = ("trajectory__conversation__website__name", "step__turn__instruction")
        told = self.failed.with_representation().order_by("pk").values_list(*columns, *about)
        return {
            pk: FailureTraits(
                found=frozenset(found.get(pk, ())),
                kinds=f"{ScannedAction(did, words=said or '').kind} instead of {ScannedAction(gold, words=meant).kind}",
                words=frozenset({site, *topic_words(instruction)}),
            )
            for pk, did, said, gold, meant, site, instruction in told.iterator(2_000)
        }

    def _found(self) -> dict[int, set[str]]:
        """Key of a step -> the scanners that found something there, and the reasons that language models gave."""
        found: dict[int, set[str]] = defaultdict(set)
        for findings in ScannedRun.objects.filter(run__in=self.failed.values("run")).values_list("findings", flat=True):
            for scanner, seen in findings.items():
                for pk in seen:
                    found[int(pk)].add(scanner)
        said = ScannerAnswer.objects.filter(step__in=self.failed.values("pk"), error="").exclude(reason="")
        for one in said.only("step", "reason"):
            found[one.step_id].add(one.reason)
        return found

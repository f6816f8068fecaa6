"""The findings of scanners in a run, as its page of failures and the API show them to a user."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from agents.models import Run
from annotations.access.rules import User
from evaluation.models import ScannedRun, ScannerAnswer
from evaluation.reviews.validating import ScannerValidation, validate
from evaluation.scanners import SCANNERS
from evaluation.scanners.asking import ASKING
from evaluation.scanners.clusters import FailureCluster
from evaluation.scores.scanning import names


@dataclass(frozen=True)
class ScannerFinding:
    """The findings of one scanner in a run: key of a step -> what it found there, in words. Of one that asked a
    language model: which one, in the words of which pack."""

    scanner: str
    label: str
    seen: dict[int, str]
    validation: ScannerValidation
    model: str = ""
    pack: str = ""
    key: str = ""  # by which an address names it


class RunFindings:
    """What is known of the failures of a run, for a user who may see the failed steps in `visible`. The run comes with
    `done`, its number of stored steps."""

    def __init__(self, user: User, run: Run, visible: Collection[int]) -> None:
        self.user, self.run, self.visible = user, run, visible
        kept = ScannedRun.objects.filter(run=run, scanners=names(), step_count=run.done)
        self.kept: ScannedRun | None = kept.first()  # None: its scan is still to come

    def of_scanners(self) -> list[ScannerFinding]:
        """The findings of every scanner that asks nobody, in the order of the registry."""
        if self.kept is None:
            return []
        known = validate(self.user, self.run.dataset.project)
        return [
            ScannerFinding(key, scanner.label, self._seen(key), known[key], key=key)
            for key, scanner in SCANNERS.items()
        ]

    def of_models(self) -> list[ScannerFinding]:
        """The findings of scanners that asked a language model, once for each model and texts that were asked of this
        run. How often they are right is measured in all runs of the project."""
        project = self.run.dataset.project
        said = ScannerAnswer.objects.filter(step__run=self.run, step__in=self.visible, error="")
        found: dict[tuple[str, str, str], list[ScannerAnswer]] = defaultdict(list)
        for one in said.order_by("scanner", "model", "pack_sha256", "pk"):
            found[one.scanner, one.model, one.pack_sha256].append(one)
        rows = []
        for (scanner, model, texts), answers in found.items():
            everywhere = ScannerAnswer.objects.filter(step__run__dataset__project=project, error="")
            same = everywhere.filter(scanner=scanner, model=model, pack_sha256=texts)
            known = ScannerValidation.of_reasons(self.user, project, same.reasons())
            label = ASKING[scanner].label if scanner in ASKING else scanner
            seen = {one.step_id: one.words for one in answers if one.reason}
            named = {"model": model, "pack": answers[-1].pack, "key": f"{scanner} {model} {texts[:8]}"}
            rows.append(ScannerFinding(scanner, label, seen, known, **named))
        return rows

    def clusters(self) -> list[FailureCluster]:
        """Clusters of failures that are alike. One without a visible step is left out, as its name tells gold too."""
        found = self.kept.clusters if self.kept else []
        rows = [(row["name"], tuple(pk for pk in row["steps"] if pk in self.visible)) for row in found]
        return [FailureCluster(name, steps) for name, steps in rows if steps]

    def _seen(self, scanner: str) -> dict[int, str]:
        found = self.kept.findings.get(scanner, {}) if self.kept else {}
        return {int(pk): words for pk, words in found.items() if int(pk) in self.visible}

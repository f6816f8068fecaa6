"""Cross-validate the planner `grounded`."""

import json
import re
from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from agents.learned.settings import Settings
from agents.management.changes import add_changes, changes_in
from agents.training.settings import changed
from annotations.agreement import Agreement
from annotations.management.named import dataset_named
from evaluation.folds.plotting import tasks_svg
from evaluation.folds.results import HeldOutShare, HeldOutStep, gained, share_of
from evaluation.folds.running import TASKS, CrossValidation, Division

PARTS = {"unseen tasks": False, "seen tasks": True}


class Command(BaseCommand):
    """Train the planner `grounded` on the train split of a dataset without some of its tasks, decide their steps, and
    so on until each task was left out once; one conversation in ten of the tasks that are learned is kept back as
    well, and decided as of a seen task. Printed is step success over steps and over tasks, with intervals that draw
    tasks, what failed first of the others, and each task. Nothing is stored: the models are forgotten."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("recipe", choices=["grounded"])
        parser.add_argument("dataset")
        parser.add_argument("--folds", type=int, default=5, metavar="N", help="default: %(default)s")
        parser.add_argument("--by", choices=TASKS, default="website", help="what is a task (default: %(default)s)")
        parser.add_argument("--limit-per-task", type=int, metavar="N", help="conversations of each task (default: all)")
        parser.add_argument(
            "--also",
            action="append",
            default=[],
            metavar="DATASET",
            help="learn from its train steps too, but for tasks of the name of one that is left out",
        )
        parser.add_argument(
            "--kin", default="", metavar="REGEX", help="and but for those whose name begins with the same match"
        )
        parser.add_argument("--seed", type=int, default=0, help="of the folds (default: 0); of networks, --set seed=N")
        add_changes(parser, "settings of the training (epochs=3)")
        parser.add_argument(
            "--against", type=Path, metavar="FILE", help="an earlier output with --json: what tasks gained since"
        )
        parser.add_argument("--plot", type=Path, metavar="FILE", help="write each task's share there, as SVG")
        parser.add_argument("--json", action="store_true", dest="as_json", help="print one line of JSON")

    def handle(
        self,
        *,
        dataset: str,
        folds: int,
        by: str,
        limit_per_task: int | None,
        seed: int,
        also: list[str],
        kin: str,
        changes: list[str],
        against: Path | None,
        plot: Path | None,
        as_json: bool,
        **_: object,
    ) -> None:
        before = _earlier(against) if against else {}
        try:
            settings = changed(Settings(), changes_in(changes))
            division = Division(folds, by, limit_per_task, seed, re.compile(kin).pattern)
            others = [dataset_named(name) for name in also]
            steps = self._decided(CrossValidation(dataset_named(dataset), division, settings, others))
        except (ValueError, re.error) as error:
            raise CommandError(str(error)) from error
        shares = {name: share_of([one for one in steps if one.seen == seen]) for name, seen in PARTS.items()}
        gains = {name: gained(before[name], _values(shares[name])) for name in before}
        if plot:
            plot.write_text(tasks_svg({name: one.by_task for name, one in shares.items()}), "utf-8")
        if as_json:
            told = {name: one.to_dict() for name, one in shares.items()}
            self.stdout.write(json.dumps(told | {"gained": {name: vars(one) for name, one in gains.items()}}))
            return
        for name, share in shares.items():
            self.stdout.write("\n".join(_lines(name, share, gains.get(name))))

    def _decided(self, validation: CrossValidation) -> list[HeldOutStep]:
        """The steps of all folds. Raises NothingToLearn."""
        steps, count = list[HeldOutStep](), len(validation.folds)
        for number, fold in enumerate(validation.folds, 1):

            def tell(phase: str, done: int, total: int, begun: str = f"fold {number} of {count}") -> None:
                self.stderr.write(f"{begun}: {phase}, {done:,} of {total:,}")

            found = list(validation.decide(fold, tell))
            unseen = share_of([one for one in found if not one.seen])
            self.stderr.write(f"fold {number} of {count}: {_told(unseen.tasks)} over its unseen tasks")
            steps += found
        return steps


def _earlier(file: Path) -> dict[str, dict[str, float]]:
    """Part -> task -> share, of an earlier output."""
    try:
        told = json.loads(file.read_text("utf-8"))
        return {part: {task: one["value"] for task, one in told[part]["by_task"].items()} for part in PARTS}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CommandError(f"{file} holds no output of cross_validate --json: {error}") from error


def _values(share: HeldOutShare) -> dict[str, float]:
    return {task: value for task, (value, _) in share.by_task.items()}


def _lines(name: str, share: HeldOutShare, gain: Agreement | None) -> list[str]:
    lines = [
        f"{name}: {share.steps.n:,} steps of {len(share.by_task)} tasks",
        f"  step success over tasks {_told(share.tasks)}",
        f"  step success over steps {_told(share.steps)}",
    ]
    if gain is not None:
        lines.append(f"  gained over tasks, of {gain.n} in both {_told(gain, sign='+')}")
    if few := share.tasks.too_few_of("task"):
        lines.append(f"  {few}")
    lines += [f"  failed by {cause:40}{count:6,}" for cause, count in share.causes.items()]
    return lines + [f"    {task:40}{value:8.3f} of {n:,}" for task, (value, n) in share.by_task.items()]


def _told(share: Agreement, sign: str = "") -> str:
    if share.value is None:
        return "nothing to tell"
    if share.low is None or share.high is None:
        return f"{share.value:{sign}.3f}"
    return f"{share.value:{sign}.3f} [{share.low:{sign}.3f}, {share.high:{sign}.3f}]"

"""Cross-validate the planner `grounded`."""

import json
import re
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from agents.learned.settings import Settings
from agents.management.changes import add_changes, changes_in
from agents.training.settings import changed
from annotations.management.named import dataset_named
from evaluation.folds.dividing import Fold
from evaluation.folds.kept import KeptFolds
from evaluation.folds.plotting import curve_svg, tasks_svg
from evaluation.folds.results import DecidedFold, share_of
from evaluation.folds.running import TASKS, CrossValidation, Division
from evaluation.folds.sources import SOURCES
from evaluation.folds.telling import PARTS, CurvePoint, curve_lines, gains, interval, lines


class Command(BaseCommand):
    """Train the planner `grounded` on the train split of a dataset without some of its tasks, decide their steps, and
    so on until each task was left out once; one conversation in ten of the tasks that are learned is kept back as
    well, and decided as of a seen task. Only people's demonstrations are decided; those of oracles and corrections are
    learned, but for tasks that are left out, and none of an episode that is decided. Printed is step success over
    steps and over tasks, with intervals that draw tasks, what failed first of the others, and each task, the worst
    first. The models are forgotten."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("recipe", choices=["grounded"])
        parser.add_argument("dataset")
        _add_data(parser)
        parser.add_argument("--seed", type=int, default=0, help="of the folds (default: 0); of networks, --set seed=N")
        add_changes(parser, "settings of the training (epochs=3)")
        parser.add_argument(
            "--curve",
            nargs="+",
            type=_limit,
            metavar="N",
            help="learn from N demonstrations of each task, one N after the other (2 5 15 all): the learning curve. "
            "What is decided stays the same",
        )
        parser.add_argument(
            "--keep", type=Path, metavar="FILE", help="keep each decided fold there; the same command goes on there"
        )
        parser.add_argument(
            "--against", type=Path, metavar="FILE", help="an earlier output with --json: what tasks gained since"
        )
        parser.add_argument(
            "--plot", type=Path, metavar="FILE", help="write each task's share there, or the curve, as SVG"
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="print one line of JSON")

    def handle(
        self,
        *,
        dataset: str,
        folds: int,
        by: str,
        limit_per_task: int | None,
        also: list[str],
        sources: list[str],
        kin: str,
        seed: int,
        changes: list[str],
        curve: list[int | None] | None,
        keep: Path | None,
        against: Path | None,
        plot: Path | None,
        as_json: bool,
        **_: object,
    ) -> None:
        before = _earlier(against) if against else {}
        try:
            settings = changed(Settings(), changes_in(changes))
            division = Division(folds, by, limit_per_task, seed, re.compile(kin).pattern, tuple(sources))
            others = [dataset_named(name) for name in also]
            validation = CrossValidation(dataset_named(dataset), division, settings, others)
            kept = KeptFolds(keep)
            points = [self._point(validation, kept, limit) for limit in curve or [None]]
        except (ValueError, re.error) as error:
            raise CommandError(str(error)) from error
        if plot:
            plot.write_text(_plotted(points, is_curve=curve is not None), "utf-8")
        if as_json:
            self.stdout.write(json.dumps(_told(points, before, is_curve=curve is not None)))
            return
        shares = points[-1].shares()
        gain = gains(before, shares)
        told = [line for name, share in shares.items() for line in lines(name, share, gain.get(name))]
        self.stdout.write("\n".join([*told, *(curve_lines(points) if curve else [])]))

    def _point(self, validation: CrossValidation, kept: KeptFolds, limit: int | None) -> CurvePoint:
        """All folds, learned from `limit` demonstrations a task. Raises NothingToLearn."""
        found = list[DecidedFold]()
        for number, fold in enumerate(validation.folds, 1):
            of = "" if limit is None else f"{limit} a task, "
            begun = f"{of}fold {number} of {len(validation.folds)}"
            found.append(self._decided(validation, kept, fold, limit, begun))
            unseen = share_of([one for one in found[-1].steps if not one.seen])
            self.stderr.write(f"{begun}: {interval(unseen.tasks)} over its unseen tasks")
        return CurvePoint(limit, tuple(found))

    def _decided(
        self, validation: CrossValidation, kept: KeptFolds, fold: Fold, limit: int | None, begun: str
    ) -> DecidedFold:
        def tell(phase: str, done: int, total: int) -> None:
            self.stderr.write(f"{begun}: {phase}, {done:,} of {total:,}")

        digest = validation.digest(fold, limit)
        found = kept.get(digest)
        if found is None:
            found = validation.decide(fold, limit, tell)
            kept.add(digest, found)
        return found


def _add_data(parser: ArgumentParser) -> None:
    parser.add_argument("--folds", type=int, default=5, metavar="N", help="default: %(default)s")
    parser.add_argument("--by", choices=TASKS, default="website", help="what is a task (default: %(default)s)")
    parser.add_argument(
        "--limit-per-task", type=int, metavar="N", help="people's demonstrations of each task (default: all)"
    )
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="DATASET",
        help="learn from its train steps too, but for tasks of the name of one that is left out",
    )
    parser.add_argument(
        "--sources",
        nargs="+",
        choices=SOURCES,
        default=SOURCES,
        help="whose demonstrations are learned (default: everybody's)",
    )
    parser.add_argument(
        "--kin",
        default="",
        metavar="REGEX",
        help="of oracles, corrections and other datasets, leave out those whose name begins with the same match, too",
    )


def _limit(text: str) -> int | None:
    if text == "all":
        return None
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"{text!r} is neither a number of demonstrations nor 'all'")
    return int(text)


def _plotted(points: list[CurvePoint], *, is_curve: bool) -> str:
    if is_curve:
        shares = [point.shares() for point in points]
        return curve_svg([one.label for one in points], {name: [of[name].tasks for of in shares] for name in PARTS})
    return tasks_svg({name: one.by_task for name, one in points[-1].shares().items()})


def _told(points: list[CurvePoint], before: dict[str, dict[str, float]], *, is_curve: bool) -> dict[str, object]:
    """The last point of a curve as a cross-validation of its own, and all of them."""
    gained = {name: vars(one) for name, one in gains(before, points[-1].shares()).items()}
    told = points[-1].to_dict() | {"gained": gained}
    return told | {"curve": [point.to_dict() for point in points]} if is_curve else told


def _earlier(file: Path) -> dict[str, dict[str, float]]:
    """Part -> task -> share, of an earlier output."""
    try:
        told = json.loads(file.read_text("utf-8"))
        return {part: {task: one["value"] for task, one in told[part]["by_task"].items()} for part in PARTS}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CommandError(f"{file} holds no output of cross_validate --json: {error}") from error

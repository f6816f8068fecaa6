"""What `train_ranker` and `train_planner` share: starting, following, printing."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from agents.cookbook import checking, saved
from agents.cookbook.learnt_from import TRAINERS
from agents.management.changes import add_changes, add_limits, changes_in, limits_in
from agents.models import TrainedModel
from agents.recipes.literature import Recipe
from agents.stages.registry import MODELS, stage_served, trained_for
from agents.training.followed import as_asked
from agents.training.jobs import BASES, run_inline, start_training
from agents.training.presets import TrainingPreset
from agents.training.trained import card
from annotations.jobs.following import Standing, follow
from annotations.management.named import dataset_named
from annotations.models import Dataset, Job, Split


def _line(state: str, values: Mapping[str, Any]) -> str:
    """How far a training is, from its progress; "" before it has begun."""
    if not values:
        return ""
    total = f" of {values['total']:,}" if values["total"] else ""
    return f"{state}: {values['phase']}, {values['done']:,}{total} {values['unit']}"


def _add_places(parser: ArgumentParser) -> None:
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--inline", action="store_true", help="train in this process")
    where.add_argument("--no-wait", action="store_true", help="queue it for a worker and print its page's address")


def _page(name: str) -> str:
    return reverse("model", args=[name])


def _mend(name: str) -> str:
    """What may be done about a training that waits."""
    return MEND.format(_page(name))


def _queued(name: str, *, as_json: bool) -> str:
    """What is said of a training that is left to a worker."""
    return json.dumps({"model": name, "page": _page(name)}) if as_json else f"queued; how it goes: {_page(name)}"


def _kind(given: str | None, recipe: Recipe | None, kinds: tuple[str, ...]) -> str:
    """The kind of model: as given, else which of these the recipe uses."""
    if given or recipe is None:
        if not given:
            raise CommandError(f"name a --recipe, or a --kind: {', '.join(kinds)}")
        return given
    if not (found := trained_for(recipe, kinds)):
        raise CommandError(f"{recipe.name} uses nothing that this command trains")
    return found


MEND = (
    "Its page: {}. Ctrl-C cancels it; to leave it to a worker instead, start it with --no-wait, to train here with "
    "--inline."
)
ALSO_OPTIONS = ("epochs", "devices", "seed", "paradigm")  # settings of a training that have an option of their own


class TrainCommand(BaseCommand):
    """Queues a training and follows it to its end; --no-wait only queues it, --inline trains in this process."""

    kinds: tuple[str, ...] = ()
    presets: Mapping[str, TrainingPreset] = {}

    def add_arguments(self, parser: ArgumentParser) -> None:
        published = ", ".join(f"{BASES[kind]} for {kind}" for kind in self.kinds if BASES[kind])
        parser.add_argument("dataset")
        parser.add_argument("--kind", choices=self.kinds, help="default: what --recipe uses")
        parser.add_argument(
            "--recipe", metavar="NAME", help="train what this recipe asks: its memory, pages, wording and limits"
        )
        parser.add_argument("--name", required=True, help="of the model: recipes call it so")
        parser.add_argument(
            "--base",
            default="",
            help=f"folder or Hugging Face name to start from (default: the recipe's own, else {published})",
        )
        parser.add_argument("--split", choices=[Split.TRAIN.value], default=Split.TRAIN.value)
        parser.add_argument(
            "--lessons",
            action="store_true",
            help="learn too from what people taught of these steps by verdicts and corrections",
        )
        parser.add_argument("--limit", type=int, metavar="N", help="N conversations, evenly spread over the split")
        add_changes(parser, "of the training (epochs=3), or with a dot of the recipe (recall.k=5)")
        if self.presets:
            words = "; ".join(f"{name}: {preset.paper}" for name, preset in self.presets.items())
            parser.add_argument("--preset", choices=self.presets, help=f"settings and base as published ({words})")
        parser.add_argument("--seed", type=int)
        parser.add_argument("--epochs", type=int)
        parser.add_argument(
            "--devices", type=int, metavar="N", help="devices that share a step: N times as many examples in each"
        )
        add_limits(parser, "what a language model is asked for its samples")
        _add_places(parser)
        parser.add_argument("--json", action="store_true", help="print one line of JSON")

    def handle(self, *, dataset: str, **options: Any) -> None:
        found = dataset_named(dataset)
        model = self._start(found, options)
        if options["no_wait"]:
            self.stdout.write(_queued(model.name, as_json=options["json"]))
            return
        try:
            job = run_inline(model, on_progress=self._progress) if options["inline"] else self._follow(model)
        except KeyboardInterrupt:
            model.current_job().cancel()
            raise CommandError("cancelled; “Try again” on its page goes on from the last checkpoint") from None
        model.refresh_from_db()
        if job.state != Job.State.DONE:
            raise CommandError(job.last_error or f"the training was {job.state}")
        self._print(model, options["json"])

    def changes(self, options: dict[str, Any]) -> dict[str, Any]:
        """The settings that the options change: those of --preset, over them those of --set, --epochs and --devices."""
        preset: dict[str, Any] = dict(options["preset"].settings) if options.get("preset") else {}
        named = {name: options[name] for name in ("epochs", "devices") if options[name] is not None}
        given = changes_in(options["changes"])
        if twice := [name for name in given if options.get(name) is not None and name in ALSO_OPTIONS]:
            raise CommandError(f"--{twice[0]} and --set {twice[0]}= both give {twice[0]}: give one of them")
        return preset | given | named

    def recipe(self, name: str | None, changes: dict[str, Any]) -> Recipe | None:
        """The recipe of --recipe; takes its own settings, those with a dot, out of the changes."""
        own = {key: changes.pop(key) for key in list(changes) if "." in key}
        if name is None:
            if own:
                raise CommandError(f"{', '.join(own)}: settings of a recipe, and --recipe names none")
            return None
        stage = stage_served(self.kinds[0])
        (other,) = MODELS.keys() - {stage}
        if f"{other}.base" in own:
            raise CommandError(f"{other}.base is what another model is trained from: set it for {TRAINERS[other]}")
        if f"{stage}.base" in own:  # a model that the recipe names is not the one to be trained
            own = {f"{stage}.model": ""} | own
        try:
            return checking.vary(as_asked(saved.get(name)), own)
        except ValueError as error:
            raise CommandError(str(error)) from error

    def _start(self, dataset: Dataset, options: dict[str, Any]) -> TrainedModel:
        preset = self.presets.get(options.get("preset") or "")
        options = options | {"preset": preset}
        changes = self.changes(options)
        given = [name for name in changes if "." in name]
        named = {"rank.base", "plan.base"} & changes.keys()
        if named and options["base"]:
            raise CommandError(f"--base and {min(named)} both name what to start from: give one of them")
        recipe = self.recipe(options["recipe"], changes)
        kind = _kind(options["kind"] or (preset.kind if preset else None), recipe, self.kinds)
        try:
            model = start_training(
                user=None,
                dataset=dataset,
                kind=kind,
                name=options["name"],
                base=options["base"] or (preset.base if preset and not named else ""),
                split=options["split"],
                limit=options["limit"],
                seed=options["seed"],
                changes=changes,
                recipe=recipe,
                publish=not options["inline"],
                taught=options["lessons"],
                budget=limits_in(options),
                named=given,
            )
            for said in model.current_job().params.get("asks", ()):
                self.stderr.write(said)
            return model
        except (ValidationError, ValueError) as error:
            raise CommandError(" ".join(getattr(error, "messages", [str(error)]))) from error

    def _follow(self, model: TrainedModel) -> Job:
        def look() -> Standing:
            job = model.current_job()
            line = "" if job.is_over else _line(job.state, job.progress)
            waiting = None if job.attempt or job.progress else job
            return Standing(json.dumps(job.progress), line, waiting, job.is_over, _mend(model.name))

        follow(look, self.stderr.write)
        return model.current_job()

    def _progress(self, job: Job) -> None:
        if line := _line(job.state, job.progress):
            self.stderr.write(line)

    def _print(self, model: TrainedModel, as_json: bool) -> None:
        result = {
            "model": model.name,
            "kind": model.kind,
            "base": model.base,
            "dataset": model.dataset_name,
            "split": model.split,
            "seed": model.seed,
            "data_sha256": model.data_sha256,
            "metrics": model.metrics,
            "seconds": model.current_job().report.get("seconds"),
            "folder": str(model.folder),
        }
        if as_json:
            self.stdout.write(json.dumps(result))
            return
        self.stdout.write(f"{model.name}: {model.get_kind_display()} from {model.base}, in {model.folder}")
        for name, value in model.metrics.items():
            self.stdout.write(f"{name:28}{value:12.4f}" if isinstance(value, float) else f"{name:28}{value!s:>12}")
        self.stdout.write(f"Use it with {card.use_of(model.kind, model.name, model.config)}.")

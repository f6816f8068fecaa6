"""Trainings as background jobs on the queue `gpu`: started by people, run in slices under the job's lease. Shell.

Nothing here imports torch until a slice runs, so the web process can start trainings.
"""

import shutil
import time
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from agents.cookbook.checking import check_shots, either
from agents.cookbook.lacking import missing
from agents.cookbook.texts import pack_of, planned
from agents.encoders import adapters, weights
from agents.encoders.memory_limits import explained, is_out_of_memory
from agents.llm import embedded
from agents.llm.errors import BudgetExceeded
from agents.models import TrainedModel
from agents.models.spending import BudgetLimits
from agents.recipes import differences, literature
from agents.recipes.literature import Recipe
from agents.stages.registry import LANGUAGE_MODELS, planner_named, stage_served, trained_for, training_of
from agents.training import lessons
from agents.training.asking import told_ahead
from agents.training.followed import as_asked, check_followed
from agents.training.given_texts import given
from agents.training.rationales import ShownReasons, shown_reasons
from agents.training.samples.rows import SplitRows
from agents.training.samples.tokens import composed_otherwise
from agents.training.settings import OF_KIND, OF_TURNS, PLANNERS, SETTINGS, PlannerSettings, changed, unread
from annotations.access import rules
from annotations.jobs import running as work
from annotations.models import Dataset, Job, LeaseLost, Split
from annotations.models.accounts.projects import Account, User
from annotations.models.jobs.jobs import Cancelled

BASES = {
    "cross_encoder": "microsoft/deberta-v3-base",
    "dual_encoder": "all-MiniLM-L6-v2",
    "grounded": "all-MiniLM-L6-v2",
    "seq2seq": "google/flan-t5-base",
    "causal": "",
}
"""Kind -> the weights that the published work starts from."""


def start_training(
    *,
    user: Account | None,
    dataset: Dataset,
    kind: str,
    name: str,
    base: str = "",
    split: str = Split.TRAIN,
    limit: int | None = None,
    seed: int | None = None,
    changes: dict[str, Any] | None = None,
    recipe: Recipe | None = None,
    publish: bool = True,
    taught: bool = False,
    budget: BudgetLimits | None = None,
    named: Collection[str] = (),
) -> TrainedModel:
    """Make the row of a model to be trained, and its queued job. `user` None: the command line, which may do all.

    `recipe`: the model learns from what this recipe's stages compose and, where no `base` is given, starts from the
    one that it names; `changes` are applied after the settings that follow from the recipe, `named` were given of it.

    A model of that name whose training failed or was cancelled before its curve began makes way, so that what was wrong
    (its base, most often) can be put right under the same name. `publish` False leaves the job for this process
    (`run_inline`). `taught`: with what people taught. `budget`: limits on model calls. Raises ValidationError.
    """
    if user is not None:
        _require(user, dataset, {"base": base} | (changes or {}))
    changes = dict(changes or {}) | ({} if seed is None else {"seed": seed})
    if recipe is not None:
        of_turns = dataset.source_format == "weblinx"
        recipe, changes = _followed(recipe, kind, changes, named, of_turns=of_turns)
    model = TrainedModel(
        name=name,
        kind=kind,
        base=base or _base_of(recipe, kind) or BASES.get(kind, ""),
        project=dataset.project,
        dataset=dataset,
        dataset_name=dataset.name,
        split=split,
        created_by=user,
        **_limited(budget or {}),
    )
    errors = _errors(model, dataset, limit, changes, recipe)
    learnt = lessons.Lessons(lessons.collect(dataset) if taught and lessons.collect else ())
    errors |= _unteachable(learnt, dataset, kind, changes, taught)
    if errors:
        raise ValidationError(errors)
    model.seed = int(changes.get("seed", 0 if kind not in SETTINGS else SETTINGS[kind]().seed))
    job = _job_of(recipe, model, dataset, limit, changes, learnt, budget=budget or {})
    with transaction.atomic():
        model.predecessors().delete()
        work.queue(job) if publish else job.save()
        model.job = job
        model.save()
    return model


def _followed(
    recipe: Recipe, kind: str, changes: dict[str, object], named: Collection[str], *, of_turns: bool
) -> tuple[Recipe, dict[str, Any]]:
    """The recipe as the training reads it, and the training's settings. Raises ValidationError for settings that the
    training does not read, or that the recipe decides."""
    try:
        check_followed(recipe, kind, changes, named, of_turns=of_turns)
    except ValueError as error:
        raise ValidationError({"recipe": str(error)}) from error
    if ignored := sorted({"memory", "memory_k"} & changes.keys()):
        of_recipe = {"memory": "recall.memory", "memory_k": "recall.k"}[ignored[0]]
        raise ValidationError({"settings": f"{ignored[0]} follows from the recipe: set {of_recipe}."})
    recipe = as_asked(recipe)
    return recipe, training_of(recipe, kind)[1] | changes


def _base_of(recipe: Recipe | None, kind: str) -> str:
    """What the recipe says that weights of its own kind are trained from; "" where it says nothing."""
    if recipe is None or trained_for(recipe, (kind,)) != kind:
        return ""
    return recipe.rank.base if stage_served(kind) == "rank" else recipe.plan.base


def _require(user: User, dataset: Dataset, named: dict[str, Any]) -> None:
    """Raise PermissionDenied for who may not train in the project, and ValidationError for weights that they may not
    name."""
    rules.require(user, "train", dataset.project)
    try:
        weights.require_open(named)
    except ValueError as error:
        raise ValidationError({"base": str(error)}) from error


def _job_of(
    recipe: Recipe | None,
    model: TrainedModel,
    dataset: Dataset,
    limit: int | None,
    changes: dict[str, Any],
    learnt: lessons.Lessons,
    *,
    budget: BudgetLimits,
) -> Job:
    params = {name: getattr(model, name) for name in ("name", "kind", "base", "split")}
    params |= {"limit": limit, "changes": changes}
    params |= {"lessons": learnt.params()} if learnt else {}
    as_planned = planned(recipe, dataset) if recipe is not None else None
    params |= {"recipe": literature.to_dict(as_planned)} if as_planned is not None else {}
    if model.kind in LANGUAGE_MODELS and (texts := given(as_planned, str(changes.get("paradigm", "")), dataset)):
        params["texts"] = texts
    try:
        if said := told_ahead(shown_reasons(model.kind, params, dataset, recipe), budget):
            params["asks"] = said
    except ValueError as error:
        raise ValidationError({"budget": f"{error}."}) from error
    return Job(
        kind=Job.Kind.TRAIN, project=dataset.project, dataset=dataset, created_by=model.created_by, params=params
    )


def _limited(limits: BudgetLimits) -> dict[str, float | None]:
    """A budget as columns. Raises ValidationError for a negative one."""
    try:
        return TrainedModel.budget_fields(**limits)
    except ValueError as error:
        raise ValidationError({"budget": f"{error}."}) from error


def _errors(
    model: TrainedModel, dataset: Dataset, limit: int | None, changes: dict[str, Any], recipe: Recipe | None
) -> dict[str, str]:
    errors: dict[str, str] = {}
    if model.kind not in TrainedModel.Kind.values:
        errors["kind"] = f"Choose one of {', '.join(TrainedModel.Kind.values)}."
    try:
        model.clean_fields(exclude=["kind", "project", "dataset", "created_by", "curve", "config", "metrics", "job"])
        if TrainedModel.objects.filter(name=model.name).exclude(pk__in=model.predecessors()).exists():
            errors["name"] = f"There is a model {model.name} already; choose another name."
    except ValidationError as error:
        errors |= {field: " ".join(messages) for field, messages in error.message_dict.items()}
    if said := _no_base(model.base):
        errors.setdefault("base", said)
    if model.split != Split.TRAIN:
        errors["split"] = "Models are trained on the train split only."
    elif not dataset.conversations.filter(split=Split.TRAIN).exists():
        errors["dataset"] = f"{dataset.name} has no train conversations."
    if limit is not None and limit < 1:
        errors["limit"] = "Take at least one conversation."
    if model.kind in OF_KIND:
        try:
            settings = changed(OF_KIND[model.kind](), changes)
            if isinstance(settings, PlannerSettings) and (said := unread(settings, recipe)):
                raise ValueError(said)
            if isinstance(settings, PlannerSettings) and "limit" not in errors:
                errors |= _unplannable(settings, dataset, limit, recipe) | _unadaptable(model.base, settings)
        except ValueError as error:
            errors["settings"] = f"{error}."
    return errors


def _unadaptable(base: str, settings: PlannerSettings) -> dict[str, str]:
    """Why an adapter cannot be trained beside a base, by field, as far as the base lies here and says so."""
    said = adapters.said_of_tied(base, settings.lora_targets) if settings.adapter != "none" else ""
    return {"settings": f"{said}."} if said else {}


def _unplannable(
    settings: PlannerSettings, dataset: Dataset, limit: int | None, recipe: Recipe | None
) -> dict[str, str]:
    """Why a planner cannot be trained on a dataset, by field."""
    planner = planner_named(settings.paradigm)
    of_turns = planner is not None and planner.of_turns
    if (dataset.source_format == "weblinx") != of_turns:
        others = either([name for name in PLANNERS if name not in OF_TURNS])
        return {"paradigm": f"WebLINX data is for {either([*OF_TURNS])}, other data for {others}."}
    if said := composed_otherwise(settings.paradigm, recipe):
        return {"paradigm": f"{said}."}
    if recipe is not None and "compose.shots" in (chosen := differences.changed(recipe)):
        check_shots(recipe, pack_of(recipe, dataset), chosen)
    said = _lacking(recipe, settings.paradigm) if planner and planner.learns_prompts() else ""
    if not said and recipe is not None:
        train, dev = SplitRows(dataset, Split.TRAIN, limit), SplitRows(dataset, Split.DEV)
        said = ShownReasons(recipe, settings, train, dev).refusal()
    return {"recipe": said} if said else {}


def _unteachable(
    learnt: lessons.Lessons, dataset: Dataset, kind: str, changes: dict[str, Any], taught: bool
) -> dict[str, str]:
    """Why nothing that people taught of a dataset can be learnt by a model, where that is asked for (`taught`)."""
    needs_pairs = changes.get("loss") == "dpo" and not any(one.wrong for one in learnt.of_step.values())
    if not taught or (learnt and needs_pairs):
        said = "loss=dpo needs lessons (--lessons), with an action that people called wrong."
        return {"settings": said} if needs_pairs else {}
    planner = planner_named(str(changes.get("paradigm", PlannerSettings().paradigm)))
    reads_turns = dataset.source_format == "weblinx" or (planner is not None and planner.of_turns)
    said = f"Nobody has taught anything of the train split of {dataset.name} yet: say in replays who was wrong."
    if reads_turns or (kind in LANGUAGE_MODELS and planner is None):
        said = "Lessons are of steps with one action on one page: this training reads something else."
    elif learnt:
        return {}
    return {"lessons": said}


def _no_base(base: str) -> str:
    """Why no host can start from these weights; "" where one can, or may fetch them when the training begins."""
    if embedded.is_embedded(base):
        return embedded.lacking(base)
    try:
        if base:
            weights.check(base)
    except ValueError as error:
        return f"{error}; give --base a folder with weights, a model trained here, or a name of the Hugging Face hub."
    return ""


def _lacking(recipe: Recipe | None, paradigm: str) -> str:
    """What the stages lack that make the prompts of a training, as a sentence; "" where nothing is."""
    if recipe is None:
        return f"Name the recipe whose prompts are trained: paradigm={paradigm} has no others."
    lacking = [what for what in missing(recipe) if not what.startswith("plan.model")]
    return f"{recipe.name} needs {'; '.join(lacking)}." if lacking else ""


def run_training(job: Job) -> bool:
    """Train for one slice; True when another must go on. An error that it raises fails the job with its message."""
    from agents.training.trained.stored import WORKING, StoredCheckpoint, StoredModel
    from agents.training.work import Work

    begun, before = time.monotonic(), job.progress.get("seconds", 0)
    model = TrainedModel.objects.select_related("dataset", "project").filter(job=job).first()
    if model is None or model.dataset is None:
        raise ValueError("the model or its dataset has been deleted")

    def until() -> bool:
        return work.is_slice_over(begun)

    if not job.progress:  # what an earlier training of this name left here may be of other data or settings
        for name in WORKING:
            shutil.rmtree(model.folder / name, ignore_errors=True)
    kept = StoredCheckpoint(model, job)
    kept.fetch()
    try:
        training = Work(model, job.params, until, _teller(job, model), kept.keep)
        outcome = training.run()
    except LeaseLost as lost:
        raise Cancelled from lost
    except Exception as error:
        if said := _explained(error, job.memory_advice):
            raise ValueError(said) from error
        raise
    if outcome == "paused":
        return job.hand_back()
    seconds = before + time.monotonic() - begun
    model.files = StoredModel(model).keep()
    with job.fenced():
        kept.forget()
        model.finish()
    report: dict[str, Any] = {
        "said": f"Trained {model.name}",
        "seconds": round(seconds, 1),
        "metrics": model.metrics,
    }
    if warnings := training.left_out.warnings() + training.unanswered.warnings():
        report["warnings"] = warnings
    job.finish(Job.State.DONE, report=report)
    return False


def _explained(error: Exception, advice: Callable[[], str]) -> str:
    """What ended a training, in words for people; "" where the error is not known."""
    if isinstance(error, BudgetExceeded):
        return str(error)
    return explained(error, advice()) if is_out_of_memory(error) else ""


def _teller(job: Job, model: TrainedModel) -> Callable[..., None]:
    """A function that stores progress and curve; it raises Cancelled when the job is no longer ours."""
    begun, before = time.monotonic(), job.progress.get("seconds", 0)

    def tell(phase: str, done: int, total: int | None, unit: str, curve: list[dict] | None = None, **more: Any) -> None:
        values = {"phase": phase, "done": done, "total": total, "unit": unit, **more}
        job.go_on(values | {"seconds": round(before + time.monotonic() - begun, 1)})
        if curve is not None and len(curve) != len(model.curve):
            model.keep_curve(curve)

    return tell


def run_inline(
    model: TrainedModel,
    on_wait: Callable[[], None] = lambda: None,
    on_progress: Callable[[Job], None] = lambda job: None,
) -> Job:
    """Train in this process to the end, slice by slice; while a worker has taken a slice, wait for it. The ended job.

    `on_wait` is called between slices, `on_progress` whenever progress was stored.
    """
    assert model.job_id is not None
    while True:
        job = Job.objects.claim(model.job_id)
        if job is not None:
            job.on_progress = partial(on_progress, job)
            work.run(job)
        else:
            time.sleep(0.5)
        job = model.current_job()
        if job.is_over:
            return job
        on_wait()


RUNNERS: dict[str, Callable[[Job], bool]] = {Job.Kind.TRAIN: run_training}
"""For `annotations.jobs.running`: kind of job -> what works on it for one slice."""

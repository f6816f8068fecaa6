"""Plans studies as runs and shards, lets workers run them, cancels, resumes, and ends them with scores."""

import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from agents.cookbook import checking, of_splits, saved, starters
from agents.cookbook.lacking import missing
from agents.cookbook.named_models import check_base
from agents.cookbook.texts import pack_of, planned
from agents.encoders import weights
from agents.encoders.memory_limits import explained, is_out_of_memory
from agents.live.running import LiveRun
from agents.llm.deadline import GivenUp, wanted_until
from agents.llm.errors import BudgetExceeded
from agents.llm.protocol import Llm
from agents.memory.searched import lacking_of
from agents.models import Run, RunTally
from agents.models.spending import BudgetLimits
from agents.recipes import differences, literature
from agents.recipes.declaring import value_of
from agents.recipes.settings import LIVE_ONLY, RECORDED_ONLY
from agents.runs.runner import run_conversations
from agents.stages.registry import planner_of, searched
from agents.training.prepare import preparing
from annotations.access import rules
from annotations.jobs import full_disk, stopping, waking
from annotations.jobs.way_inside import WayInside
from annotations.models import Dataset, LeaseLost
from annotations.models.accounts.projects import Account
from annotations.monitor.outages import OUTAGES
from evaluation.models import Shard, Study
from evaluation.scores.reviewed import store_all_scores
from evaluation.scores.scoring import judge_step
from evaluation.studies.budgets import llm_of
from evaluation.studies.connecting import Through

logger = logging.getLogger(__name__)

shard_task: Any = None
"""Celery's task that works on a shard; `evaluation.apps` sets it."""
SLICE_SECONDS = 240  # a message must not live longer than the broker's visibility timeout, nor a task than its limit


def create_study(
    *,
    user: Account | None,
    dataset: Dataset,
    recipes: list[str],
    splits: list[str] | None = None,
    seeds: list[int] | None = None,
    limit: int | None = None,
    websites: Sequence[str] = (),
    overrides: dict[str, str] | None = None,
    variants: list[dict[str, str]] | None = None,
    preset: str | None = None,
    name: str = "",
    publish: bool = True,
    budget: BudgetLimits | None = None,
    through: Through = Through(),  # noqa: B008  # frozen
) -> Study:
    """Store and queue a study: recipes × splits × seeds. An empty split means the whole dataset; where `websites` are
    named, conversations on others are left out. `variants` runs every recipe once with each of these settings besides
    `overrides`: a sweep. `budget`: hard limits on model calls by unit (tokens, cost, seconds). `through`: the
    connections that answer. Raises ValueError with a readable message when a recipe cannot run, a setting does not
    exist, or a split is empty."""
    settings = [{**(overrides or {}), **variant} for variant in variants or [{}]]
    if user is not None:  # the command line belongs to the machine's operators
        rules.require(user, "evaluate", dataset.project)
        for each in settings:
            weights.require_open(each)
    check_arguments(recipes, preset, settings, limit, seeds or [])
    pairs = through.pairs([saved.get(recipe, user) for recipe in recipes], settings)
    chosen = [_recipe(found, each, preset, dataset) for found, each in pairs]
    named = set[str]().union(*(each for _, each in pairs))
    with transaction.atomic():
        study = Study.objects.create(
            project=dataset.project,
            name=(name or _usual_name(recipes, dataset.name, preset, overrides))[:200],
            preset=chosen[0].preset,
            created_by=user,
            **Study.budget_fields(**(budget or {})),
        )
        for split, recipe, seed in product(splits or [""], chosen, seeds or [0]):
            run = study.plan_run(dataset, _on_split(recipe, split, named), split, seed, limit, websites)
            if publish:
                publish_on_commit(run.shards.waiting())
    return study


def _usual_name(recipes: Sequence[str], data: str, preset: str | None, overrides: Mapping[str, str] | None) -> str:
    """What a study is called that nobody has named: its recipes and data, and what was changed, as others on the same
    data would be called alike."""
    changes = {**({"preset": preset} if preset else {}), **(overrides or {})}
    return " · ".join([f"{', '.join(recipes)} on {data}", *(f"{key}={value}" for key, value in changes.items())])


def planned_recipe(
    user: Account,
    name: str,
    preset: str,
    dataset: Dataset,
    split: str,
    overrides: Mapping[str, str] = MappingProxyType({}),
) -> "literature.Recipe":
    """The recipe of this name as a study of that preset runs it on a split. Raises ValueError where it cannot."""
    changes = dict(overrides)
    return _on_split(_recipe(saved.get(name, user), changes, preset, dataset), split, changes)


def check_arguments(
    recipes: list[str], preset: str | None, settings: list[dict[str, str]], limit: int | None, seeds: list[int]
) -> None:
    """Raise ValueError for arguments that no study can have."""
    if not recipes:
        raise ValueError("choose at least one recipe")
    if preset and preset not in Study.Preset.values:
        raise ValueError(f"unknown preset {preset!r}; choose one of {', '.join(Study.Preset.values)}")
    if preset and (other := next((each["preset"] for each in settings if each.get("preset", preset) != preset), "")):
        raise ValueError(f"the preset is said twice: {other} among the settings, {preset} beside them")
    if limit is not None and limit < 1:
        raise ValueError(f"limit must be at least 1, got {limit}")
    if wrong := [seed for seed in seeds if not 0 <= seed < 2**31]:
        raise ValueError(f"seed must lie in 0..{2**31 - 1}, got {wrong[0]}")


def as_it_runs(recipe: "literature.Recipe", overrides: dict[str, str], preset: str | None) -> "literature.Recipe":
    """The recipe as it will run: with changed settings, and with models of this installation where it names none. These
    change no setting that somebody has set, by `overrides` or in a saved recipe. ValueError names the setting that is
    wrong, or that such a model, or the preset, leaves without anything that reads it."""
    preset = overrides.get("preset") or preset
    first = literature.in_preset(recipe, preset) if preset else recipe
    told_from, named = _settings_that_count(recipe, first)
    varied = checking.vary(first, overrides)
    check_base(varied, overrides)
    read = checking.read_by(varied)
    _check_preset(recipe, first, told_from, named - read)
    named = named & checking.derived_by(first, overrides) | overrides.keys()
    filled = starters.with_starters(varied, named)
    try:
        checking.check(told_from, filled, sorted(named))
    except ValueError as error:
        if filled.plan.model == varied.plan.model:
            raise
        raise ValueError(
            f"{error}; {filled.plan.model} stands in here for the planner that it does not name"
        ) from error
    return filled


def _check_preset(
    recipe: "literature.Recipe", first: "literature.Recipe", told_from: "literature.Recipe", idle: Collection[str]
) -> None:
    """ValueError where a study's preset leaves one of the idle settings by which a recipe was derived without anything
    that reads it."""
    unread = sorted(checking.read_by(recipe).intersection(idle) - checking.read_by(first))
    try:
        if unread:
            checking.check(told_from, first, unread)
    except ValueError as error:
        raise ValueError(f"{error}; preset={first.preset} sets that otherwise") from error


def _settings_that_count(
    recipe: "literature.Recipe", first: "literature.Recipe"
) -> "tuple[literature.Recipe, set[str]]":
    """The published recipe that a saved one comes from, and the settings that it changes; a published recipe changes
    none. Quirks are left out: a preset changes them all, and models that stand in change none."""
    if recipe.name in literature.RECIPES:
        return first, set()
    root = next((one for one in saved.ancestors(recipe) if one.name in literature.RECIPES), first)
    changed = differences.changed(recipe, root)
    return root, {name for name in changed if not name.startswith(("quirks.", "preset"))}


def unready(recipe: "literature.Recipe", dataset: Dataset) -> str:
    """Why the recipe cannot run on a dataset yet, and how to mend it; "" where it can."""
    if lacking := missing(recipe):
        return f"{recipe.name} cannot run yet: it needs {'; '.join(lacking)}{_small_ones(recipe)}"
    if lacking := lacking_of(dataset, searched(recipe)):
        return f"{recipe.name} cannot run on {dataset.name} yet: {'; '.join(lacking)}"
    return ""


def _small_ones(recipe: "literature.Recipe") -> str:
    """How to get small models for a recipe that lacks some; "" where none stand in for them, or nothing is here to make
    them from."""
    if not preparing.Preparing(preparing.datasets_for(None)).parts(recipe):
        return ""
    return f". Or try it with small models: manage.py prepare {recipe.name}, or Prepare on its page"


def _recipe(
    recipe: "literature.Recipe", overrides: dict[str, str], preset: str | None, dataset: Dataset
) -> "literature.Recipe":
    return ready(as_it_runs(recipe, overrides, preset), overrides, dataset)


def ready(recipe: "literature.Recipe", overrides: dict[str, str], dataset: Dataset) -> "literature.Recipe":
    """The recipe, with changed settings, and with the texts of its prompt pack, as a study of a dataset runs it.
    ValueError says why it cannot."""
    read, changed = checking.read_by(recipe), differences.changed(recipe)
    if not dataset.is_live and (idle := sorted(LIVE_ONLY & read & changed.keys())):
        name, said = idle[0], f"{idle[0]} would change nothing on {dataset.name}: it needs live episodes"
        mend = "" if name in overrides else f"; {recipe.name} was derived by it, so set {name}={changed[name][0]}, too"
        raise ValueError(f"{said}{mend}")
    of_recorded = [name for name, value in RECORDED_ONLY.items() if name in read and value_of(recipe, name) == value]
    if dataset.is_live and of_recorded:
        said = f"{of_recorded[0]}={RECORDED_ONLY[of_recorded[0]]} is of recorded steps alone"
        raise ValueError(f"{said}, and {dataset.name} holds goals that are done live")
    if dataset.is_live and planner_of(recipe).ranks_only:
        said = f"{recipe.name} ranks elements and plans no action, so that it does nothing on {dataset.name}"
        raise ValueError(f"{said}: choose an agent that acts")
    if reason := unready(recipe, dataset):
        raise ValueError(reason)
    if "compose.shots" in overrides:
        checking.check_shots(recipe, pack_of(recipe, dataset), overrides)
    return planned(recipe, dataset)


def check_asked(
    recipes: "Sequence[literature.Recipe]",
    overrides: dict[str, str],
    preset: str | None,
    dataset: Dataset,
    through: Through,
) -> None:
    """ValueError where what is asked of the recipes stands in the way of a study, not what they lack by themselves."""
    for recipe, each in through.pairs(recipes, [overrides]):
        try:
            _recipe(recipe, each, preset, dataset)
        except ValueError as error:
            if str(error) != _refusal(recipe, dataset):
                raise


def _refusal(recipe: "literature.Recipe", dataset: Dataset) -> str:
    """Why a study of the recipe as it is would be refused; "" where it would not be."""
    try:
        _recipe(recipe, {}, None, dataset)
    except ValueError as error:
        return str(error)
    return ""


def _on_split(recipe: "literature.Recipe", split: str, named: Collection[str]) -> "literature.Recipe":
    """The recipe with the settings that the paper chose for that split, except where somebody `named` the setting, or
    derived the recipe by it. Its models are given the texts of the same names, so that it stays planned with them."""
    chosen, own = of_splits.chosen_for(recipe, split), {*named, *differences.changed(recipe)}
    return literature.override(recipe, {name: value for name, value in chosen.items() if name not in own})


def publish_on_commit(shards: QuerySet[Shard]) -> None:
    """Wake workers up after the commit. Robust: where Redis is away the study is stored all the same, and the reaper
    sends the messages later."""
    transaction.on_commit(lambda: publish_shards(shards), robust=True)


def publish_shards(shards: QuerySet[Shard]) -> None:
    """Tell workers about waiting shards. Messages may be lost or repeated."""
    waiting = list(shards.values_list("pk", flat=True))
    if not waiting or not waking.broker_answers():
        return
    for pk in waiting:
        shard_task.delay(pk)
    Shard.objects.filter(pk__in=waiting).note_message()


def work(shard: Shard, on_batch: Callable[[], None] = lambda: None) -> None:
    """Work on a claimed shard to its end, or for one slice, after which it is queued again, behind what waits. An error
    of the work is stored on the row. Losing the lease is no error: another worker goes on."""
    run, begun, way = shard.run, time.monotonic(), WayInside(shard.pk, shard.makes_way)

    def after_batch() -> None:
        shard.got_on()
        way.note_batch()
        on_batch()
        is_over = stopping.asked() or time.monotonic() - begun > SLICE_SECONDS or shard.makes_way()
        if is_over and not shard.is_decided():  # after its last batch it would wait behind all others for nothing
            raise stopping.SliceOver

    run.begin()
    with shard.heartbeat(way.look) as is_lost, wanted_until(lambda: is_lost() or way.is_made):
        try:
            llm = llm_of(run)
            way.may = _keeps_answers(llm) and not run.dataset.is_live
            if run.dataset.is_live:
                live = LiveRun(run, shard.fenced, after_batch, llm, shard.tell, others_wait=shard.others_wait)
                live.play(shard.conversation_ids)
            else:
                run_conversations(run, shard.conversation_ids, judge_step, shard.fenced, after_batch, llm, shard.tell)
        except (LeaseLost, GivenUp, stopping.SliceOver) as ended:
            if not (_goes_back(ended, way) and shard.hand_back()):
                logger.info("%s ends where it stands: %s", shard, ended)
                shard.let_go()
            _tell_of(shard)  # says nothing of one that does not wait
            return
        except BudgetExceeded as over:
            shard.retry_or_fail(str(over))
            for study in run.studies.all():
                study.cancel(store_all_scores, str(over))
            return
        except Exception as error:
            lasting = _lasting(error, shard)
            if lasting is None:
                shard.retry_or_fail(f"{type(error).__name__}: {error}")
                if isinstance(error, OUTAGES):
                    logger.warning("%s goes on: the database was away", shard)
                    _tell_of(shard)
                    return
                run.shards.end_run(run, store_all_scores)  # does nothing while another attempt follows
                raise
            shard.finish(Shard.State.FAILED, last_error=lasting)
        else:
            shard.finish(Shard.State.DONE)
    run.shards.end_run(run, store_all_scores)


def _keeps_answers(llm: Llm | None) -> bool:
    """Whether a batch that ends in its middle goes on where it was: a model in this process answers, whose answers are
    cached a few at a time. An endpoint would be paid again for what is under way."""
    return llm is not None and llm.info.batch > 1


def _goes_back(ended: Exception, way: WayInside) -> bool:
    """Whether a shard that ended before its end is to be queued again: its slice is over, or its batch made way. Else
    it is another worker's, or cancelled."""
    if isinstance(ended, GivenUp) and way.is_made:
        way.note_end()
        return True
    return isinstance(ended, stopping.SliceOver)


def _lasting(error: Exception, shard: Shard) -> str | None:
    """The message of an error that another attempt would meet too; None for one that may pass."""
    if isinstance(error, ValueError):  # a recipe or input that cannot work
        return str(error)
    if is_out_of_memory(error):
        return explained(error, shard.memory_advice())
    return full_disk.said(error) or None


def _tell_of(shard: Shard) -> None:
    publish_shards(Shard.objects.waiting().filter(pk=shard.pk))


def run_inline(study: Study, on_batch: Callable[[], None] = lambda: None) -> None:
    """Run all shards of a study in this process: the same code that workers run, with the same attempts.

    Where workers run, the reaper tells them of waiting shards; shards that they hold are waited for.
    """
    for run in study.runs.order_by("id"):
        while not Run.objects.get(pk=run.pk).is_over:
            worked = False
            for pk in run.shards.claimable().order_by("index").values_list("pk", flat=True):
                shard = Shard.objects.claim(pk)
                if shard is not None:
                    _try(shard, on_batch)
                    worked = True
            run.shards.reap()
            if not run.shards.end_run(run, store_all_scores) and not worked:
                time.sleep(0.5)


def _try(shard: Shard, on_batch: Callable[[], None]) -> None:
    try:
        work(shard, on_batch)
    except Exception:  # recorded on the row by `work`; another attempt follows
        logger.exception("%s failed", shard)


def resume_study(study: Study) -> None:
    """Queue again what was cancelled or has failed; only steps without a result are decided. ValueError when nothing is
    left."""
    for run in study.queue_again():
        publish_on_commit(run.shards.waiting())


def reap() -> None:
    """Every 30 s: free the shards of dead workers, publish what waits, end runs whose last message was lost."""
    waiting = Shard.objects.filter(pk__in=Shard.objects.reap())
    publish_shards(waiting.filter(pk__in=[shard.pk for shard in waiting.unheard(waking.left_in)]))
    for run in Run.objects.open():
        run.shards.end_run(run, store_all_scores)
    RunTally.fold()

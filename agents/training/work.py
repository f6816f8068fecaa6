"""One slice of a training: read the rows, train, write the folder. Shell; imports the model libraries."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from agents.cookbook.texts import pack_of
from agents.models import TrainedModel
from agents.pipeline import Pipeline
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.runs.building import build_training
from agents.stages.registry import planner_named, predicts_objective
from agents.training.asking import llm_within_budget
from agents.training.fit.checkpoint import forget_checkpoint
from agents.training.fit.loop import TrainingError, TrainingProgress, TrainingTask, train
from agents.training.fit.together import joined, processes, together
from agents.training.fit.weights import load_tokenizer
from agents.training.kinds.language import CausalTask, Seq2SeqTask, check_adapter
from agents.training.kinds.preferences import PreferenceTask
from agents.training.kinds.ranking import CrossEncoderTask, DualEncoderTask
from agents.training.lessons import Lessons
from agents.training.rationales import ShownReasons, shown_reasons
from agents.training.samples.action_rows import ActionRows, turns_recipe
from agents.training.samples.asked import Asked
from agents.training.samples.left_out import LeftOut
from agents.training.samples.pairs import Pairs, cross_encoder_lines, dual_encoder_lines, prepare
from agents.training.samples.preference_rows import PreferenceRows
from agents.training.samples.prompt_rows import PromptRows
from agents.training.samples.rows import RankingRows, SplitRows, StepRows, as_set
from agents.training.samples.tokens import KeptSamples, PageSamples
from agents.training.samples.transition_rows import TransitionRows
from agents.training.settings import (
    CausalSettings,
    CrossEncoderSettings,
    DualEncoderSettings,
    LoopSettings,
    PlannerSettings,
    make_settings,
    read_settings,
)
from agents.training.trained import card
from agents.training.unpacking import unpacked
from annotations.models import Split
from annotations.models.jobs.jobs import LOADING

TrainingEnd = Literal["paused", "done"]
PART = (sys.executable, str(Path(__file__).parents[2] / "manage.py"), "train_part")  # what a further device's runs
WORK = "work"  # folder of what is kept between slices


class Work:
    """One slice of a model's training. `tell(phase, done, total, unit, …)` raises when it must stop; `saved` is called
    when there is a new checkpoint."""

    def __init__(
        self,
        model: TrainedModel,
        params: dict[str, Any],
        until: Callable[[], bool],
        tell: Callable[..., None],
        saved: Callable[[], None] = lambda: None,
    ) -> None:
        self.model, self.params, self.until, self.tell, self.saved = model, params, until, tell, saved
        self.folder: Path = model.folder
        self.kept = model.folder / WORK
        self.left_out = LeftOut(self.kept / "left-out.jsonl")
        self.unanswered = LeftOut(self.kept / "rationales.jsonl", "recalled steps are shown without a rationale")
        assert model.dataset is not None  # a job without one has ended before
        self.dataset = model.dataset
        self.rows = SplitRows(self.dataset, Split.TRAIN, params["limit"], Lessons.of_params(params.get("lessons", ())))
        self.dev = SplitRows(self.dataset, Split.DEV)
        self.recipe = literature.from_dict(params["recipe"]) if params.get("recipe") else None
        self.pack = pack_of(self.recipe, self.dataset) if self.recipe else None

    def run(self) -> TrainingEnd:
        """Train for one slice and, when done, set the model's fields. Raises TrainingError and other ValueErrors."""
        if not self.rows.conversation_ids:
            raise TrainingError("there are no train conversations")
        if self.model.kind == TrainedModel.Kind.GROUNDED:
            from agents.training.kinds.grounded import train_grounded

            state = train_grounded(self)
            if state == "paused":
                self.saved()
            return state
        settings = make_settings(self.model.kind, self.params["changes"])
        task = self._task(settings)
        if task is None:
            return "paused"
        if not task.size:
            raise TrainingError("no train step has a gold element on its page")
        last: list[TrainingProgress] = []
        with together(processes(settings.devices), [*PART, str(self.model.pk)]):
            state = train(
                task,
                settings,
                self.kept,
                identity=self.rows.sha256,
                until=self.until,
                tell=lambda p: self._tell_epoch(p, last),
                saved=self.saved,
            )
        if state == "done":
            task.save(self.folder)
            self.finish(read_settings(settings, self.recipe), _measured(task, last[-1]))
        return state

    def take_part(self) -> None:
        """Run the same steps as the process that started this one, which alone tells, evaluates and writes."""
        settings = make_settings(self.model.kind, self.params["changes"])
        task = self._task(settings)
        assert task is not None  # the process that started this one has read the examples
        with joined():
            train(task, settings, self.kept, identity=self.rows.sha256)

    def finish(self, settings: dict[str, Any], metrics: dict[str, Any]) -> None:
        """Write the files beside the weights and forget what was kept between slices."""
        model, counted = self.model, {"left_out": len(self.left_out), "lessons": len(self.rows.lessons)}
        metrics = metrics | {name: count for name, count in counted.items() if count}
        reasons = shown_reasons(model.kind, self.params, self.dataset, self.recipe)
        model.config, model.metrics, model.data_sha256 = settings, metrics, self.rows.sha256
        written = card.Training(
            model.name,
            model.kind,
            model.get_kind_display(),
            model.base,
            model.dataset_name,
            model.data_sha256,
            self.dataset.licence,
            model.split,
            len(self.rows.conversation_ids),
            model.seed,
            settings,
            metrics,
            self.recipe.name if self.recipe else "",
            literature.sha256(self.recipe) if self.recipe else "",
            *((self.recipe.prompts.pack, self.recipe.prompts.sha256) if self.recipe else ("", "")),
            tuple(reasons.written()) if reasons else (),
            *self.rows.lessons.identity,
        )
        card.write_files(self.folder, written)
        _forget(self.kept)

    def _tell_epoch(self, progress: TrainingProgress, last: list[TrainingProgress]) -> None:
        last[:] = [progress]
        loss = f", loss {progress.loss:.4f}" if progress.loss is not None else ""
        self.tell(
            f"epoch {progress.epoch:.1f}{loss}",
            progress.step,
            progress.steps,
            "steps",
            curve=progress.curve,
            per_second=None if progress.seconds_per_step is None else round(1 / progress.seconds_per_step, 2),
        )

    def _task(self, settings: LoopSettings) -> TrainingTask | None:
        """The training's model and examples; None when the slice ended while the examples were read."""
        if isinstance(settings, CrossEncoderSettings | DualEncoderSettings):
            return self._ranking_task(settings)
        assert isinstance(settings, PlannerSettings)
        base = unpacked(self.model.base)
        check_adapter(self.model.kind, base, settings)
        if (samples := self._samples(settings, tokenizer := load_tokenizer(base))) is None:
            return None
        self.tell(LOADING, 0, None, "steps")
        if isinstance(settings, CausalSettings) and settings.loss == "dpo":
            path = self._prepared(PreferenceRows(samples[0], samples[0].rows), list, "preferences")
            return PreferenceTask(base, tokenizer, settings, path, samples[1]) if path else None
        if isinstance(settings, CausalSettings):
            return CausalTask(base, tokenizer, settings, *samples)
        return Seq2SeqTask(base, tokenizer, settings, *samples)

    def _ranking_task(self, settings: CrossEncoderSettings | DualEncoderSettings) -> TrainingTask | None:
        if isinstance(settings, CrossEncoderSettings):
            line, draws = cross_encoder_lines(settings), settings.epochs
        else:
            line, draws = dual_encoder_lines(settings), 1
        asked: Any = {"recipe": self.recipe, "base": self.model.base}
        path = self._prepared(RankingRows(self.rows, settings, self.left_out, **asked), line, "pairs")
        if path is None:
            return None
        pairs = Pairs(path, draws)
        dev = RankingRows(self.dev, settings, **asked).first(settings.dev_examples)
        self.tell(LOADING, 0, None, "steps")
        if isinstance(settings, CrossEncoderSettings):
            return CrossEncoderTask(self.model.base, settings, pairs, dev)
        return DualEncoderTask(self.model.base, settings, pairs, dev)

    def _samples(self, settings: PlannerSettings, tokenizer: Any) -> tuple[Any, Any] | None:
        if self.recipe is not None:
            reasons = ShownReasons(self.recipe, settings, self.rows, self.dev)
            if not reasons.are_written(lambda: llm_within_budget(self.model), self.unanswered, self.tell, self.until):
                return None
        planner = planner_named(settings.paradigm)
        if planner and planner.form:
            reminding = self._pipeline(self.recipe or as_set(settings))
            rows = StepRows(self.rows, settings, pipeline=reminding)
            dev_rows = StepRows(self.dev, settings, settings.dev_examples, pipeline=reminding)
            said: Any = {"recipe": self.recipe, "pack": self.pack}
            samples = PageSamples(rows, tokenizer, settings, settings.repeats, self.left_out, **said)
            return samples, PageSamples(dev_rows, tokenizer, settings, 1, **said)
        own, dev = [
            self._prepared(self._asked_rows(rows, settings, tokenizer), list, name)
            for name, rows in (("turns", self.rows), ("dev", self.dev))
        ]
        if own is None or dev is None:
            return None
        return KeptSamples(own, tokenizer), KeptSamples(dev, tokenizer, settings.dev_examples)

    def _asked_rows(
        self, rows: SplitRows, settings: PlannerSettings, tokenizer: Any
    ) -> ActionRows | PromptRows | TransitionRows:
        """What a language model learns from: whole prompts, as the recipe will ask them, with the recorded answers."""
        planner = planner_named(settings.paradigm)
        if planner is None:  # world models and value functions
            return TransitionRows(rows, settings, tokenizer, self.pack)
        asked = Asked(tokenizer)
        if planner.of_turns:
            return ActionRows(rows, settings, self._pipeline(turns_recipe(settings, self.recipe), asked), asked)
        assert self.recipe is not None  # who starts a training on trajectories names one
        return PromptRows(rows, settings, self._pipeline(self.recipe, asked), asked, self.left_out)

    def _pipeline(self, recipe: Recipe, asked: Asked | None = None) -> Pipeline:
        """The pipeline that recalls for the steps, or with `asked` makes whole prompts. The configured endpoint is used
        only where the recipe's recall asks a model."""
        llm = llm_within_budget(self.model) if recipe.recall.rewrite_instruction or predicts_objective(recipe) else None
        return build_training(recipe, self.dataset, self.model.seed, llm, asked)

    def _prepared(self, rows: Any, line: Callable[[list[Any]], list[dict]], name: str) -> Path | None:
        """The file of the pairs or prompts of all rows; None when the slice ended before it was whole."""
        total, path = len(rows.rows.conversation_ids), self.kept / f"{name}.jsonl"

        def groups(skip: int):
            for number, steps in rows.groups(skip):
                self.tell("reading", number, total, "conversations")
                yield number, steps

        return path if prepare(groups, line, path, self.until) == "done" else None


def _forget(kept: Path) -> None:
    """Delete what was kept between slices."""
    forget_checkpoint(kept)
    for path in kept.glob("*.jsonl"):
        path.unlink()
    if kept.exists():
        kept.rmdir()


def _measured(task: TrainingTask, last: TrainingProgress) -> dict[str, Any]:
    """The figures of a training that is over."""
    point = last.curve[-1]
    names = [name for name in point if name not in ("step", "epoch", "learning_rate", "loss")]
    metrics = {"train_loss": point["loss"], "examples": task.size, "steps": last.step}
    metrics |= {"pairs": task.size} if isinstance(task, PreferenceTask) else {}
    metrics |= {f"dev_{name}": point[name] for name in names}
    metrics["parameters"] = sum(parameter.numel() for parameter in task.model.parameters())
    trained = sum(p.numel() for p in task.model.parameters() if p.requires_grad)
    return metrics | ({} if trained == metrics["parameters"] else {"trained_parameters": trained})

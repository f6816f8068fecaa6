"""Train the planner `grounded` (agents/learned) on the steps of a dataset. Shell."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from agents.encoders.embedding import load_encoder
from agents.learned.examples import OPERATIONS, Example
from agents.learned.settings import Settings
from agents.models import TrainedModel
from agents.training.fit.loop import TrainingError
from agents.training.samples.rows import SplitRows
from agents.training.settings import changed
from annotations.models.jobs.jobs import LOADING

if TYPE_CHECKING:
    from agents.learned.train import LaidOut, Readings, TellEpoch

# What this process has read, and encoded, for the training that it works on, by the model's id: its next slice goes on
# with the next batch.
_kept: dict[int, "Readings | LaidOut"] = {}


class GroundedWork(Protocol):
    """The part of a training's `Work` that is used here."""

    model: TrainedModel
    params: dict[str, Any]
    rows: SplitRows
    dev: SplitRows
    folder: Path

    def tell(self, phase: str, done: int, total: int | None, unit: str) -> None: ...

    def until(self) -> bool: ...

    def finish(self, settings: dict[str, Any], metrics: dict[str, Any]) -> None: ...


def examples(rows: SplitRows) -> Iterator[Example]:
    """Steps to learn from: with a page, a gold element on it and an operation that the planner knows; the group is the
    website."""
    for _, recorded in rows.recorded():
        for step in recorded.steps:
            if step.snapshot_id is None:
                continue
            group = recorded.conversation.website.name
            for found in rows.lessons.samples(recorded.recorded(step)):
                if found.positive_ids and found.action.operation in OPERATIONS:
                    yield Example(found, group)


def train_grounded(work: GroundedWork) -> Literal["paused", "done"]:
    """Train the planner, or pause when the slice's time is over, after the texts or the batch at hand."""
    from agents.learned.train import NothingToLearn, Paused, train

    settings = changed(Settings(), work.params["changes"])

    def on_progress(phase: str, done: int, total: int) -> None:
        units = {"read": "steps", "encode": "texts", "fit": "epochs"}
        work.tell(phase, done, total, units.get(phase, "steps"))
        if phase == "encode" and done < total and work.until():
            raise Paused

    try:
        metrics = train(_laid_out(work, settings, on_progress), settings, work.folder, on_progress, work.until)
    except Paused:
        return "paused"
    except NothingToLearn as error:
        raise TrainingError(str(error)) from error
    _kept.clear()
    losses: list[list[float]] = metrics.pop("losses")
    work.model.curve = [{"step": place + 1, "epoch": place + 1, "loss": loss} for place, loss in enumerate(losses[0])]
    work.finish(vars(settings), _flat(metrics))
    return "done"


def _laid_out(work: GroundedWork, settings: Settings, on_progress: "TellEpoch") -> "LaidOut":
    """What is learned from: as an earlier slice left it in this process, else read and encoded now."""
    from agents.learned.train import LaidOut, lay_out, read

    kept = _kept.get(work.model.pk)
    if isinstance(kept, LaidOut):
        return kept
    if kept is None:
        _kept.clear()
        kept = _kept[work.model.pk] = read(examples(work.rows), settings, on_progress, examples(work.dev))
    work.tell(LOADING, 0, None, "texts")
    laid_out = _kept[work.model.pk] = lay_out(kept, load_encoder(work.model.base), work.folder, on_progress)
    return laid_out


def _flat(metrics: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The metrics with nested names joined by "_": {"dev": {"recall@1": …}} becomes dev_recall@1."""
    flat: dict[str, Any] = {}
    for name, value in metrics.items():
        flat |= _flat(value, f"{prefix}{name}_") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return flat

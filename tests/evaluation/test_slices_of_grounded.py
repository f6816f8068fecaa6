"""A training of `grounded` that makes way after every batch: what its slices do again, and what is told meanwhile."""

from pathlib import Path
from typing import Any

import pytest

from agents.encoders.embedding import CachedEncoder
from agents.training.jobs import run_inline, start_training
from agents.training.kinds import grounded
from annotations.jobs import stopping
from annotations.models import Job, Split
from tests.evaluation.sample_rows import import_website

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
EPOCHS, NETWORKS, BATCHES = 3, 2, 3


@pytest.fixture
def training(tmp_path: Path, settings: Any, hash_encoder: CachedEncoder, monkeypatch: pytest.MonkeyPatch):
    """A training that somebody always waits for; `loaded` has an entry each time its encoder is loaded."""
    settings.MODEL_ROOT = tmp_path / "models"
    (tmp_path / "sample").mkdir()
    dataset = import_website(tmp_path / "sample", conversations=2)
    dataset.conversations.update(split=Split.TRAIN)
    loaded: list[str] = []
    monkeypatch.setattr(grounded, "load_encoder", lambda name: loaded.append(name) or hash_encoder)
    monkeypatch.setattr(stopping, "makes_way", lambda: True)
    grounded._kept.clear()
    asked: dict[str, Any] = {"user": None, "dataset": dataset, "kind": "grounded", "publish": False}
    changes = {"epochs": EPOCHS, "networks": NETWORKS, "epoch_steps": 30, "batch_size": 10, "hidden": 8}
    return start_training(**asked, name="sliced", changes=changes), loaded


def test_a_slice_fits_a_batch_and_what_is_done_is_told_all_along(training) -> None:
    model, loaded = training
    told: list[tuple[str, int]] = []

    def note(job: Job) -> None:
        if (now := (job.progress.get("phase", ""), job.progress.get("done", 0))) not in told[-1:]:
            told.append(now)

    assert run_inline(model, on_progress=note).state == "done"
    assert loaded == [model.base], "the next slice encodes nothing anew"
    first = next(place for place, (phase, _) in enumerate(told) if phase == "fit")
    fitted = [told[first], *(now for now in told[first:] if now[0] != "fit" or now[1] > told[first][1])]
    assert {phase for phase, _ in fitted} == {"fit"}, told
    assert [done for _, done in fitted] == sorted(done for _, done in fitted)


def test_another_process_goes_on_with_the_next_batch(training, monkeypatch: pytest.MonkeyPatch) -> None:
    model, loaded = training
    fitted: list[int] = []
    teller = grounded.train_grounded

    def in_a_new_process(work: Any) -> Any:
        grounded._kept.clear()
        whole = work.tell

        def tell(phase: str, done: int, total: int | None, unit: str, **more: Any) -> None:
            if phase == "fit":
                fitted.append(done)
            whole(phase, done, total, unit, **more)

        monkeypatch.setattr(work, "tell", tell)
        return teller(work)

    monkeypatch.setattr(grounded, "train_grounded", in_a_new_process)
    assert run_inline(model).state == "done"
    assert list(dict.fromkeys(fitted)) == list(range(EPOCHS * NETWORKS + 1)), "none is fitted twice"
    assert len(loaded) >= EPOCHS * NETWORKS * BATCHES - NETWORKS, "a slice for each batch but the first of a network"

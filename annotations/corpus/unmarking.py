"""Takes the recorder's marks out of steps that were stored before imports did so: a batch at a time, resumable."""

from collections.abc import Callable
from typing import Any

from django.db import transaction

from annotations.datasets.recorder_marks import take_marks
from annotations.models import Step, Website
from annotations.models.corpus.candidates import pack_candidates
from annotations.models.corpus.conversations import RECORDED_AS
from annotations.pages.store import PageStore

BATCH = 20  # steps in one transaction, and in memory


def unmark_steps(limit: int | None = None, progress: Callable[[int], None] = lambda _: None) -> int:
    """Search steps for marks that nobody has searched yet, at most `limit` of them, and return how many there were.
    `progress` is told after every batch.

    What was done stays done: a later call goes on where this one ended, however it ended.
    """
    searched, store = 0, PageStore()
    while limit is None or searched < limit:
        with transaction.atomic():
            steps = _unsearched(BATCH if limit is None else min(BATCH, limit - searched))
            for step in steps:
                _unmark(step, store)
        searched += len(steps)
        progress(searched)
        if not steps:
            break
    return searched


def _unsearched(count: int) -> list[Step]:
    rows = Step.objects.filter(marks__isnull=True).order_by("pk").select_for_update(of=("self",), skip_locked=True)
    rows = rows.with_pages().select_related("screenshot", "turn__conversation__website__page_dictionary")
    return list(rows[:count])


def _unmark(step: Step, store: PageStore) -> None:
    record = step.record()
    clean, marks = take_marks(record)
    changed = {
        field: _stored(store, step.turn.conversation.website, getattr(clean, name), getattr(step, field).node_count)
        for field, name in RECORDED_AS.items()
        if getattr(clean, name) != getattr(record, name)
    }
    candidates: dict[str, Any] = {}
    if "positives" in marks or "negatives" in marks:
        candidates["candidates"] = pack_candidates(clean.positives, clean.negatives)
    Step.objects.filter(pk=step.pk).update(marks=marks, **changed, **candidates)
    if "snapshot" in changed:
        step.show_before(changed["snapshot"])


def _stored(store: PageStore, website: Website, html: str, elements: int) -> Any:
    return store.store(website, [(html, elements)])[html]

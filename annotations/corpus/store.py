"""Writes conversations: from records that were read, and as copies of stored steps. Nothing else makes one; what is
stored is changed by `NewGold` here, by `reworded.py`, `judged.py` and `unmarking.py` beside it, and by
`annotations/releases/redacting.py`."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from django.db import models, transaction
from django.db.models import Max

from annotations.corpus.judged import CarryingOver, said
from annotations.corpus.storable import Unstorable, check
from annotations.datasets.recorder_marks import Marks, take_marks
from annotations.datasets.records import ConversationRecord, StepRecord, TurnRecord
from annotations.dom.tree import NODE_ID
from annotations.models import (
    Conversation,
    ConversationTally,
    Dataset,
    Session,
    SessionTask,
    Snapshot,
    SourceFile,
    SourceTask,
    Split,
    Step,
    Target,
    Turn,
    Website,
)
from annotations.models.corpus.candidates import pack_candidates
from annotations.models.corpus.pages import compress
from annotations.pages.store import PageStore, store_screenshot
from annotations.sandbox import page_questions

StoredRow = TypeVar("StoredRow", bound=models.Model)
DEFAULT_SPLIT = Split.TRAIN
LOSING = "import it into a new dataset, or choose to replace what people judged (--replace-judged, replace_judged)"
# By what else a stored conversation is used, so that none takes its place: rows, and what is said of them. Higher wings
# add theirs.
USES: list[tuple[Callable[[Conversation], models.QuerySet[Any]], str]] = [
    (lambda stored: SessionTask.objects.filter(conversation=stored), "which lies in a session of a campaign"),
    (lambda stored: Session.objects.filter(released=stored), "which a campaign has published"),
]


class ConversationStore:
    """Writes records into one dataset; `split` overrides what the records say. What people said of a conversation that
    has changed goes over to the new one; `replace_judged`: also where some of that fits no more, and goes with it."""

    def __init__(self, dataset: Dataset, split: str = "", replace_judged: bool = False) -> None:
        self.dataset, self.split, self.replace_judged = dataset, split, replace_judged
        self._pages = PageStore()
        self._websites: dict[tuple[str, str, str], Website] = {}
        self._position: int | None = None  # of the conversation stored last

    def sha256(self, record: ConversationRecord) -> str:
        return content_sha256(record, self._split_of(record))

    def store(self, records: Sequence[tuple[ConversationRecord, str]]) -> Counter:
        """Store all or none of the records (with their `sha256`; ids must differ) in one transaction.

        Counts `conversations`, `turns`, `steps`, `snapshots` (pages of each, also where another project has them) and
        `without_split` of what was written, `unchanged` of what was there; under ("kept", what) and ("lost", what) the
        work on conversations that were replaced. Raises Unstorable, PageError, PageTooLarge, or DatabaseError.
        """
        try:
            with transaction.atomic():
                return self._store_all(records)
        except BaseException:
            self._websites.clear()  # rows made in the failed transaction are gone
            raise

    def _store_all(self, records: Sequence[tuple[ConversationRecord, str]]) -> Counter:
        counts: Counter = Counter()
        pages = self._pages.taken
        wanted = [record.source_id for record, _ in records]
        known = dict(self.dataset.conversations.filter(source_id__in=wanted).values_list("source_id", "content_sha256"))
        for record, sha256 in records:
            if known.get(record.source_id) == sha256:
                counts["unchanged"] += 1
                continue
            check(record, self._split_of(record))
            if record.source_id in known:
                counts.update(self._replace(record, sha256))
            else:
                self._store(record, sha256, self._next_position())
            counts["conversations"] += 1
            counts["turns"] += len(record.turns)
            counts["steps"] += sum(len(turn.steps) for turn in record.turns)
            counts["without_split"] += not (self.split or record.split)
        counts["snapshots"] = self._pages.taken - pages
        ConversationTally.fold()  # every statement above has added a row
        return counts

    def _split_of(self, record: ConversationRecord) -> str:
        return self.split or record.split or DEFAULT_SPLIT

    def _replace(self, record: ConversationRecord, sha256: str) -> Counter:
        """Store a changed conversation in the place of the stored one, unless work refers to that which cannot go over;
        counts the work of people that was kept and lost."""
        stored = self.dataset.conversations.get(source_id=record.source_id)
        for rows, what in USES:
            if rows(stored).exists():
                advice = "import it into a new dataset, or delete those first"
                raise Unstorable("", f"differs from the stored conversation, {what}: {advice}")
        self.dataset.conversations.filter(pk=stored.pk).update(source_id=f"{stored.pk} is replaced")
        kept, lost = CarryingOver(stored, self._store(record, sha256, stored.position)).run()
        if lost and not self.replace_judged:
            raise Unstorable("", f"differs from the stored conversation, and would lose {said(lost)}: {LOSING}")
        stored.delete()
        return Counter({(key, what): n for key, of in (("kept", kept), ("lost", lost)) for what, n in of.items()})

    def _website(self, record: ConversationRecord) -> Website:
        key = (record.website, record.domain, record.subdomain)
        if key not in self._websites:
            self._websites[key], _ = Website.objects.select_related("page_dictionary").get_or_create(
                dataset=self.dataset, name=record.website, domain=record.domain, subdomain=record.subdomain
            )
        return self._websites[key]

    def _store(self, record: ConversationRecord, sha256: str, position: int) -> Conversation:
        website, split = self._website(record), self._split_of(record)
        conversation = Conversation.objects.create(
            dataset=self.dataset,
            source_id=record.source_id,
            website=website,
            split=split,
            position=position,
            content_sha256=sha256,
            extra=record.extra,
        )
        SourceFile.objects.bulk_create(
            SourceFile(conversation=conversation, path=kept.path, data=compress(kept.data), raw_size=len(kept.data))
            for kept in record.files
        )
        task = self._source_task(record, website, split)
        turns = Turn.objects.bulk_create(
            Turn(
                conversation=conversation,
                index=index,
                source_id=turn.source_id,
                source_index=turn.source_index,
                source_task=task,
                instruction=turn.instruction,
                extra=turn.extra,
            )
            for index, turn in enumerate(record.turns)
        )
        unmarked = [_unmarked(turn) for turn in record.turns]
        steps = [step for turn in unmarked for step in turn.steps]
        orders = _node_orders(steps)
        pages = self._pages.store(website, _pages(steps, orders))
        for turn, recorded in zip(turns, unmarked, strict=True):
            _store_steps(turn, recorded, pages, orders)
        return conversation

    def _next_position(self) -> int:
        if self._position is None:
            self._position = self.dataset.conversations.aggregate(n=Max("position"))["n"] or 0
        self._position += 1
        return self._position

    def _source_task(self, record: ConversationRecord, website: Website, split: str) -> SourceTask | None:
        if self.dataset.source_format != "mind2web" or len(record.turns) != 1:
            return None
        fields = {"website": website, "split": split, "instruction": record.turns[0].instruction}
        return SourceTask.objects.update_or_create(dataset=self.dataset, source_id=record.source_id, defaults=fields)[0]

    def copy(self, source_id: str, website: Website, position: int, extra: dict, turns: Sequence["TurnCopy"]):
        """A conversation of copies of stored steps: the same pages, candidates and targets, none of which is read
        again. Call it inside a transaction."""
        assert self.split, "copies are made for one split"
        conversation = Conversation.objects.create(
            dataset=self.dataset,
            source_id=source_id,
            website=website.within(self.dataset),
            split=self.split,
            position=position,
            content_sha256="",
            extra=extra,
        )
        for index, turn in enumerate(turns):
            row = Turn.objects.create(
                conversation=conversation,
                index=index,
                source_id=f"{source_id}_{index}",
                instruction=turn.instruction,
                extra=turn.extra,
            )
            _copy_steps(row, turn.steps)
        stored = Conversation.objects.filter(pk=conversation.pk)
        stored.update(content_sha256=self.sha256(next(stored.records())))
        conversation.refresh_from_db()
        return conversation


@dataclass(frozen=True)
class TurnCopy:
    """A turn to be made of stored steps, with a new instruction."""

    instruction: str
    steps: Sequence[Step]
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class NewGold:
    """Gold that takes the place of what was recorded at a step. `candidates`: packed, empty where the source lists
    none; `node_order`: the element's place in the page."""

    operation: str
    value: str
    action_repr: str
    node_id: str
    node_order: int | None
    candidates: bytes

    def write(self, step: Step) -> None:
        """Write the gold to the step, inside a transaction of the caller. The checksum that imports compare stays as it
        was, so that importing the same files again undoes no correction."""
        step.operation, step.value, step.original_operation = self.operation, self.value, ""
        step.action_repr = self.action_repr
        if self.candidates:
            step.candidates = self.candidates
        step.save(update_fields=["operation", "value", "original_operation", "action_repr", "candidates"])
        step.targets.all().delete()
        is_pruned = self.node_order is None
        place = {"position": 0, "node_order": self.node_order, "pruned": is_pruned}
        Target.objects.create(step=step, node_id=self.node_id, is_original=True, **place)


def content_sha256(record: ConversationRecord, split: str) -> str:
    """Identity of a record's content: equal exactly when an import into `split` would store the same rows."""
    content = hashlib.sha256(repr(replace(record, split=split)).encode())
    for kept in record.files:  # which `repr` leaves out
        content.update(f"{kept.path} {len(kept.data)}\n".encode() + kept.data)
    return content.hexdigest()


@dataclass(frozen=True)
class _Unmarked:
    """The steps of a turn as they are stored: without their recorder's marks, which are kept beside them."""

    steps: tuple[StepRecord, ...]
    marks: tuple[Marks, ...]
    targets: tuple[str | None, ...]  # the elements that the recorder marked, for steps without a candidate that is gold


def _unmarked(turn: TurnRecord) -> _Unmarked:
    taken = [take_marks(step) for step in turn.steps]
    targets = [None if step.positives else marked_target(step.raw_html, step.source_id) for step in turn.steps]
    return _Unmarked(tuple(step for step, _ in taken), tuple(marks for _, marks in taken), tuple(targets))


def _node_orders(steps: Sequence[StepRecord]) -> dict[str, dict[str, int]]:
    """Page (html) -> backend node id -> its place in document order."""
    orders: dict[str, dict[str, int]] = {}
    page_questions.prepare({step.html: None for step in steps if step.html})
    for step in steps:
        if step.html and step.html not in orders:
            # Reversed, so that of two elements with one id the first keeps it.
            orders[step.html] = {
                node: place for place, node in reversed(list(enumerate(page_questions.outline(step.html))))
            }
    return orders


def _pages(steps: Sequence[StepRecord], orders: dict[str, dict[str, int]]) -> list[tuple[str, int]]:
    """(html, element count) of every page of the steps. Pages as recorded may be no XML: of those, ids are counted."""
    pages = {html: len(order) for html, order in orders.items()}
    for step in steps:
        for html in (step.raw_html, step.html_after):
            if html and html not in pages:
                pages[html] = html.count(f"{NODE_ID}=")
    return list(pages.items())


def _store_steps(
    turn: Turn, recorded: _Unmarked, pages: dict[str, Snapshot], orders: dict[str, dict[str, int]]
) -> None:
    steps = Step.objects.bulk_create(_step(turn, index, recorded, pages) for index in range(len(recorded.steps)))
    Target.objects.bulk_create(
        target
        for step, record, marked in zip(steps, recorded.steps, recorded.targets, strict=True)
        for target in _targets(step, record, orders.get(record.html, {}), marked)
    )


def _step(turn: Turn, index: int, recorded: _Unmarked, pages: dict[str, Snapshot]) -> Step:
    record = recorded.steps[index]
    following = recorded.steps[index + 1].html if index + 1 < len(recorded.steps) else ""
    return Step(
        turn=turn,
        index=index,
        source_id=record.source_id,
        source_index=record.source_index,
        operation=record.operation,
        original_operation=record.original_operation,
        value=record.value,
        action_repr=record.action_repr,
        snapshot=pages.get(record.html),
        raw_snapshot=pages.get(record.raw_html),
        snapshot_after=pages.get(record.html_after or following),
        keeps_page_after=bool(record.html_after),
        screenshot=store_screenshot(record.screenshot) if record.screenshot else None,
        candidates=pack_candidates(record.positives, record.negatives),
        marks=recorded.marks[index],
        candidate_count=len(record.positives) + len(record.negatives),
        extra=record.extra,
    )


def _targets(step: Step, record: StepRecord, order: dict[str, int], marked: str | None) -> list[Target]:
    """The gold elements of the step as rows; where the record has none, the element that the recorder marked
    (`marked`), which pruning has taken off the page."""
    targets = []
    for position, positive in enumerate({c.node_id: c for c in record.positives}.values()):
        place = order.get(positive.node_id)
        targets.append(
            Target(
                step=step,
                node_id=positive.node_id,
                position=position,
                node_order=place,
                pruned=place is None,
                is_original=positive.is_original_target,
                is_top_level=positive.is_top_level_target,
            )
        )
    if not targets and marked:
        targets.append(Target(step=step, node_id=marked, position=0, pruned=True))
    return targets


def marked_target(raw_html: str, action_uid: str) -> str | None:
    """Backend node id of the element that the recorder marked as the action's target (sources.md M1.1)."""
    mark = raw_html.find(f'data_pw_testid_buckeye="{action_uid}"')
    if mark < 0:
        return None
    tag = raw_html[raw_html.rfind("<", 0, mark) : raw_html.find(">", mark)]
    found = re.search(rf'\b{NODE_ID}="([^"]+)"', tag)
    return found.group(1) if found else None


def _copy_steps(turn: Turn, steps: Sequence[Step]) -> None:
    """Copies of the steps: the same pages, candidates and targets."""
    seen: set[str] = set()
    copies = []
    for index, step in enumerate(steps):
        following = steps[index + 1].snapshot_id if index + 1 < len(steps) else None
        # Steps of different tasks may share an id, which a turn may hold only once.
        source_id = f"{step.turn.conversation.source_id}:{step.source_id}" if step.source_id in seen else step.source_id
        seen.add(source_id)
        after = step.snapshot_after_id if step.keeps_page_after else following
        copies.append(_copy(step, turn_id=turn.pk, index=index, source_id=source_id, snapshot_after_id=after))
    Step.objects.bulk_create(copies)
    Target.objects.bulk_create(
        _copy(target, step_id=copy.pk)
        for copy, step in zip(copies, steps, strict=True)
        for target in step.targets.all()
    )


def _copy(row: StoredRow, **changes: Any) -> StoredRow:
    """A copy of the row, not stored yet: every column but its key, with the changes."""
    columns = (field.attname for field in row._meta.concrete_fields if not field.primary_key)
    return type(row)(**{name: getattr(row, name) for name in columns} | changes)

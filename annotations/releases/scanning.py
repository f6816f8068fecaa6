"""Searches the texts and pages of a dataset for private data; pages and other large texts are read once per content. A
text that was taken out of one may still stand in others, as in those that were made of the same conversations, each of
which is redacted for itself."""

import json
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db.models import Count, F, Func, QuerySet
from django.urls import reverse

from annotations.access import rules
from annotations.models import Conversation, Dataset, Snapshot, SourceFile, Step, Turn
from annotations.models.corpus.conversations import RECORDED_AS
from annotations.releases import privacy
from annotations.releases.keeping import KEPT, KeptTexts
from annotations.releases.privacy import take_out

SCAN_SECONDS = 8  # of reading pages that were not read before, in a request that is to do something with what is found
Piece = tuple[str, int, int, str]  # kind, start, end, fingerprint of a piece of a large text


class Use(NamedTuple):
    """A place of a text: a conversation, and a step in it (None outside of steps)."""

    conversation: int
    step: int | None


@dataclass
class PrivateText:
    """A text that looks private, with where it is; `example` is one of the uses."""

    kind: str
    fingerprint: str
    text: str
    example: Use
    places: Counter[str] = field(default_factory=Counter)  # instruction, value, page, … -> how often
    conversations: set[int] = field(default_factory=set)
    pages: set[str] = field(default_factory=set)  # SHA-256 of those that hold it

    @property
    def count(self) -> int:
        return self.places.total()


@dataclass
class PrivacyReport:
    """The private texts that were found, the most frequent of each kind first. `scanned` of the `large` texts (pages,
    files) have been read."""

    texts: list[PrivateText]
    large: int
    scanned: int

    @property
    def is_complete(self) -> bool:
        return self.scanned == self.large

    def of_kind(self, kind: str) -> list[PrivateText]:
        return [text for text in self.texts if text.kind == kind]


class _Large(NamedTuple):
    """A large text, which is scanned once per content; the result is kept."""

    place: str
    sha256: str
    uses: list[Use]
    load: Callable[[], str]

    @property
    def key(self) -> str:
        return f"{self.place}:{self.sha256}"


class DatasetTexts:
    """All texts of a dataset: the small ones, and the large ones, each content once."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset

    def small(self) -> Iterator[tuple[str, str, Use, bool]]:
        """(place, text, use, whether somebody typed it) of instructions, values, `extra` fields, and what was said of
        them."""
        turns = Turn.objects.filter(conversation__dataset=self.dataset).order_by("conversation__position", "index")
        for conversation, instruction, extra in turns.values_list("conversation", "instruction", "extra").iterator():
            yield "instruction", instruction, Use(conversation, None), False
            yield "extra", "\n".join(strings(extra)), Use(conversation, None), False
        rows = self._steps().values_list("turn__conversation", "pk", "value", "action_repr", "extra")
        for conversation, pk, value, action, extra in rows.iterator():
            yield "value", value, Use(conversation, pk), True
            yield "action", action, Use(conversation, pk), True
            yield "extra", "\n".join(strings(extra)), Use(conversation, pk), False
        for pk, extra in self.dataset.conversations.values_list("pk", "extra"):
            yield "extra", "\n".join(strings(extra)), Use(pk, None), False
        for kept in KEPT:
            for conversation, texts in kept.searched_in(self.dataset):
                yield "kept", "\n".join(strings(texts)), Use(conversation, None), False

    def large(self) -> list[_Large]:
        return [*self._pages(), *self._candidates(), *self._files()]

    def _steps(self) -> QuerySet[Step]:
        own = Step.objects.of_dataset(self.dataset)
        return own.order_by("turn__conversation__position", "turn__index", "index")

    def _pages(self) -> list[_Large]:
        """Every distinct page of the dataset, with the steps that show it, and those of live episodes."""
        uses: dict[int, list[Use]] = {}
        for step, conversation, *pages in self._steps().values_list("pk", "turn__conversation", *RECORDED_AS):
            for page in {page for page in pages if page}:
                uses.setdefault(page, []).append(Use(conversation, step))
        for conversation, page in (found for kept in KEPT for found in kept.pages_in(self.dataset)):
            uses.setdefault(page, []).append(Use(conversation, None))
        shas = dict(Snapshot.objects.filter(pk__in=uses).values_list("pk", "sha256"))
        return [_Large("page", shas[pk], uses[pk], partial(_page, pk)) for pk in uses]

    def _candidates(self) -> list[_Large]:
        """The attributes of candidate elements, which pages as recorded have and cleaned pages may lack."""
        digest = Func(F("candidates"), function="sha256")
        rows = self._steps().exclude(candidate_count=0).annotate(sha256=digest)
        return [
            _Large("candidate", bytes(sha256).hex(), [Use(conversation, pk)], partial(_attributes, pk))
            for pk, conversation, sha256 in rows.values_list("pk", "turn__conversation", "sha256")
        ]

    def _files(self) -> list[_Large]:
        """Files of the source, which exports write again."""
        rows = SourceFile.objects.filter(conversation__dataset=self.dataset).order_by("conversation", "path")
        digest = Func(F("data"), function="sha256")
        return [
            _Large("file", bytes(sha256).hex(), [Use(conversation, None)], partial(_file, pk))
            for pk, conversation, sha256 in rows.annotate(sha256=digest).values_list("pk", "conversation", "sha256")
        ]


def strings(value: object) -> list[str]:
    """Every string in a JSON value, in order."""
    found: list[str] = []

    def note(text: str) -> str:
        found.append(text)
        return text

    privacy.map_strings(value, note)
    return found


def _page(pk: int) -> str:
    return Snapshot.objects.with_content().get(pk=pk).html


def _attributes(pk: int) -> str:
    positives, negatives = Step.objects.only("candidates").get(pk=pk).candidate_records()
    return "\n".join(candidate.attributes for candidate in (*positives, *negatives))


def _file(pk: int) -> str:
    return SourceFile.objects.get(pk=pk).content.decode("utf-8", "replace")


class ScanMemory:
    """Results of earlier scans by content: places and fingerprints, never the texts themselves."""

    def __init__(self, dataset: Dataset) -> None:
        self.path = Path(settings.VAR_DIR) / "private-scans" / f"{dataset.pk}-{privacy.VERSION}.json"

    def read(self) -> dict[str, list[Piece]]:
        try:
            stored = json.loads(self.path.read_text("utf-8"))
        except (OSError, ValueError):  # none yet, or damaged: everything is scanned
            return {}
        return {key: [tuple(piece) for piece in pieces] for key, pieces in stored.items()}

    def write(self, known: dict[str, list[Piece]]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_name(f".{self.path.name}.{uuid.uuid4().hex}")  # another scan may be writing too
        partial.write_text(json.dumps(known), "utf-8")
        partial.replace(self.path)


def scan_dataset(dataset: Dataset, seconds: float | None = None) -> PrivacyReport:
    """Scan everything, or stop reading large texts after so many seconds: what was read by then is remembered, so that
    the next call goes on from there."""
    texts, found = DatasetTexts(dataset), dict[str, PrivateText]()
    for place, text, use, typed in texts.small():
        for piece in privacy.scan(text, typed):
            private = text[piece.start : piece.end]
            _note(found, piece.kind, privacy.fingerprint(piece.kind, private), partial(str, private), place, [use])
    until = None if seconds is None else time.monotonic() + seconds
    large = texts.large()
    scanned = _scan_large(ScanMemory(dataset), large, found, until)
    order = {kind: place for place, kind in enumerate(privacy.KINDS)}
    ordered = sorted(found.values(), key=lambda text: (order[text.kind], -text.count, text.text))
    return PrivacyReport(ordered, len(large), scanned)


def _scan_large(memory: ScanMemory, large: list[_Large], found: dict[str, PrivateText], until: float | None) -> int:
    """Add what is found in these texts; returns how many of them have been read, now or earlier."""
    before = memory.read()
    known: dict[str, list[Piece]] = {}
    for item in large:
        if item.key in before:
            known[item.key] = before[item.key]
        elif item.key not in known and (until is None or time.monotonic() < until):
            known[item.key] = _pieces(item.load())
    if known != before:
        memory.write(known)
    scanned = [item for item in large if item.key in known]
    for item in scanned:
        for kind, start, end, fingerprint in known[item.key]:
            _note(
                found,
                kind,
                fingerprint,
                partial(_cut, item, start, end),
                item.place,
                item.uses,
            )
            if item.place == "page":
                found[fingerprint].pages.add(item.sha256)
    return len(scanned)


def _cut(item: _Large, start: int, end: int) -> str:
    return item.load()[start:end]


def _pieces(text: str) -> list[Piece]:
    return [(kind, start, end, privacy.fingerprint(kind, text[start:end])) for kind, start, end in privacy.scan(text)]


def _note(
    found: dict[str, PrivateText], kind: str, fingerprint: str, text: Callable[[], str], place: str, uses: list[Use]
) -> None:
    if fingerprint not in found:
        found[fingerprint] = PrivateText(kind, fingerprint, text(), uses[0])
    found[fingerprint].places[place] += 1
    found[fingerprint].conversations.update(use.conversation for use in uses)


RECORDED = (
    KeptTexts(Conversation, "", ("extra",)),
    KeptTexts(Turn, "conversation", ("instruction", "extra")),
    KeptTexts(Step, "turn__conversation", ("value", "action_repr", "extra", "snapshot", "raw_snapshot")),
)


class HoldingDataset(NamedTuple):
    """Another dataset, in how many places of it the texts stand, and the page where they can be taken out of it; "" for
    those who may not do so."""

    dataset: str
    places: int
    url: str


class OtherDatasets:
    """The datasets beside one that a user may see."""

    def __init__(self, user: rules.User, dataset: Dataset) -> None:
        self.user = user
        self.rows = rules.visible(user, Dataset.objects.exclude(pk=dataset.pk))

    def holding(self, texts: Iterable[PrivateText]) -> list[HoldingDataset]:
        """Those in which these texts stand, most often first: in words, and on pages that the dataset showed, too. What
        is hidden from the user with the gold of test splits is left out."""
        counts: Counter[int] = Counter()
        for text in texts:
            for kept in (*RECORDED, *(one for one in KEPT if one.path)):
                counts += self._count(kept, text)
        found = Dataset.objects.select_related("project").in_bulk(counts)
        return [HoldingDataset(found[pk].name, count, self._page(found[pk])) for pk, count in counts.most_common()]

    def _count(self, kept: KeptTexts, text: PrivateText) -> Counter[int]:
        """Dataset -> how often the text stands in the columns of these rows, and on how many of their pages."""
        to = f"{kept.path}__" if kept.path else ""
        gold = rules.shows_gold(self.user, f"{to}split", f"{to}dataset__project")
        rows = kept.model._base_manager.filter(gold, **{f"{to}dataset__in": self.rows}).order_by()
        names, counts = [*(kept.searched or kept.texts())], Counter[int]()
        holding = kept.holding(text.text, names, rows).values_list("pk", f"{to}dataset", *names).distinct()
        for _, dataset, *said in holding.iterator():
            counts[dataset] += sum(len(take_out(one, text.text, "")[1]) for one in strings(said))
        for name in kept.pages():
            showing = rows.filter(**{f"{name}__sha256__in": text.pages}).values_list(f"{to}dataset")
            counts.update(dict(showing.annotate(Count("pk"))))
        return +counts

    def _page(self, dataset: Dataset) -> str:
        may_redact = rules.can(self.user, "manage", dataset.project)
        return reverse("release-new", args=[dataset.name]) if may_redact else ""

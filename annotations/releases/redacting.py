"""Takes a private text out of a dataset; a record of it is kept, without the text."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Model, QuerySet

from annotations.datasets.recorder_marks import CANDIDATES, moved, put_back, take_marks
from annotations.datasets.records import StepRecord
from annotations.dom.limits import PageError
from annotations.models import Conversation, Dataset, Redaction, Snapshot, SourceFile, Step, Turn
from annotations.models.accounts.projects import Account
from annotations.models.corpus.candidates import pack_candidates
from annotations.models.corpus.conversations import RECORDED_AS
from annotations.models.corpus.pages import compress
from annotations.pages.store import PageStore
from annotations.releases.keeping import KEPT, KeptTexts
from annotations.releases.privacy import map_strings, replacement, take_out
from annotations.releases.scanning import PrivateText
from annotations.sandbox import page_questions

RedactedPlace = tuple[int | None, str]  # step (None: outside of steps) and instruction, value, page, …


@transaction.atomic
def redact(dataset: Dataset, finding: PrivateText, user: Account) -> int:
    """Replace a found text wherever it stands in the conversations that hold it; how many places were changed.

    It is replaced in instructions, values, everything kept beside them and pages: a changed page is stored as a new
    one, the steps that showed it show that, and its elements keep their ids; and in what runs, memory, judges and
    people keep of it (`KEPT`), live pages and the audit trail included. One Redaction is written per conversation, step
    and place. Earlier releases stay as they are. Raises ValidationError where taking the text out would change the
    elements of a page.
    """
    total, text = 0, finding.text
    kept_by = [(one, one.keepers(text, finding.conversations)) for one in KEPT if not one.is_shared]
    shared = [one for one in KEPT if one.is_shared]
    for conversation in dataset.conversations.filter(pk__in=finding.conversations).select_related("website"):
        kept = [*shared, *(one for one, keepers in kept_by if conversation.pk in keepers)]
        counts, shared = _TextRemover(conversation, finding, kept).run(), []
        Redaction.objects.bulk_create(
            Redaction(
                dataset=dataset,
                conversation=conversation,
                step_id=step,
                kind=finding.kind,
                place=place,
                found_sha256=finding.fingerprint,
                replacement=replacement(finding.kind),
                count=count,
                user=user,
            )
            for (step, place), count in counts.items()
        )
        total += counts.total()
    return total


class _TextRemover:
    """Takes one text out of one conversation, and counts it by place."""

    def __init__(self, conversation: Conversation, finding: PrivateText, kept: Iterable[KeptTexts]) -> None:
        self.conversation, self.finding, self.kept = conversation, finding, kept
        self.counts: Counter[RedactedPlace] = Counter()
        self._pages = PageStore()
        self._changed: dict[int, int] = {}  # page -> the page without the text
        self._cuts: dict[int, list[int]] = {}  # page -> where the text stood

    def run(self) -> Counter[RedactedPlace]:
        self._columns(self.conversation, None, extra="extra")
        for turn in self.conversation.turns.all():
            self._turn(turn)
            for step in turn.steps.all():
                self._step(step)
        for file in SourceFile.objects.filter(conversation=self.conversation):
            self._file(file)
        for kept in self.kept:
            for rows in kept.rows(self.conversation):
                self._kept(kept, rows)
        return self.counts

    def _kept(self, kept: KeptTexts, rows: QuerySet[Any]) -> None:
        """Take the text out of rows beside the conversation, and of the pages that they show."""
        texts, pages = kept.texts(), kept.pages()
        for row in kept.holding(self.finding.text, texts, rows).only("pk", *texts).iterator(chunk_size=100):
            self._columns(row, None, **dict.fromkeys(texts, "kept"))
        for row in rows.only("pk", *pages).iterator() if pages else ():
            without = {name: self._page_without(getattr(row, f"{name}_id")) for name in pages}
            if changed := {name: page for name, page in without.items() if page}:
                self.counts[None, "kept"] += len(changed)
                rows.model._base_manager.filter(pk=row.pk).update(**changed)

    def _out(self, place: RedactedPlace) -> Callable[[str], str]:
        """A function that takes the text out of strings and counts it under this place."""

        def out(text: str) -> str:
            changed, found = take_out(text, self.finding.text, replacement(self.finding.kind))
            if found:
                self.counts[place] += len(found)
            return changed

        return out

    def _columns(self, row: Model, step: int | None, **places: str) -> None:
        """Take the text out of these columns of a row. `places`: column -> what its place is called."""
        before = {name: getattr(row, name) for name in places}
        after = {name: map_strings(value, self._out((step, places[name]))) for name, value in before.items()}
        if after != before:
            _write(row, after)

    def _turn(self, turn: Turn) -> None:
        _, found = take_out(turn.instruction, self.finding.text, replacement(self.finding.kind))
        if found:
            self._move_mentions(turn.index, found)
        turn.refresh_from_db(fields=["extra"])  # an earlier turn may have moved its antecedents
        self._columns(turn, None, instruction="instruction", extra="extra")

    def _move_mentions(self, index: int, found: list[int]) -> None:
        """Move the places of mentions, which count characters of instructions: the replacement has more or fewer than
        the text."""
        private, put = self.finding.text, replacement(self.finding.kind)

        def moved(offset: int) -> int:
            shift = 0
            for start in found:
                if offset >= start + len(private):
                    shift += len(put) - len(private)
                elif offset > start:  # inside the text: now at the end of what replaces it
                    return start + shift + len(put)
            return offset + shift

        def of_turn(mention: dict, turn: int) -> dict:
            if turn == index:
                mention = mention | {"start": moved(mention["start"]), "end": moved(mention["end"])}
            if (source := mention.get("antecedent")) and source.get("turn") == index:
                source = source | {"start": moved(source["start"]), "end": moved(source["end"])}
                mention = mention | {"antecedent": source}
            return mention

        for turn in self.conversation.turns.filter(index__gte=index):
            mentions = turn.extra.get("mentions")
            if isinstance(mentions, list):
                extra = turn.extra | {"mentions": [of_turn(mention, turn.index) for mention in mentions]}
                Turn.objects.filter(pk=turn.pk).update(extra=extra)

    def _step(self, step: Step) -> None:
        self._columns(step, step.pk, value="value", action_repr="action", extra="extra")
        pages = {field: self._page(step, field) for field in RECORDED_AS}
        changed: dict[str, Any] = {field: page for field, page in pages.items() if page}
        marks = self._moved_marks(step, changed)
        if (candidates := self._candidates(step)) is not None:
            candidates, own = take_marks(candidates) if step.marks is not None else (candidates, {})
            changed["candidates"] = pack_candidates(candidates.positives, candidates.negatives)
            marks = {name: kept for name, kept in marks.items() if name not in CANDIDATES} | own
        if changed:
            Step.objects.filter(pk=step.pk).update(**changed, marks=None if step.marks is None else marks)

    def _candidates(self, step: Step) -> StepRecord | None:
        """A step with its candidates and their recorder's marks, the text taken out; None where no candidate holds
        it."""
        out = self._out((step.pk, "candidate"))
        positives, negatives = step.candidate_records()
        own = {name: kept for name, kept in (step.marks or {}).items() if name in CANDIDATES}
        found = put_back(StepRecord(step.source_id, "", positives=tuple(positives), negatives=tuple(negatives)), own)
        without: dict[str, Any] = {
            name: tuple(replace(one, attributes=out(one.attributes)) for one in getattr(found, name))
            for name in CANDIDATES
        }
        return replace(found, **without) if any(without[name] != getattr(found, name) for name in CANDIDATES) else None

    def _moved_marks(self, step: Step, changed: dict[str, Any]) -> dict[str, Any]:
        """The step's recorder's marks, moved as the text was taken out of its pages: their places count characters."""
        was, now = len(self.finding.text), len(replacement(self.finding.kind))
        places = {RECORDED_AS[field]: self._cuts[getattr(step, f"{field}_id")] for field in changed}
        marks = step.marks or {}
        return marks | {name: moved(marks[name], cuts, was, now) for name, cuts in places.items() if name in marks}

    def _page(self, step: Step, field: str) -> int | None:
        """What `_page_without` says of the step's page in this column, counted."""
        without = self._page_without(getattr(step, f"{field}_id"))
        if without and (field != "snapshot_after" or step.keeps_page_after):  # else it is the next step's page
            self.counts[step.pk, "page"] += 1
        return without

    def _page_without(self, page: int | None) -> int | None:
        """The page (its key) without the text; None where it does not hold it."""
        if page is None:
            return None
        if page not in self._changed:
            self._changed[page] = self._stored_without(Snapshot.objects.with_content().get(pk=page))
        return None if self._changed[page] == page else self._changed[page]

    def _stored_without(self, page: Snapshot) -> int:
        html = page.html
        changed, found = take_out(html, self.finding.text, replacement(self.finding.kind))
        if not found:
            return page.pk
        self._cuts[page.pk] = found
        if _elements(html) != _elements(changed):
            raise ValidationError("Taking this text out would change the elements of a page: it was left as it is.")
        return self._pages.store(self.conversation.website, [(changed, page.node_count)])[changed].pk

    def _file(self, file: SourceFile) -> None:
        before = file.content.decode("utf-8", "surrogateescape")  # whatever its encoding, other bytes stay
        data = self._out((None, "file"))(before).encode("utf-8", "surrogateescape")
        if data != file.content:
            SourceFile.objects.filter(pk=file.pk).update(data=compress(data), raw_size=len(data))


def _write(row: Model, after: dict[str, Any]) -> None:
    """Store what these columns hold now. A name that another row has then gets the row's number."""
    for name, value in after.items():
        longest = getattr(row._meta.get_field(name), "max_length", None)
        after[name] = value[:longest] if isinstance(value, str) else value
    rows = type(row)._base_manager.filter(pk=row.pk)
    try:
        with transaction.atomic():
            rows.update(**after)
    except IntegrityError:
        rows.update(**{name: f"{value} {row.pk}" if isinstance(value, str) else value for name, value in after.items()})


def _elements(html: str) -> list[str] | None:
    """Ids of a page's elements in order; None for a page as recorded that is no XML."""
    try:
        return page_questions.outline(html)
    except PageError:
        return None

"""Writes pages into the snapshot store: deduplicates, chooses a dictionary per website where it pays, compresses."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import zstandard
from django.db import connection, models, transaction

from annotations.datasets.records import ImageRecord
from annotations.models import PageDictionary, Screenshot, Snapshot, Website
from annotations.models.corpus.pages import MAX_PAGE_BYTES, compress, decompress, digest

SAMPLE_PAGES = 16  # distinct pages of a website before a dictionary is tried
SAMPLE_BYTES = 8 * 1024 * 1024  # at most this much of them is looked at
TRAINED_BYTES = 64 * 1024
LARGEST_PAGE = 1024 * 1024  # that serves as a dictionary whole: every process that reads pages keeps many in memory
MUST_SAVE = 0.15  # of the bytes that the pages take without a dictionary


class PageTooLarge(ValueError):
    """The page is larger than the store would read back."""


class PageStore:
    """Stores the pages of one dataset; keeps per website what it needs to train a dictionary."""

    def __init__(self) -> None:
        self.taken = 0  # different pages of each call, whether they were there or not
        self._samples: dict[int, list[int]] = {}  # website id -> snapshots stored without a dictionary
        self._tried: set[int] = set()

    def store(self, website: Website, pages: Iterable[tuple[str, int]]) -> dict[str, Snapshot]:
        """Snapshots for (html, element count) pairs, by html. One query to find them, one to add the missing."""
        encoded = {html: html.encode() for html, _ in pages}
        counts = dict(pages)
        for data in encoded.values():
            if len(data) > MAX_PAGE_BYTES:
                raise PageTooLarge(f"a page of {len(data):,} bytes; at most {MAX_PAGE_BYTES:,} are stored")
        shas = {html: digest(data) for html, data in encoded.items()}
        found = _found(shas.values())
        missing = {shas[html]: html for html in encoded if shas[html] not in found}
        if missing:
            dictionary = website.page_dictionary
            content = bytes(dictionary.data) if dictionary else None
            rows = [
                _packed(sha256, encoded[html], content, counts[html], dictionary)
                for sha256, html in sorted(missing.items())  # one order everywhere, or two imports block each other
            ]
            Snapshot.objects.bulk_create(rows, ignore_conflicts=True)  # another import may have been faster
            found |= _found(missing)
            if dictionary is None and website.pk not in self._tried:
                self._sample(website, [found[sha256].pk for sha256 in missing])
        self.taken += len(shas)
        return {html: found[sha256] for html, sha256 in shas.items()}

    def _sample(self, website: Website, snapshot_ids: list[int]) -> None:
        sample = self._samples.setdefault(website.pk, [])
        sample += snapshot_ids
        if len(sample) < SAMPLE_PAGES:
            return
        self._tried.add(website.pk)
        rows = list(Snapshot.objects.filter(pk__in=self._samples.pop(website.pk), dictionary=None).order_by("pk"))
        pages: list[bytes] = []
        used = 0
        for row in rows:
            used += row.raw_size
            if used > SAMPLE_BYTES and len(pages) >= 4:
                break
            pages.append(decompress(bytes(row.data)))
        content = best_dictionary(pages)
        if content is None:
            return
        website.page_dictionary, _ = PageDictionary.objects.get_or_create(
            sha256=digest(content), defaults={"data": content, "size": len(content)}
        )
        website.save(update_fields=["page_dictionary"])
        for row, page in zip(rows, pages, strict=False):  # the pages that it was made from profit too
            row.data, row.dictionary = compress(page, content), website.page_dictionary
            row.stored_size = len(row.data)
        Snapshot.objects.bulk_update(rows[: len(pages)], ["data", "dictionary", "stored_size"])


def _found(shas: Iterable[str]) -> dict[str, Snapshot]:
    """The stored pages with these SHA-256, by it, without their content."""
    return {snapshot.sha256: snapshot for snapshot in Snapshot.objects.defer("data").filter(sha256__in=shas)}


def _packed(
    sha256: str, page: bytes, content: bytes | None, elements: int, dictionary: PageDictionary | None
) -> Snapshot:
    data = compress(page, content)
    return Snapshot(
        sha256=sha256,
        raw_size=len(page),
        stored_size=len(data),
        data=data,
        node_count=elements,
        dictionary=dictionary,
    )


def best_dictionary(pages: list[bytes]) -> bytes | None:
    """The dictionary that saves most on pages it was not made from, or None when none pays.

    Two kinds compete: fragments chosen by zstd's trainer, and one whole page as it is (good for large pages that
    share their frame). It pays when its saving over all pages, extrapolated from the unseen half, is larger than
    itself and at least MUST_SAVE of what the pages take without it.
    """
    seen, unseen = pages[::2], pages[1::2]
    plain = sum(len(compress(page)) for page in unseen)
    choices = sorted((page for page in seen if len(page) <= LARGEST_PAGE), key=len)[-1:]
    try:
        size = min(TRAINED_BYTES, sum(map(len, seen)) // 4)
        choices.append(zstandard.train_dictionary(size, list(seen)).as_bytes())
    except zstandard.ZstdError:
        pass  # too little or too uniform material to train on
    best, best_saving = None, 0.0
    for choice in choices:
        saved = plain - sum(len(compress(page, choice)) for page in unseen)
        saving = saved * len(pages) / max(1, len(unseen)) - len(choice)
        if saving > best_saving and saved >= MUST_SAVE * plain:
            best, best_saving = choice, saving
    return best


# Only pages a day old: a running import may be about to use a younger one.
def forget_sql(model: type[models.Model]) -> str:
    """SQL that deletes the old rows of a table that no row of any other table points to, whichever app it is of."""
    found = [field for field in model._meta.get_fields(include_hidden=True) if field.auto_created]
    pointing = [field.field for field in found if isinstance(field, models.ManyToOneRel)]
    used = "".join(
        f" AND NOT EXISTS (SELECT 1 FROM {field.model._meta.db_table} WHERE {field.column} = old.id)"  # nosec B608
        for field in pointing
    )
    old = f"DELETE FROM {model._meta.db_table} old"  # tables and columns of our own models  # nosec B608
    return f"{old} WHERE created_at <= clock_timestamp() - %s{used}"


def forget_unused_pages(older_than: timedelta = timedelta(days=1)) -> int:
    """Delete the pages, and then the dictionaries and screenshots, that nothing needs since their dataset or run was
    deleted or changed; how many pages.

    In SQL, as Django reads the rows that it deletes: 0.12 s for 5,000 pages of 20 kB where its own query takes 1.9 s.
    """
    age: list[Any] = [older_than]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(forget_sql(Snapshot), age)
        pages = cursor.rowcount
        cursor.execute(forget_sql(PageDictionary), age)
        cursor.execute(forget_sql(Screenshot), age)
    return pages


def store_screenshot(image: ImageRecord) -> Screenshot:
    """The stored image with this content."""
    row, _ = Screenshot.objects.get_or_create(
        sha256=digest(image.data),
        defaults={"media_type": image.media_type, "data": image.data, "size": len(image.data)},
    )
    return row

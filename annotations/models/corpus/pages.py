"""The snapshot store: content-addressed, deduplicated, compressed pages and screenshots."""

import hashlib
from functools import lru_cache
from typing import Self

import zstandard
from django.db import models

LEVEL = 9  # measured: level 9 costs about 1 ms per 100 KB page; higher levels gain less than 3 %
MAX_PAGE_BYTES = 64 * 1024 * 1024


class PageDictionary(models.Model):
    """A zstd dictionary trained on the pages of one website, kept only where it pays."""

    page_count: int  # of the pages that it packs, where the admin page has counted
    raw: int | None
    stored: int | None

    sha256 = models.CharField(max_length=64, unique=True)
    data = models.BinaryField()
    size = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "page dictionaries"

    def __str__(self) -> str:
        return f"{self.sha256[:12]} ({self.size:,} bytes)"


@lru_cache(maxsize=256)
def _loaded(dictionary: bytes) -> zstandard.ZstdCompressionDict:
    # Only dictionaries are shared: compressors and decompressors must not be used by two threads at once.
    loaded = zstandard.ZstdCompressionDict(dictionary)
    loaded.precompute_compress(level=LEVEL)  # else every page pays for digesting it again
    return loaded


def compress(data: bytes, dictionary: bytes | None = None) -> bytes:
    return zstandard.ZstdCompressor(level=LEVEL, dict_data=_loaded(dictionary) if dictionary else None).compress(data)


def decompress(data: bytes, dictionary: bytes | None = None) -> bytes:
    """Raises zstandard.ZstdError on damage or when the content is larger than a page may be."""
    decompressor = zstandard.ZstdDecompressor(dict_data=_loaded(dictionary) if dictionary else None)
    return decompressor.decompress(data, max_output_size=MAX_PAGE_BYTES)


class SnapshotQuerySet(models.QuerySet["Snapshot"]):
    def with_content(self) -> Self:
        """Everything needed to read pages in one query."""
        return self.select_related("dictionary")


class Snapshot(models.Model):
    """One stored page: HTML as well-formed XML, addressed by the SHA-256 of its UTF-8 bytes."""

    sha256 = models.CharField(max_length=64, unique=True)
    raw_size = models.PositiveIntegerField("raw bytes")
    stored_size = models.PositiveIntegerField("stored bytes")
    node_count = models.PositiveIntegerField("elements")
    data = models.BinaryField()
    dictionary = models.ForeignKey(
        PageDictionary, models.PROTECT, null=True, blank=True, related_name="snapshots", db_index=True
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SnapshotQuerySet.as_manager()

    def __str__(self) -> str:
        return self.sha256[:12]

    @property
    def html(self) -> str:
        """The page as it was imported."""
        dictionary = bytes(self.dictionary.data) if self.dictionary else None
        return decompress(bytes(self.data), dictionary).decode()

    @property
    def can_be_shown(self) -> bool:
        """Whether it is well-formed and has elements to mark; recordings of WebLINX are kept as HTML, which is not."""
        return self.node_count > 0

    @property
    def ratio(self) -> float:
        """Raw bytes per stored byte."""
        return self.raw_size / self.stored_size if self.stored_size else 0.0


class Screenshot(models.Model):
    """An image of a page, addressed by the SHA-256 of its bytes."""

    sha256 = models.CharField(max_length=64, unique=True)
    media_type = models.CharField(max_length=40)
    data = models.BinaryField()
    size = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(media_type__in=["image/png", "image/jpeg", "image/webp"]),
                name="screenshot_is_a_raster_image",
            )
        ]

    def __str__(self) -> str:
        return self.sha256[:12]


def digest(data: bytes) -> str:
    """The content address of a page or screenshot."""
    return hashlib.sha256(data).hexdigest()

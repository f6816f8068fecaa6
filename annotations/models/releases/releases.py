"""Releases: versions of a dataset that never change again."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import pgtrigger
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Count, OuterRef, Subquery

from annotations.datasets.records import ConversationRecord
from annotations.models.corpus.conversations import AT_ONCE, Conversation, Step
from annotations.models.corpus.datasets import Dataset
from annotations.models.corpus.pages import Snapshot, compress, decompress, digest
from annotations.models.releases.frozen import DamagedRelease, freeze, page_shas, thaw
from annotations.models.work.campaigns import tracked

USER = settings.AUTH_USER_MODEL
CHANGED_MEANWHILE = "The dataset was changed while it was being released: try again."


class ReleaseQuerySet(models.QuerySet["Release"]):
    def for_list(self) -> "ReleaseQuerySet":
        """The newest first, each with `size`, its conversations, and `earlier_version` of the same dataset."""
        before = Release.objects.filter(dataset=OuterRef("dataset"), pk__lt=OuterRef("pk")).order_by("-pk")
        counted = self.annotate(size=Count("conversations"), earlier_version=Subquery(before.values("version")[:1]))
        return counted.select_related("created_by").order_by("-id")

    def named(self, dataset: Dataset, version: str) -> "Release":
        """The release of that version of a dataset. ValueError says which there are."""
        releases = self.filter(dataset=dataset)
        found = releases.filter(version=version).first()
        if found is None:
            known = ", ".join(releases.values_list("version", flat=True)) or "none yet"
            raise ValueError(f"there is no release {version!r} of {dataset}; there are: {known}")
        return found


class Release(models.Model):
    """An immutable version of a dataset: rows are only ever added, and the database refuses to change them."""

    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="releases")
    version = models.CharField(max_length=40)
    sha256 = models.CharField(max_length=64, help_text="Of the checksums of its conversations, in order.")
    notes = models.TextField(blank=True)
    licence = models.CharField(max_length=200)
    consent = models.TextField(help_text="What the people whose data it holds have agreed to.")
    statistics = models.JSONField(
        default=dict, help_text="Per split, as `dataset_stats` gives them (the paper's Table 1)."
    )
    checks = models.JSONField(default=dict, help_text="Split rules, leakage and privacy, as found when it was made.")
    datasheet = models.TextField()
    created_by = models.ForeignKey(USER, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        triggers = [pgtrigger.Protect(name="released_for_good", operation=pgtrigger.Update | pgtrigger.Delete)]
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["dataset", "version"], name="release_version_once")]

    def __str__(self) -> str:
        return f"{self.dataset} {self.version}"

    @property
    def annotation(self) -> dict[str, Any]:
        """What campaigns and corrections were, as data; {} where nobody annotated it here."""
        told = {what: self.statistics.get(what) for what in ("campaigns", "corrections")}
        if not any(told.values()):
            return {}
        if not told["corrections"]:  # the data of releases from before these were told stay as they are
            del told["corrections"]
        return {"dataset": self.dataset.name, "version": self.version} | told

    def earlier(self) -> "Release | None":
        """The release before this one, of the same dataset; None for the first."""
        return self.dataset.releases.filter(pk__lt=self.pk).first()

    def checksums(self) -> dict[str, str]:
        """Source id of each of its conversations -> the checksum of its content, in order."""
        return dict(self.conversations.order_by("position").values_list("source_id", "sha256"))

    def freeze(self, checksums: Sequence[str]) -> None:
        """Store the conversations of the dataset, in constant memory. Their checksums were computed before, as a
        release is never updated; ValidationError where a conversation has changed since."""
        conversations = enumerate(self.dataset.conversations.for_freezing().iterator(chunk_size=AT_ONCE))
        stored = 0
        while chunk := list(islice(conversations, AT_ONCE)):
            texts = [freeze(conversation) for _, conversation in chunk]
            rows = [
                ReleasedConversation(
                    release=self,
                    position=position,
                    source_id=conversation.source_id,
                    split=conversation.split,
                    sha256=digest(text),
                    data=compress(text),
                )
                for (position, conversation), text in zip(chunk, texts, strict=True)
            ]
            if [row.sha256 for row in rows] != checksums[stored : stored + len(rows)]:
                raise ValidationError(CHANGED_MEANWHILE)
            ReleasedConversation.objects.bulk_create(rows)
            _keep_pages(rows, texts)
            stored += len(rows)
        if stored != len(checksums):
            raise ValidationError(CHANGED_MEANWHILE)


class ReleasedConversationQuerySet(models.QuerySet["ReleasedConversation"]):
    def records(self) -> Iterator[ConversationRecord]:
        """Records equal to those at the time of the release, in constant memory; raises DamagedRelease."""
        ordered = self.order_by("position").select_related("release").iterator(chunk_size=AT_ONCE)
        while chunk := list(islice(ordered, AT_ONCE)):
            yield from thaw([row.content() for row in chunk])


class ReleasedConversation(models.Model):
    """A conversation as it was at a release. Its pages are named by their content, not copied."""

    release = models.ForeignKey(Release, models.PROTECT, related_name="conversations")
    position = models.PositiveIntegerField()
    source_id = models.CharField(max_length=200)
    split = models.CharField(max_length=20)
    sha256 = models.CharField(max_length=64)
    data = models.BinaryField(help_text="Compressed JSON of the record.")
    pages = models.ManyToManyField(Snapshot, related_name="+", help_text="Keeps its pages from being forgotten.")

    objects = ReleasedConversationQuerySet.as_manager()

    class Meta:
        triggers = [pgtrigger.Protect(name="released_for_good", operation=pgtrigger.Update | pgtrigger.Delete)]
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["release", "source_id"], name="released_once"),
            models.UniqueConstraint(fields=["release", "position"], name="released_position_once"),
        ]

    def __str__(self) -> str:
        return self.source_id

    def content(self) -> dict[str, Any]:
        """The frozen conversation as JSON (`frozen.py`); raises DamagedRelease where its checksum is not the recorded
        one."""
        text = decompress(bytes(self.data))
        if digest(text) != self.sha256:
            raise DamagedRelease(f"the content of {self.source_id} in {self.release} is not what was released")
        return json.loads(text)


def _keep_pages(rows: list[ReleasedConversation], texts: list[bytes]) -> None:
    pages = [page_shas(json.loads(text)) for text in texts]
    ids = dict(Snapshot.objects.filter(sha256__in=set().union(*pages)).values_list("sha256", "pk"))
    through = ReleasedConversation.pages.through
    through.objects.bulk_create(
        through(releasedconversation_id=row.pk, snapshot_id=ids[sha256])
        for row, shas in zip(rows, pages, strict=True)
        for sha256 in sorted(shas)
    )


@tracked
class Redaction(models.Model):
    """A recorded edit that takes private data out of a dataset: what was found, where, and what stands there now."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="redactions")
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="redactions")
    step = models.ForeignKey(Step, models.SET_NULL, null=True, blank=True, related_name="+")
    kind = models.CharField(max_length=20, help_text="email, phone, card, name, token.")
    place = models.CharField(max_length=40, help_text="instruction, value, or page.")
    found_sha256 = models.CharField(max_length=64, help_text="Of the text taken out, which is not kept.")
    replacement = models.CharField(max_length=100)
    count = models.PositiveIntegerField(default=1)
    user = models.ForeignKey(USER, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.kind} in {self.place}"

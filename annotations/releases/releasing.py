"""Make a release: check a dataset, freeze what is in it, and say in a datasheet what it is."""

import json
import uuid
from collections.abc import Callable, Collection
from itertools import islice

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction

from annotations.access import rules
from annotations.corpus.statistics import dataset_stats
from annotations.jobs import running
from annotations.models import Dataset, Job, Release, ReleasedConversation, Snapshot
from annotations.models.conversations import AT_ONCE
from annotations.models.frozen import freeze, page_shas, release_sha256
from annotations.models.pages import compress, digest
from annotations.releases.checking import Checks, check_dataset
from annotations.releases.datasheet import datasheet
from annotations.releases.leakage import THRESHOLD
from annotations.work.tell.events import emit

Progress = Callable[[str, int], None]
TOLD_EVERY = 20  # conversations
CANARY_SPACE = uuid.UUID("6f1d9f0e-33c5-4d0b-9a3c-6c1f3b7f4a52")  # of the names that canaries are made of


def make_release(
    dataset: Dataset,
    version: str,
    user,
    licence: str,
    consent: str,
    notes: str = "",
    *,
    accepted_findings: Collection[str] = (),
    threshold: float = THRESHOLD,
    progress: Progress = lambda phase, done: None,
) -> Release:
    """Freeze the dataset as it is now under this version; `progress` hears of phases and of conversations done.

    `accepted_findings` holds the keys of the concerns (`Checks.concerns`) that the maker has looked at. Raises
    ValidationError, naming the field, where the version is taken or not well formed, licence or consent are empty,
    splits break their rules, an import is under way, a concern was not accepted as it is now, or somebody changes
    the dataset meanwhile; PermissionDenied
    for who may not manage the project.
    """
    rules.require(user, "manage", dataset.project)
    _refuse_bad_fields(dataset, version, licence, consent)
    progress("checking", 0)
    checks = check_dataset(dataset, threshold)
    accepted = _accepted(checks, accepted_findings)
    checksums = []
    for conversation in dataset.conversations.for_freezing().iterator(chunk_size=AT_ONCE):
        checksums.append(digest(freeze(conversation)))
        if len(checksums) % TOLD_EVERY == 0:
            progress("reading", len(checksums))
    progress("writing", len(checksums))
    sha256 = release_sha256(checksums)
    canary = str(uuid.uuid5(CANARY_SPACE, f"{dataset.name} {version} {sha256}"))
    release = Release(
        dataset=dataset,
        version=version,
        sha256=sha256,
        notes=notes.strip(),
        licence=licence.strip(),
        consent=consent.strip(),
        statistics=dataset_stats(dataset),
        created_by=user,
        checks=checks.to_dict() | {"accepted": accepted, "canary": canary},
    )
    release.datasheet = datasheet(release)
    with transaction.atomic():
        Dataset.objects.select_for_update().get(pk=dataset.pk)  # two releases at once come one after the other
        _refuse_bad_fields(dataset, version, licence, consent)
        release.save()
        _store(release, checksums)
        told = {"dataset": dataset.name, "version": version, "sha256": sha256, "conversations": len(checksums)}
        emit(dataset.project, "release.created", told)
    return release


def start_release(dataset: Dataset, user, version: str, accepted_findings: Collection[str], **fields: str) -> Job:
    """`make_release` in the background. Raises ValidationError where it can be said at once."""
    rules.require(user, "manage", dataset.project)
    _refuse_bad_fields(dataset, version, fields["licence"], fields["consent"])
    errors: dict[str, str] = {}
    running.check_quota(user, errors)
    if errors:
        raise ValidationError(errors)
    params = {"name": dataset.name, "version": version, "accepted_findings": list(accepted_findings), **fields}
    return running.queue(
        Job(kind=Job.Kind.RELEASE, project=dataset.project, dataset=dataset, created_by=user, params=params)
    )


def run_release(job: Job) -> bool:
    """A claimed job of `start_release`; bad input and a dataset that changed meanwhile end it with the reason."""
    if job.dataset is None or job.created_by is None:
        raise ValueError("the dataset, or the person who asked for this release, has been removed")
    total = job.dataset.conversations.count()

    def tell(phase: str, done: int) -> None:
        job.go_on({"phase": phase, "done": done, "total": total, "unit": "conversations"})

    params = {name: value for name, value in job.params.items() if name != "name"}
    try:
        release = make_release(job.dataset, user=job.created_by, progress=tell, **params)
    except PermissionDenied as error:
        raise ValueError(str(error)) from error
    said = f"Released {job.dataset} {release.version}"
    report = {"said": said, "release": release.version, "counts": {"conversations": release.conversations.count()}}
    job.finish(Job.State.DONE, report=report, last_error="")
    return False


RUNNERS: dict[str, Callable[[Job], bool]] = {Job.Kind.RELEASE: run_release}


def _refuse_bad_fields(dataset: Dataset, version: str, licence: str, consent: str) -> None:
    errors = {}
    if problem := dataset.version_problem(version):
        errors["version"] = problem
    if not licence.strip():
        errors["licence"] = "Say under which licence the release may be used."
    if not consent.strip():
        errors["consent"] = "Say what the people whose data it holds have agreed to."
    if not dataset.conversations.exists():
        errors["__all__"] = f"{dataset} has no conversations to release."
    unfinished = [Job.State.QUEUED, Job.State.RUNNING]
    if Job.objects.filter(dataset=dataset, kind=Job.Kind.IMPORT, state__in=unfinished).exists():
        errors["__all__"] = "An import into this dataset is under way: wait for its end, or cancel it."
    if errors:
        raise ValidationError(errors)


def _accepted(checks: Checks, keys: Collection[str]) -> list[str]:
    """The sentences of the accepted concerns; ValidationError for broken rules and what was not accepted."""
    problems = [f"{sentence}. Move these conversations to another split." for sentence in checks.split_rules]
    concerns = checks.concerns()
    problems += [f"Not accepted: {concern.sentence}" for concern in concerns if concern.key not in keys]
    if problems:
        raise ValidationError(problems)
    return [concern.sentence for concern in concerns]


def _store(release: Release, checksums: list[str]) -> None:
    """Freeze again and store, in constant memory: a release is never updated, so its checksum came first."""
    conversations = enumerate(release.dataset.conversations.for_freezing().iterator(chunk_size=AT_ONCE))
    stored = 0
    while chunk := list(islice(conversations, AT_ONCE)):
        texts = [freeze(conversation) for _, conversation in chunk]
        rows = [
            ReleasedConversation(
                release=release,
                position=position,
                source_id=conversation.source_id,
                split=conversation.split,
                sha256=digest(text),
                data=compress(text),
            )
            for (position, conversation), text in zip(chunk, texts, strict=True)
        ]
        if [row.sha256 for row in rows] != checksums[stored : stored + len(rows)]:
            raise ValidationError("The dataset was changed while it was being released: try again.")
        ReleasedConversation.objects.bulk_create(rows)
        _keep_pages(rows, texts)
        stored += len(rows)
    if stored != len(checksums):
        raise ValidationError("The dataset was changed while it was being released: try again.")


def _keep_pages(rows: list[ReleasedConversation], texts: list[bytes]) -> None:
    pages = [page_shas(json.loads(text)) for text in texts]
    ids = dict(Snapshot.objects.filter(sha256__in=set().union(*pages)).values_list("sha256", "pk"))
    through = ReleasedConversation.pages.through
    through.objects.bulk_create(
        through(releasedconversation_id=row.pk, snapshot_id=ids[sha256])
        for row, shas in zip(rows, pages, strict=True)
        for sha256 in sorted(shas)
    )

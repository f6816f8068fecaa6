"""Makes a release: checks a dataset, freezes its conversations, and writes its datasheet."""

from collections.abc import Callable, Collection
from functools import partial

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction

from annotations.access import rules
from annotations.corpus.statistics import dataset_stats
from annotations.jobs import running
from annotations.models import Dataset, Job, Release
from annotations.models.accounts.projects import Account
from annotations.models.corpus.conversations import AT_ONCE, ConversationQuerySet
from annotations.models.corpus.pages import digest
from annotations.models.releases.frozen import freeze, release_sha256
from annotations.releases.checking import Checks, check_dataset
from annotations.releases.corrected import MadeCorrection, correction_figures
from annotations.releases.datasheet import WorkFigures, datasheet
from annotations.releases.leakage import THRESHOLD
from annotations.tell.events import emit

TellFrozen = Callable[[str, int], None]
TOLD_EVERY = 20  # conversations


def make_release(
    dataset: Dataset,
    version: str,
    user: Account,
    licence: str,
    consent: str,
    notes: str = "",
    *,
    accepted_findings: Collection[str] = (),
    threshold: float = THRESHOLD,
    progress: TellFrozen = lambda phase, done: None,
) -> Release:
    """Freeze the dataset as it is now under this version; `progress` hears of phases and of conversations done.

    `accepted_findings` holds the keys of the concerns (`Checks.concerns`) that the maker has looked at. Raises
    ValidationError, naming the field, where the version is taken or not well formed, licence or consent are empty,
    splits break their rules, an import is under way, a concern was not accepted as it is now, or somebody changes
    the dataset meanwhile; PermissionDenied
    for who may not manage the project.
    """
    rules.require(user, "manage", dataset.project)
    _refuse(dataset.release_problems(version, licence, consent))
    progress("checking", 0)
    checks = check_dataset(dataset, threshold)
    accepted = _accepted(checks, accepted_findings)
    checksums = _checksums(dataset.conversations.all(), progress)
    progress("writing", len(checksums))
    sha256 = release_sha256(checksums)
    corrected = correction_figures(MadeCorrection.of(dataset))
    release = Release(
        dataset=dataset,
        version=version,
        sha256=sha256,
        notes=notes.strip(),
        licence=licence.strip(),
        consent=consent.strip(),
        statistics=dataset_stats(dataset) | {"campaigns": WorkFigures.of_campaigns(dataset), "corrections": corrected},
        created_by=user,
        checks=checks.to_dict() | {"accepted": accepted, "canary": dataset.canary(version, sha256)},
    )
    release.datasheet = datasheet(release)
    with transaction.atomic():
        Dataset.objects.select_for_update().get(pk=dataset.pk)  # two releases at once come one after the other
        _refuse(dataset.release_problems(version, licence, consent))
        release.save()
        release.freeze(checksums)
        told = {"dataset": dataset.name, "version": version, "sha256": sha256, "conversations": len(checksums)}
        emit(dataset.project, "release.created", told)
    return release


def start_release(
    dataset: Dataset, user: Account, version: str, accepted_findings: Collection[str], **fields: str
) -> Job:
    """Queue a job that calls `make_release`. Raises ValidationError for what can be known to be wrong now."""
    rules.require(user, "manage", dataset.project)
    _refuse(dataset.release_problems(version, fields["licence"], fields["consent"]))
    errors: dict[str, str] = {}
    running.check_quota(user, errors)
    _refuse(errors)
    params = {"name": dataset.name, "version": version, "accepted_findings": list(accepted_findings), **fields}
    return running.queue(
        Job(kind=Job.Kind.RELEASE, project=dataset.project, dataset=dataset, created_by=user, params=params)
    )


def run_release(job: Job) -> bool:
    """Work on a claimed job of `start_release`. Bad input, and a dataset that changed meanwhile, end the job with the
    reason."""
    if job.dataset is None or job.created_by is None:
        raise ValueError("the dataset, or the person who asked for this release, has been removed")
    tell = partial(job.go_on_of, job.dataset.conversations.count(), "conversations")
    params = {name: value for name, value in job.params.items() if name != "name"}
    try:
        release = make_release(job.dataset, user=job.created_by, progress=tell, **params)
    except PermissionDenied as error:
        raise ValueError(str(error)) from error
    said = f"Released {job.dataset} {release.version}"
    report = {"said": said, "release": release.version, "counts": {"conversations": release.conversations.count()}}
    job.finish(Job.State.DONE, report=report)
    return False


RUNNERS: dict[str, Callable[[Job], bool]] = {Job.Kind.RELEASE: run_release}


def _checksums(conversations: ConversationQuerySet, progress: TellFrozen) -> list[str]:
    """The checksums of the conversations as they would be frozen now, in order."""
    found: list[str] = []
    for conversation in conversations.for_freezing().iterator(chunk_size=AT_ONCE):
        found.append(digest(freeze(conversation)))
        if len(found) % TOLD_EVERY == 0:
            progress("reading", len(found))
    return found


def _refuse(problems: dict[str, str]) -> None:
    if problems:
        raise ValidationError(problems)


def _accepted(checks: Checks, keys: Collection[str]) -> list[str]:
    """The sentences of the accepted concerns; ValidationError for broken rules and what was not accepted."""
    problems = [f"{sentence}. Move these conversations to another split." for sentence in checks.split_rules]
    concerns = checks.concerns()
    problems += [f"Not accepted: {concern.sentence}" for concern in concerns if concern.key not in keys]
    if problems:
        raise ValidationError(problems)
    return [concern.sentence for concern in concerns]

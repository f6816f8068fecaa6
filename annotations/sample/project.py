"""The sample project: its datasets, built from the sources in this repository, and the demo accounts."""

import json
import os
import secrets
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import QuerySet

from annotations.corpus.importing import import_files
from annotations.jobs import running
from annotations.models import DEFAULT_RUBRIC, Campaign, Dataset, Guideline, Job, Membership, Project, Role, Split
from annotations.sample.build import build
from annotations.sample.campaigns import make_campaigns
from annotations.sample.mind2web import build as build_tasks
from annotations.sample.weblinx import build as build_weblinx
from annotations.work.organise.sessions import Organising

NAME = "sample"
DEMO_ACCOUNTS, DEMO_FOUND = "demo_accounts.json", "demo_accounts_found.json"
ACCOUNTS = (  # name, role, sees test gold
    ("admin", Role.ADMIN, True),
    ("annotator", Role.ANNOTATOR, False),
    ("reviewer", Role.REVIEWER, True),
)
WEBLINX_NAME = "sample-weblinx"
TASKS_NAME = "sample-tasks"
CAMPAIGN = "Sample pilot"
ABOUT = (
    "Conversations over six invented websites, written for this project, whose source has the test gold too: to try "
    "things with, not to judge agents by. Free to use (Apache-2.0)."
)
DATASETS = {  # name -> format and description
    NAME: ("mt-mind2web", ABOUT),
    WEBLINX_NAME: ("weblinx", f"Twelve of the sample's conversations as demonstrations in WebLINX's format. {ABOUT}"),
    TASKS_NAME: (
        "mind2web",
        "Single tasks on the sample's websites, to organise into conversations: some belong together, some only look "
        "like it. Free to use (Apache-2.0).",
    ),
}
CAMPAIGNS = "sample-campaigns"
Say = Callable[[str], None]


def _campaigns(project: Project, say: Say) -> None:
    tasks = project.datasets.filter(name=TASKS_NAME).first()
    if tasks is not None:  # people may have deleted it since
        make_campaigns(project, tasks, say)


MAKERS: dict[str, Callable[[Project, Say], None]] = {CAMPAIGNS: _campaigns}
"""Part of the sample -> what makes it of the datasets, once and in this order; other apps add theirs."""
EARLY: set[str] = set()
"""Parts whose makers make, after each dataset, as much as the datasets that are there allow."""
SECONDS = {NAME: 9, WEBLINX_NAME: 7, TASKS_NAME: 4, CAMPAIGNS: 6}
"""Part of the sample -> about how long it takes on two cores that do nothing else; others take under one."""


def parts() -> tuple[str, ...]:
    """Names of the parts of the sample, in the order in which they are made; each is made once."""
    return (*DATASETS, *MAKERS)


def order_sample() -> Job | None:
    """Make the demo accounts and queue a job that builds the sample, so that the first page does not wait for it. None
    where all parts were ordered before, also those that people have deleted since."""
    if not (missing := _missing()):
        return None
    with transaction.atomic():
        project, _ = Project.objects.get_or_create(slug="sample", defaults={"name": "Sample"})
        if NAME in missing:
            make_demo_accounts(project)
        job = running.queue(Job(kind=Job.Kind.SAMPLE, project=project, params={"parts": missing}))
    mark_loaded()
    return job


@dataclass(frozen=True)
class Building:
    """The job that builds the sample now, and about how long it takes."""

    job: Job

    @classmethod
    def of(cls, projects: QuerySet[Project]) -> "Building | None":
        """What builds the sample of one of these projects; None where nothing does."""
        job = Job.objects.unfinished().filter(kind=Job.Kind.SAMPLE, project__in=projects).first()
        return cls(job) if job else None

    @property
    def slowness(self) -> float:
        """How many times as long as on two cores that do nothing else the parts have taken that are made; 1 or more."""
        made = self._seconds(self.names[: self.done])
        return max(1.0, self.job.progress.get("seconds", 0) / made) if made else 1.0

    @property
    def seconds_left(self) -> float:
        return self.slowness * self._seconds(self.names[self.done :])

    @property
    def names(self) -> list[str]:
        return list(self.job.params["parts"])

    @property
    def done(self) -> int:
        return int(self.job.progress.get("done", 0))

    def _seconds(self, names: list[str]) -> int:
        return sum(SECONDS.get(name, 1) for name in names)


def run_sample(job: Job) -> bool:
    """Build the parts that a job orders; run again after a kill, it changes nothing of what is there already."""
    names, begun = job.params["parts"], time.monotonic()

    def say(text: str, done: int) -> None:
        told = {"phase": text, "done": done, "total": len(names), "unit": "parts"}
        job.go_on(told | {"seconds": round(time.monotonic() - begun, 1)})

    _load(job.project, names, say)
    report = {"said": "The sample is ready", "landed": len(names), "seconds": time.monotonic() - begun}
    job.finish(Job.State.DONE, report=report)
    return False


RUNNERS: dict[str, Callable[[Job], bool]] = {Job.Kind.SAMPLE: run_sample}


def _load(project: Project, names: list[str], tell: Callable[[str, int], None]) -> None:
    """Build and import these sample datasets, and make campaigns and other parts out of them. `tell` is given a line
    of what was done, and how many of the parts are made."""
    with tempfile.TemporaryDirectory() as folder:
        tell("building the sample datasets", 0)
        if {NAME, WEBLINX_NAME} & set(names):
            build(Path(folder, NAME))
        for name in (name for name in names if name in DATASETS):
            say = _saying(tell, names.index(name) + 1)
            _make_dataset(name, Path(folder), project, say)
            for early in EARLY.intersection(names) if _has_accounts() else ():
                MAKERS[early](project, say)
    if not _has_accounts():  # people have deleted some of them, whose work this would be
        return
    for name, make in MAKERS.items():
        if name in names:
            make(project, _saying(tell, names.index(name)))


def _saying(tell: Callable[[str, int], None], done: int) -> Say:
    return lambda text: tell(text, done)


def _make_dataset(name: str, folder: Path, project: Project, say: Say) -> None:
    """Build a dataset of the sample in `folder`, where that of its conversations lies already, and import it."""
    if name == WEBLINX_NAME:
        build_weblinx(folder / NAME, folder / name)
    elif name == TASKS_NAME:
        build_tasks(folder / name)
    _import(name, folder / name, project, say)
    if name == NAME:
        make_demo_campaign(Dataset.objects.get(name=NAME), say)


def _has_accounts() -> bool:
    names = [name for name, _, _ in ACCOUNTS]
    return get_user_model().objects.filter(username__in=names).count() == len(names)


def mark_loaded() -> None:
    """Mark all parts of the sample as made, so that none is made later."""
    for name in parts():
        _marker(name).touch()


@transaction.atomic
def make_demo_campaign(dataset: Dataset, say: Say) -> None:
    """A campaign with work for the demo accounts: the train conversations of the sample, to be decomposed again."""
    campaign, created = Campaign.objects.get_or_create(
        project=dataset.project, name=CAMPAIGN, defaults={"source": dataset, "rubric": DEFAULT_RUBRIC}
    )
    if not created:
        return
    text = (Path(__file__).with_name("guidelines.md")).read_text("utf-8")
    Guideline.objects.create(campaign=campaign, version=1, text=text)
    tasks = dataset.conversations.filter(split=Split.TRAIN).order_by("position").values_list("pk", flat=True)
    organising = Organising(campaign, None)
    organising.change({"do": "each", "tasks": list(tasks)})
    organising.open_work("")
    say(f"{CAMPAIGN}: {len(tasks)} sessions to annotate")


def _missing() -> list[str]:
    return [name for name in parts() if not _marker(name).exists()]


def _marker(name: str) -> Path:
    """The marker file of a part; it exists once the part was made or ordered."""
    return Path(settings.VAR_DIR) / f"{name}-loaded"


def _import(name: str, folder: Path, project: Project, say: Say) -> None:
    format_name, description = DATASETS[name]
    fields = {"project": project, "source_format": format_name, "description": description, "licence": "Apache-2.0"}
    dataset, _ = Dataset.objects.get_or_create(name=name, defaults=fields)
    report = import_files(format_name, folder, dataset)
    if report.error_count:  # built from our own sources, so this is a fault of ours and must not pass unseen
        raise RuntimeError(f"{report.error_count} records of {name} could not be imported: {report.errors[0]}")
    say(f"{name}: {report.conversations + report.unchanged} conversations imported in {report.seconds:.1f} s")


@transaction.atomic
def make_demo_accounts(project: Project) -> None:
    """One account per role with a random password, kept in var/secrets for `make run` to print."""
    passwords = {}
    for name, role, sees_test_gold in ACCOUNTS:
        user, created = get_user_model().objects.get_or_create(username=name)
        if created:
            passwords[name] = secrets.token_urlsafe(9)
            user.set_password(passwords[name])
            user.is_staff = user.is_superuser = role == Role.ADMIN
            user.save()
        Membership.objects.get_or_create(
            project=project, user=user, defaults={"role": role, "sees_test_gold": sees_test_gold}
        )
    if not passwords:  # made before
        return
    _keep_secret(DEMO_ACCOUNTS, passwords)


def demo_passwords() -> dict[str, str]:
    """Names and passwords of the demo accounts that still have the password they were made with. What was found is
    noted, by the stored form of each password: comparing three anew takes as long as a third of a start."""
    made, noted = _kept_secret(DEMO_ACCOUNTS), _kept_secret(DEMO_FOUND)
    users = {user.username: user for user in get_user_model().objects.filter(username__in=made)}
    found = {
        name: users[name].password
        for name, password in made.items()
        if name in users and (noted.get(name) == users[name].password or users[name].check_password(password))
    }
    if found != noted:
        _keep_secret(DEMO_FOUND, found)
    return {name: made[name] for name in found}


def _keep_secret(name: str, content: dict[str, str]) -> None:
    path = Path(settings.VAR_DIR) / "secrets" / name
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(content, file)


def _kept_secret(name: str) -> dict[str, str]:
    """What was kept under a name; {} where nothing was, or where it was cut short."""
    try:
        kept: dict[str, str] = json.loads((Path(settings.VAR_DIR) / "secrets" / name).read_text())
    except (OSError, ValueError):
        return {}
    return kept

"""What pages say where there is nothing yet, while something is under way, after it went wrong, and of a part: a table
for each, and a walk that no page is left out of the first."""

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import NoReverseMatch, get_resolver, reverse

from agents.models import Run
from annotations.models import Dataset, Job
from evaluation.models import Study
from tests import factories
from tests.signed_in import client_of
from webnav_site.workers import reporting

pytestmark = pytest.mark.django_db

# Route -> what its page says in a project that has nothing.
EMPTY = {
    "annotate-bin": "The bin is empty",
    "annotate-campaigns": "No campaigns yet",
    "annotate-disputes": "Nothing waits for you",
    "annotate-inbox": "Nothing yet",
    "annotate-queue": "Nothing is yours at the moment",
    "annotate-webhooks": "0 webhooks",
    "compare": "No runs yet",
    "connections": "No endpoint was added",
    "corrections": "Nothing to correct",
    "datasets": "No datasets yet",
    "held-steps": "Nothing waits",
    "home": "No datasets yet",
    "jobs": "No jobs yet",
    "models": "No models yet",
    "operations": "No worker has told of itself",
    "people": "1 member",
    "review-queues": "No queues yet",
    "reviews": "No reviews yet",
    "runs": "No runs yet",
    "studies": "No studies yet",
}
# Pages that nobody can empty: they list what comes with the site or what was just done, or are a form.
NEVER_EMPTY = {"access", "account", "annotate-audit", "annotate-campaign-new", "guard-rules", "import", "keys"}
NEVER_EMPTY |= {"live-goals", "operations-retention", "papers", "prompt-pack-new", "prompt-pack-packaged"}
NEVER_EMPTY |= {"converse", "demonstrate", "prompt-packs", "recipes", "study-new", "tokens"}
OF_A_DATASET = {
    "dataset": "Nothing in here yet",
    "dataset-memory": "None was started",
    "dataset-workflows": "No workflows yet",
    "dataset-lessons": "Nobody has taught anything yet",
    "releases": "No release yet",
}
ACCOUNT = re.compile(r"account_|mfa_|socialaccount_|reauthenticate|login|logout|usersessions")
ADMIN = re.compile(r"^/(admin|api|static|healthz|metrics)")


def said(client: Client, url: str) -> str:
    """The words of the page's own part."""
    answer = client.get(url)
    assert answer.status_code == 200, (url, answer.status_code)
    main = answer.content.decode().partition("<main")[2].partition("</main>")[0].partition(">")[2]
    without = re.sub(r"(?s)<(script|style)[^>]*>.*?</\1>", "", main)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", without)).split())


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_page_says_so_and_what_to_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "PREFIX", "nobody:")  # another test's worker is in the same Redis for a minute
    person = factories.make_user("admin", factories.make_project())
    person.is_superuser = True
    person.save()
    assert EMPTY[name] in said(client_of(person), reverse(name))


@pytest.mark.parametrize("name", OF_A_DATASET)
def test_an_empty_page_of_a_dataset_says_so(name: str) -> None:
    dataset = factories.make_dataset()
    client = client_of(factories.make_user("admin", dataset.project))
    assert OF_A_DATASET[name] in said(client, reverse(name, args=[dataset.name]))


def test_every_page_is_told_here() -> None:
    person = factories.make_superuser()
    client = client_of(person)
    left_out = set()
    for name in {key for key in get_resolver().reverse_dict if isinstance(key, str)} - EMPTY.keys() - NEVER_EMPTY:
        try:
            url = reverse(name)
        except NoReverseMatch:  # of one thing: below, and in the tests of its page
            continue
        if ADMIN.match(url) or ACCOUNT.match(name):
            continue
        answer = client.get(url)
        if answer.status_code == 200 and "<main" in getattr(answer, "content", b"").decode(errors="replace"):
            left_out.add(name)
    assert left_out == set()


def job_of(**fields: Any) -> Callable[[Dataset], str]:
    def make(dataset: Dataset) -> str:
        job: Job = factories.make_job(dataset.project, dataset=dataset, kind=Job.Kind.IMPORT, **fields)
        return f"/jobs/{job.pk}/"

    return make


def study_of(page: str, stored: int | None = 0, **fields: Any) -> Callable[[Dataset], str]:
    """Of one run of two steps, of which so many are stored; None: it has no trajectory."""

    def make(dataset: Dataset) -> str:
        conversation = factories.make_conversation(dataset=dataset, turns=1, steps=2, split="train")
        run: Run = factories.make_run(dataset, step_count=2, **fields)
        if stored is not None:
            factories.make_trajectory(run, conversation, stored=stored)
        study: Study = factories.make_study(dataset.project, [run])
        return page.format(study=study.pk, run=run.pk, trajectory=getattr(run.trajectories.first(), "pk", 0))

    return make


def model_of(**fields: Any) -> Callable[[Dataset], str]:
    def make(dataset: Dataset) -> str:
        params = {"changes": {}, "name": "model"}
        job = factories.make_job(dataset.project, dataset=dataset, kind=Job.Kind.TRAIN, params=params, **fields)
        return f"/models/{factories.make_trained_model(dataset, job=job).name}/"

    return make


STUDY, RUN = "/studies/{study}/", "/runs/{run}/"
STATES: dict[str, tuple[Callable[[Dataset], str], list[str]]] = {
    "a job that waits": (job_of(state="queued"), ["Waiting to start", "queued"]),
    "a job that runs": (job_of(state="running"), ["running", "You can leave this page"]),
    "a job that failed": (job_of(state="failed", last_error="the disk is full"), ["failed", "the disk is full"]),
    "a job of which a part went wrong": (
        job_of(state="done", report={"conversations": 3, "errors": [{"record": "2", "message": "has no id"}]}),
        ["Records that did not land", "has no id"],
    ),
    "a job that was cancelled": (job_of(state="cancelled"), ["Stopped before anything was done", "cancelled"]),
    "a study that waits": (study_of(STUDY, state="queued"), ["0 of 2 steps", "Scores appear here as soon as"]),
    "a study of which a part is decided": (study_of(STUDY, 1, state="running"), ["1 of 2 steps", "running"]),
    "a study that failed": (study_of(STUDY, 1, state="failed", error="no memory"), ["No scores", "no memory"]),
    "a study that was cancelled": (study_of(STUDY, state="cancelled"), ["No scores", "Resume it"]),
    "a run that waits": (study_of(RUN, None, state="queued"), ["0 of 2 steps", "Nothing to show yet"]),
    "a run of which a part is decided": (study_of(RUN, 1, state="running"), ["1 of 2", "steps stored so far"]),
    "a run that failed": (study_of(RUN, 1, state="failed", error="no memory"), ["failed", "no memory"]),
    "plots before scores": (study_of(f"{STUDY}plots/", state="queued"), ["Nothing to plot yet"]),
    "plots of a study that failed": (study_of(f"{STUDY}plots/", state="failed"), ["No run of this study has scores"]),
    "failures before steps": (study_of(f"{STUDY}failures/", state="queued"), ["No step of this run is decided yet"]),
    "failures of a part": (study_of(f"{STUDY}failures/", 2, state="running"), ["failed step"]),
    "a model that waits": (model_of(state="queued"), ["queued"]),
    "a model whose training failed": (model_of(state="failed"), ["failed"]),
}


@pytest.mark.parametrize("state", STATES)
def test_a_page_says_what_state_its_thing_is_in(state: str) -> None:
    dataset = factories.make_dataset()
    make, words = STATES[state]
    shown = said(client_of(factories.make_user("admin", dataset.project)), make(dataset))
    assert [word for word in words if word not in shown] == [], shown

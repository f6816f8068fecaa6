"""Lists of a million steps open about as fast as those of the sample: nothing is counted while somebody waits."""

import gc
import time
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotations.models import Campaign, Item, Stage, Step
from evaluation.scores.scoring import RunScores
from tests import factories
from tests.web.large_campaign import make_large_campaign
from tests.web.large_world import Large, make_large, refresh_statistics

MOST = 1.5  # times the small sample's
WITHOUT_DATA = "sign in"  # a page that no data can make slower: what it takes longer, the machine and the process do
SLACK = 0.003  # seconds: what a request of a few milliseconds varies by
TRIES = 6
ROUNDS = 15  # how often the large world is measured until its pages are quick enough: slow ones are slow every time
OF_STUDIES = ("studies", "study", "study state", "runs", "run")


def pages(world: Large) -> dict[str, str]:
    """What is opened, by a name that both worlds share."""
    dataset, study, run = world.dataset, world.study, world.study.runs.first()
    return {
        WITHOUT_DATA: "/login/",
        "home": "/",
        "datasets": "/datasets/",
        "dataset": f"/datasets/{dataset.name}/",
        "far down": f"/datasets/{dataset.name}/?page=1000",
        "split": f"/datasets/{dataset.name}/?split=dev&page=40",
        "studies": "/studies/",
        "study": f"/studies/{study.pk}/",
        "study state": f"/studies/{study.pk}/state/",
        "runs": "/runs/",
        "run": f"/runs/{run.pk}/",
        "new study": f"/studies/new/?dataset={dataset.name}",
        "api datasets": "/api/datasets/",
        "api conversations": f"/api/conversations/?dataset={dataset.pk}",
        "api steps": "/api/steps/",
        "api runs": "/api/runs/",
        "admin conversations": "/admin/annotations/conversation/",
        "admin steps": "/admin/annotations/step/",
        "admin decided steps": "/admin/agents/trajectorystep/",
    }


def worked() -> float:
    """Processor seconds of this process and of its database session so far: what others do does not count."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    return time.process_time() + int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def seconds(client: Client, path: str) -> float:
    """The work of the quickest of a few requests. The collector looks through all that the tests before this one left
    in the process, and waits until each request is over."""
    best = float("inf")
    for _ in range(TRIES):
        gc.disable()
        begun = worked()
        response = client.get(path)
        best = min(best, worked() - begun)
        gc.enable()
        assert response.status_code == 200, path
    return best


def measure(world: Large, best: dict[str, float] | None = None) -> dict[str, float]:
    """Seconds per page, of the world's own admin, or a superuser's where only they may look."""
    member, superuser, nobody = Client(), Client(), Client()
    member.force_login(factories.make_user("admin", world.dataset.project))
    superuser.force_login(factories.make_superuser())
    found = {}
    for name, path in pages(world).items():
        asking = nobody if name == WITHOUT_DATA else superuser if path.startswith("/admin/") else member
        taken = seconds(asking, path)
        found[name] = min(taken, (best or {}).get(name, taken))
    return found


def pace(small: dict[str, float], large: dict[str, float]) -> float:
    """How much longer the same work takes than before, at least 1: minutes lie between both measures, in which other
    processes came, caches of the processor filled and this process grew."""
    return max(1.0, large[WITHOUT_DATA] / small[WITHOUT_DATA])


def too_slow(small: dict[str, float], large: dict[str, float]) -> dict[str, str]:
    most = MOST * pace(small, large)
    return {
        name: f"{1000 * large[name]:.0f} ms instead of {1000 * small[name]:.0f}"
        for name in small
        if large[name] > most * small[name] + SLACK
    }


def queries(world: Large) -> dict[str, int]:
    """How often each page of studies asks the database, when it has been opened before."""
    member = Client()
    member.force_login(factories.make_user("admin", world.dataset.project))
    found = {}
    for name in OF_STUDIES:
        path = pages(world)[name]
        member.get(path)
        with CaptureQueriesContext(connection) as asked:
            assert member.get(path).status_code == 200
        found[name] = len(asked)
    return found


def per_run(world: Large, taken: dict[str, float]) -> float:
    """Seconds of the study's page for each run that it shows."""
    return taken["study"] / world.study.runs.count()


def grow(**sizes: int) -> Large:
    """Committed rows in a project of their own, as vacuumed as those of a real database."""
    world = make_large(factories.make_project(), **sizes)
    for run in world.study.runs.all():
        RunScores(run).store()
    world.dataset.count_pages(world.dataset.conversations.count() * 10)
    refresh_statistics()
    return world


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_fifty_runs_cost_a_study_s_pages_no_more_questions_than_three() -> None:
    few = grow(conversations=20, runs=3, conversations_per_run=2)
    many = grow(conversations=20, runs=50, conversations_per_run=2)
    assert queries(few) == queries(many)


def test_a_page_is_held_against_what_the_machine_took_for_the_same_work_in_the_same_minutes() -> None:
    """A page that grew by half is slow on an idle machine, and slow too where all became slower by a third."""
    small = {WITHOUT_DATA: 0.010, "api steps": 0.028}
    assert too_slow(small, {WITHOUT_DATA: 0.010, "api steps": 0.049}) == {"api steps": "49 ms instead of 28"}
    assert not too_slow(small, {WITHOUT_DATA: 0.014, "api steps": 0.049})
    assert too_slow(small, {WITHOUT_DATA: 0.014, "api steps": 0.066})
    assert too_slow(small, {WITHOUT_DATA: 0.005, "api steps": 0.049}), "a machine that got quicker excuses nothing"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_pages_of_a_million_steps_and_fifty_runs_open_as_fast_as_those_of_a_small_sample() -> None:
    """Each page beside the same page of a small world with as many runs: only the data behind it has grown.

    The page of the study is also held against that of a sample as it comes, with three runs. Fifty runs are more to
    show, so its time as a whole may be longer; what must not grow is how often it asks the database, and its time for
    each run that it shows.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET max_parallel_workers_per_gather = 0")  # all of its work in the one process that is measured
    sample = grow(conversations=150, runs=3, conversations_per_run=60)
    sample_queries, sample_taken = queries(sample), measure(sample)
    sample_seconds = per_run(sample, sample_taken)
    small = measure(grow(conversations=150, runs=50, conversations_per_run=60))
    world = grow(conversations=100_000, runs=50, conversations_per_run=80)
    assert Step.objects.count() > 1_000_000
    large = measure(world)
    for _ in range(ROUNDS - 1):  # beside other work, the same work takes longer at times
        if not too_slow(small, large):
            break
        large = measure(world, large)
    assert not too_slow(small, large)
    assert queries(world) == sample_queries
    assert per_run(world, large) < MOST * pace(sample_taken, large) * sample_seconds


def work_pages(campaign: Campaign) -> dict[str, str]:
    """The pages of a campaign's work and quality, filtered in every way that a click leads to."""
    table = f"/annotate/campaigns/{campaign.pk}/table/"
    person = campaign.able_people(Stage.REWRITE)[0].get_username()
    return {
        "table": table,
        "second page": f"{table}?page=2",
        "by name": f"{table}?q=Large+1",
        "of a person": f"{table}?person={person}&stage=rewrite",
        "returned": f"{table}?show=returned&order=minutes",
        "by defect": f"{table}?code=unnatural",
        "campaign": f"/annotate/campaigns/{campaign.pk}/",
        "places": f"/annotate/campaigns/{campaign.pk}/places/",
        "places of a person": f"/annotate/campaigns/{campaign.pk}/places/?person={person}&state=left",
        "api work": f"/api/campaigns/{campaign.pk}/work/",
        "api quality": f"/api/campaigns/{campaign.pk}/quality/",
    }


def opened_pages(campaign: Campaign) -> dict[str, tuple[int, int, float]]:
    """Of each page how often it asks the database, its bytes, and the seconds of work that it takes."""
    admin, found = Client(), {}
    admin.force_login(factories.make_user("admin", campaign.project))
    for name, path in work_pages(campaign).items():
        admin.get(path)
        with CaptureQueriesContext(connection) as asked:
            answer = admin.get(path)
        assert answer.status_code == 200, path
        found[name] = (len(asked), len(answer.content), seconds(admin, path))
    return found


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_table_of_a_campaign_of_twenty_thousand_items_asks_and_shows_no_more_than_that_of_six_hundred() -> None:
    """What it counts grows with the items, in the database: a second is its limit."""
    few = opened_pages(make_large_campaign(600))
    large = make_large_campaign(20_001)
    refresh_statistics()
    assert Item.objects.filter(session__campaign=large).count() > 20_000
    many = opened_pages(large)
    assert {name: many[name][0] for name in many} == {name: few[name][0] for name in few}
    assert {name: many[name][1] for name in many if many[name][1] > 1.2 * few[name][1]} == {}
    assert {name: many[name][2] for name in many if many[name][2] > 1.0} == {}

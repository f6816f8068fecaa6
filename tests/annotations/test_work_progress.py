"""How far a campaign is: every place in one state, and a forecast that names its basis."""

import pytest

from annotations.campaigns.progress import ItemCounts, forecast, progress_of
from annotations.desk import moving_on
from annotations.models import Assignment, Campaign, Session
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    return factories.make_campaign()


def session(campaign: Campaign, **fields) -> Session:
    made = factories.make_session(campaign, tasks=1, steps=1, **fields)
    moving_on.open_work(made)
    return made


def through_rewrite(campaign: Campaign, person, **fields) -> Assignment:
    made = session(campaign, **fields)
    moving_on.submit(made.items.get(stage="decompose").hand(person, 0))
    rewrite = made.items.get(stage="rewrite").hand(person, 0)
    moving_on.submit(rewrite)
    return rewrite


@pytest.mark.slow
def test_every_place_of_every_stage_is_in_one_state(campaign) -> None:
    person, reviewer = (factories.make_user(role, campaign.project) for role in ("annotator", "reviewer"))
    session(campaign)
    session(campaign).items.get().hand(person, 0).take(person)
    moving_on.returned(through_rewrite(campaign, person))
    passed = through_rewrite(campaign, person, batch="b")
    moving_on.submit(passed.verified_as.get().hand(reviewer, 0))
    moving_on.passed(passed)
    progress = progress_of([campaign])[campaign.pk]
    assert (progress.sessions, progress.passed_sessions) == (4, 1)
    assert progress.stages["decompose"] == ItemCounts(passed=1, submitted=1, in_progress=1, todo=1)
    assert progress.stages["rewrite"] == ItemCounts(passed=1, returned=1, todo=2)
    assert progress.stages["verify"] == ItemCounts(passed=1, todo=3)
    assert progress.people[person.username]["rewrite"] == ItemCounts(passed=1, returned=1)
    assert progress.people[reviewer.username]["verify"] == ItemCounts(passed=1)
    assert progress.batches["b"]["rewrite"] == ItemCounts(passed=1)
    assert sum(tallies["rewrite"].total for tallies in progress.batches.values()) == 4


def test_overlap_multiplies_the_places(campaign) -> None:
    Campaign.objects.update(overlap=2, verify_overlap=3)
    campaign.refresh_from_db()
    session(campaign)
    progress = progress_of([campaign])[campaign.pk]
    assert [progress.stages[stage].todo for stage in ("decompose", "rewrite", "verify")] == [2, 2, 6]


def test_sessions_in_the_bin_do_not_count(campaign) -> None:
    session(campaign)
    Session.objects.update(deleted_at="2026-01-01T00:00Z")
    assert progress_of([campaign])[campaign.pk].stages["decompose"].total == 0


def test_progress_of_many_campaigns_costs_two_queries(django_assert_num_queries) -> None:
    campaigns = [factories.make_campaign() for _ in range(3)]
    for one in campaigns:
        session(one)
    with django_assert_num_queries(2):
        found = progress_of(campaigns)
    assert [found[one.pk].sessions for one in campaigns] == [1, 1, 1]


def test_the_bar_is_as_wide_as_its_parts() -> None:
    widths = {state: (x, width) for state, _, _, x, width in ItemCounts(passed=1, todo=3).segments}
    assert widths["passed"] == (0, 250)
    assert widths["todo"] == (250, 750)


@pytest.mark.slow
def test_the_forecast_multiplies_what_is_left_by_the_median_time_of_the_last_finished(campaign) -> None:
    person = factories.make_user("annotator", campaign.project)
    not_yet = "3 left to decompose; a forecast needs the times of 5 finished ones, 0 are known."
    assert forecast(campaign, "decompose", 3) == not_yet
    for _ in range(5):  # not made at the workbench, so without a time
        assignment = session(campaign).items.get().hand(person, 0)
        moving_on.submit(assignment)
    assert forecast(campaign, "decompose", 3) == not_yet
    for seconds in (60, 120, 120, 180, 6000):
        assignment = session(campaign).items.get().hand(person, 0)
        Assignment.objects.filter(pk=assignment.pk).update(active_seconds=seconds)
        moving_on.submit(assignment)
    wanted = "About 20 min of work left to decompose: 10 × 2 min, the median active time of the last 5."
    assert forecast(campaign, "decompose", 10) == wanted
    assert forecast(campaign, "decompose", 0) == "Nothing is left to decompose."

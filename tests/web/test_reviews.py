"""Reviews over HTTP: in the replay, as a list, as a download, and their reasons."""

import csv
import io
import json
import math

import pytest
from django.urls import reverse
from lxml.html import fromstring

from agents.models import Run
from annotations.models import Role, Step
from evaluation.models import Review, ReviewReason, Score
from evaluation.reviews.counting import count_reviews
from evaluation.scores.reviewed import store_all_scores
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def trajectory():
    found = factories.make_trajectory()
    Run.objects.filter(pk=found.run_id).update(state=Run.State.DONE)
    store_all_scores(found.run)
    return found


@pytest.fixture
def project(trajectory):
    return trajectory.run.dataset.project


@pytest.fixture
def reviewer(project):
    return client_of(factories.make_user(Role.REVIEWER, project, username="rita"))


def url(trajectory) -> str:
    return reverse("trajectory-reviews", args=[trajectory.pk])


def post(client, trajectory, **said):
    return client.post(url(trajectory), said, content_type="application/json")


def test_a_review_is_kept_and_told_to_all_who_look(trajectory, project, reviewer) -> None:
    reason = ReviewReason.objects.ensured_for(project).filter(verdict="gold_wrong").first()
    answer = post(reviewer, trajectory, seq=1, verdict="gold_wrong", reason=reason.pk, comment=" see the other ")
    assert answer.status_code == 200
    reader = client_of(factories.make_user(Role.READER, project))
    told = reader.get(url(trajectory)).json()
    assert told["may"] is False
    assert told["reasons"] == []
    (one,) = told["reviews"]
    assert {name: one[name] for name in ("seq", "verdict", "reason_text", "comment", "by", "own")} == {
        "seq": 1,
        "verdict": "gold_wrong",
        "reason_text": reason.text,
        "comment": "see the other",
        "by": "rita",
        "own": False,
    }


def test_the_same_person_replaces_and_takes_back(trajectory, reviewer) -> None:
    post(reviewer, trajectory, seq=1, verdict="gold_wrong")
    assert [one["verdict"] for one in post(reviewer, trajectory, seq=1, verdict="agent_wrong").json()["reviews"]] == [
        "agent_wrong"
    ]
    assert post(reviewer, trajectory, seq=1, verdict="").json()["reviews"] == []
    assert Review.objects.count() == 1


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.READER])
def test_only_reviewers_and_admins_may(trajectory, project, role) -> None:
    client = client_of(factories.make_user(role, project))
    assert post(client, trajectory, seq=0, verdict="agent_wrong").status_code == 403
    assert not Review.objects.exists()


@pytest.mark.slow
def test_reviews_of_hidden_gold_are_hidden_with_it() -> None:
    hidden = factories.make_trajectory(conversation=factories.make_conversation(split="test_task"))
    project = hidden.run.dataset.project
    admin = client_of(factories.make_user(Role.ADMIN, project))
    assert post(admin, hidden, seq=0, verdict="gold_wrong", comment="secret").status_code == 200
    reviewer = client_of(factories.make_user(Role.REVIEWER, project))
    assert reviewer.get(url(hidden)).status_code == 403
    assert post(reviewer, hidden, seq=0, verdict="agent_wrong").status_code == 403
    for name in ("reviews", "reviews-csv", "api:review-list"):
        assert b"secret" not in reviewer.get(reverse(name)).content
        assert b"secret" in admin.get(reverse(name)).content


REGION = {
    "page": "snapshot",
    "x": 10,
    "y": 900.5,
    "width": 300,
    "height": 40,
    "layout_width": 800,
    "page_width": 1200,
    "page_height": 2000,
}
SAID_OF_REGION = '{"seq": 0, "verdict": "agent_wrong", "region": %s}'
BAD_REGIONS = [
    ("[10, 10]", "A region is an object of page, x, y"),
    (json.dumps(REGION | {"z": 1}), "A region is an object of page, x, y"),
    (json.dumps(REGION | {"page": "snapshot_after"}), "one of snapshot, raw_snapshot"),
    (json.dumps(REGION | {"page": ["snapshot"]}), "one of snapshot, raw_snapshot"),
    (json.dumps(REGION | {"page": "raw_snapshot"}), "no raw_snapshot of this step"),
    (json.dumps(REGION | {"x": "10"}), "x of a region is a number"),
    (json.dumps(REGION | {"width": True}), "width of a region is a number"),
    (json.dumps(REGION | {"height": None}), "height of a region is a number"),
    (json.dumps(REGION | {"y": math.nan}), "NaN is no number"),
    (json.dumps(REGION).replace("900.5", "1e999"), "no number of JSON"),
    (json.dumps(REGION | {"x": -1}), "300 × 40 at -1, 900.5 reaches out of the page of 1200 × 2000"),
    (json.dumps(REGION | {"x": 901}), "reaches out of the page"),
    (json.dumps(REGION | {"y": 1960.01}), "reaches out of the page"),
    (json.dumps(REGION | {"height": 0.5}), "at least one pixel"),
    (json.dumps(REGION | {"layout_width": 0}), "layout_width of a region is 1 to 1,000,000"),
    (json.dumps(REGION | {"page_height": 10**400}), "page_height of a region is a number of pixels, at most 1,000,000"),
    ('{"seq": 0}', "A region is an object"),
]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("[1]", "object of seq"),
        ('{"seq": 0, "verdict": "x"}', "A verdict is one of"),
        ('{"seq": 999, "verdict": "gold_wrong"}', "not decided yet"),
        ('{"seq": -1, "verdict": "gold_wrong"}', "not decided yet"),
        ('{"seq": true, "verdict": "gold_wrong"}', "not decided yet"),
        ('{"seq": 1e9, "verdict": "gold_wrong"}', "not decided yet"),
        ('{"seq": 0, "verdict": 5}', "are texts"),
        ('{"seq": 0, "verdict": "gold_wrong", "reason": 999999999}', "no such reason"),
        ('{"seq": 0, "verdict": "gold_wrong", "reason": "1"}', "no such reason"),
        ('{"seq": 0, "verdict": "gold_wrong", "mine": 1}', "object of seq"),
        ("{", "no JSON"),
        *((SAID_OF_REGION % region, message) for region, message in BAD_REGIONS),
    ],
)
def test_what_makes_no_sense_is_told(trajectory, reviewer, body, message) -> None:
    answer = reviewer.post(url(trajectory), body, content_type="application/json")
    assert answer.status_code == 400
    assert message in answer.json()["error"]
    assert not Review.objects.exists()


def test_a_region_of_the_page_goes_with_what_is_said_of_a_step(trajectory, project, reviewer) -> None:
    row = post(reviewer, trajectory, seq=1, verdict="agent_wrong", comment="this one", region=REGION).json()
    assert row["reviews"][0]["region"] == REGION
    listed = reviewer.get(reverse("reviews")).content.decode()
    words = "300 × 40 at 10, 900.5 of the page, laid out 800 wide"
    assert f'title="{words}"' in listed
    (told,) = csv.DictReader(io.StringIO(reviewer.get(reverse("reviews-csv")).content.decode()))
    assert told["region"] == words
    assert post(reviewer, trajectory, seq=1, verdict="agent_wrong").json()["reviews"][0]["region"] is None
    answer = post(reviewer, trajectory, seq=None, verdict="agent_wrong", region=REGION)
    assert (answer.status_code, "of one step" in answer.json()["error"]) == (400, True)
    assert "title=" in listed
    assert words not in reviewer.get(reverse("reviews")).content.decode()


def test_a_step_without_a_page_has_no_region(trajectory, reviewer) -> None:
    Step.objects.filter(trajectory_steps__trajectory=trajectory).update(snapshot=None)
    answer = post(reviewer, trajectory, seq=0, verdict="agent_wrong", region=REGION)
    assert (answer.status_code, "no snapshot of this step" in answer.json()["error"]) == (400, True)


def test_the_list_can_be_narrowed_and_downloaded(trajectory, project, reviewer) -> None:
    post(reviewer, trajectory, seq=1, verdict="gold_wrong", comment="=1+1")
    post(reviewer, trajectory, seq=2, verdict="agent_wrong")
    page = reviewer.get(reverse("reviews"), {"verdict": "gold_wrong"}).content.decode()
    assert f"/trajectories/{trajectory.pk}/steps/1/" in page
    assert f"/trajectories/{trajectory.pk}/steps/2/" not in page
    rows = list(csv.DictReader(io.StringIO(reviewer.get(reverse("reviews-csv")).content.decode())))
    assert [(row["step"], row["verdict"]) for row in rows] == [("2", "agent_wrong"), ("1", "gold_wrong")]
    assert rows[1]["comment"] == "'=1+1", "no formula"
    found = reviewer.get(reverse("api:review-list"), {"run": trajectory.run_id, "verdict": "agent_wrong"}).json()
    assert [(one["seq"], one["verdict"]) for one in found["results"]] == [(2, "agent_wrong")]
    assert reviewer.get(reverse("reviews"), {"verdict": "odd"}).status_code == 404


@pytest.mark.slow
def test_a_study_shows_scores_as_recorded_and_as_reviewed(trajectory, project, reviewer) -> None:
    study = factories.make_study(project, [trajectory.run])
    page = reverse("study", args=[study.pk])
    assert b"reviewed" not in reviewer.get(page).content
    for step in trajectory.steps.filter(success=False):
        post(reviewer, trajectory, seq=step.seq, verdict="both_acceptable")
    count_reviews()
    assert b"What reviews change" in reviewer.get(page).content
    assert b"being counted" not in reviewer.get(page).content
    for verdict in ("agent_wrong", "both_acceptable"):
        post(reviewer, trajectory, seq=trajectory.steps.filter(success=False).first().seq, verdict=verdict)
        assert b"being counted" in reviewer.get(page).content, "some numbers know of it, and others do not"
        count_reviews()
        assert b"being counted" not in reviewer.get(page).content
    shown = reviewer.get(page, {"preset": "reviewed"})
    assert [cell.value for cell in shown.context["tables"][0].rows[0].cells][2:4] == [1.0, 1.0]
    assert [cell.value for cell in reviewer.get(page).context["tables"][0].rows[0].cells][2] < 1.0
    Score.objects.filter(run=trajectory.run, metric__startswith="turn").delete()  # as of a run that only ranks
    rows = fromstring(reviewer.get(page).content).xpath("//section[@id='reviewed']//tr")
    assert [len(row) for row in rows] == [9, 9], "each number stands in its own column"


def test_admins_change_the_list_of_reasons(project) -> None:
    page = reverse("review-reasons", args=[project.slug])
    admin = client_of(factories.make_user(Role.ADMIN, project))
    admin.post(page, {"verdict": "agent_wrong", "text": "  too  slow "})
    made = ReviewReason.objects.get(project=project, text="too slow")
    admin.post(page, {"reason": made.pk})
    made.refresh_from_db()
    assert made.retired_at
    assert made not in ReviewReason.objects.ensured_for(project).offered()
    admin.post(page, {"reason": made.pk})
    made.refresh_from_db()
    assert not made.retired_at
    count = ReviewReason.objects.count()
    for wrong in ({"verdict": "odd", "text": "a"}, {"verdict": "agent_wrong", "text": " "}, {"text": "x" * 121}):
        admin.post(page, wrong)
    assert ReviewReason.objects.count() == count


def test_reviewers_read_reasons_and_others_do_not(project) -> None:
    page = reverse("review-reasons", args=[project.slug])
    reviewer = client_of(factories.make_user(Role.REVIEWER, project))
    assert reviewer.get(page).status_code == 200
    assert reviewer.post(page, {"verdict": "agent_wrong", "text": "new"}).status_code == 403
    assert client_of(factories.make_user(Role.READER, project)).get(page).status_code == 403
    assert client_of(factories.make_user(Role.ADMIN)).get(page).status_code == 404

"""Reviews and their queues by programs: what the pages allow, and nothing else."""

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import Run, Trajectory
from annotations.models import Correction, Project, Role
from evaluation.models import Review, ReviewQueue, ReviewReason, Study
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def trajectory() -> Trajectory:
    found = factories.make_trajectory()
    Run.objects.filter(pk=found.run_id).update(state=Run.State.DONE)
    return found


@pytest.fixture
def project(trajectory: Trajectory) -> Project:
    return trajectory.run.dataset.project


@pytest.fixture
def study(trajectory: Trajectory, project: Project) -> Study:
    return factories.make_study(project, [trajectory.run])


@pytest.fixture
def reviewer(project: Project) -> Client:
    return client_of(factories.make_user(Role.REVIEWER, project, username="rita"))


def post(client: Client, noun: str, key: str = "", **told):
    headers = {"Idempotency-Key": key} if key else {}
    return client.post(f"/api/{noun}/", told, content_type="application/json", headers=headers)


def test_a_verdict_is_given_as_on_the_page_and_asks_for_a_correction(trajectory, reviewer) -> None:
    told = {"trajectory": trajectory.pk, "seq": 1, "verdict": "gold_wrong", "reason": "wrong value recorded"}
    made = post(reviewer, "reviews", **told, comment=" It is 4. ")
    assert made.status_code == 201, made.content
    row = made.json()
    assert (row["seq"], row["verdict"], row["reason"], row["reviewer"]) == (1, "gold_wrong", told["reason"], "rita")
    assert Correction.objects.get().reason == "wrong value recorded: It is 4."
    (shown,) = reviewer.get(reverse("trajectory-reviews", args=[trajectory.pk])).json()["reviews"]
    assert (shown["verdict"], shown["comment"], shown["own"]) == ("gold_wrong", "It is 4.", True)
    whole = post(reviewer, "reviews", trajectory=trajectory.pk, verdict="agent_wrong")
    assert (whole.status_code, whole.json()["step"]) == (201, None)
    listed = reviewer.get(f"/api/reviews/?trajectory={trajectory.pk}").json()["results"]
    assert {one["id"] for one in listed} == {row["id"], whole.json()["id"]}


@pytest.mark.slow
def test_the_same_again_changes_nothing_and_another_takes_its_place(trajectory, reviewer) -> None:
    told = {"trajectory": trajectory.pk, "seq": 0}
    first = post(reviewer, "reviews", key="a", **told, verdict="agent_wrong")
    again = post(reviewer, "reviews", key="a", **told, verdict="agent_wrong")
    assert (again.json(), again.headers["Idempotency-Replayed"]) == (first.json(), "true")
    assert post(reviewer, "reviews", key="a", **told, verdict="page_broken").status_code == 422
    other = post(reviewer, "reviews", **told, verdict="page_broken").json()
    assert (other["id"], other["verdict"]) == (first.json()["id"], "page_broken")
    assert post(reviewer, "reviews", **told, verdict="").status_code == 201
    assert reviewer.get("/api/reviews/").json()["results"] == []
    assert Review.objects.count() == 1


REGION = {
    "page": "snapshot",
    "x": 10.0,
    "y": 20.0,
    "width": 300.0,
    "height": 40.0,
    "layout_width": 800.0,
    "page_width": 800.0,
    "page_height": 2000.0,
}


def test_a_region_is_given_and_read_as_on_the_page(trajectory, reviewer) -> None:
    told = {"trajectory": trajectory.pk, "seq": 1, "verdict": "agent_wrong"}
    made = post(reviewer, "reviews", **told, region=REGION)
    assert (made.status_code, made.json()["region"]) == (201, REGION), made.content
    assert reviewer.get("/api/reviews/").json()["results"][0]["region"] == REGION
    (shown,) = reviewer.get(reverse("trajectory-reviews", args=[trajectory.pk])).json()["reviews"]
    assert shown["region"] == REGION
    assert post(reviewer, "reviews", **told).json()["region"] is None, "what is said later takes its place"


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"seq": 99, "verdict": "agent_wrong"}, "not decided yet"),
        ({"seq": -1, "verdict": "agent_wrong"}, "greater than or equal to 0"),
        ({"seq": 0, "verdict": "odd"}, "not a valid choice"),
        ({"seq": 0}, "required"),
        (
            {"seq": 0, "verdict": "agent_wrong", "reason": "wrong value recorded"},
            "There are: wrong sibling, wrong value",
        ),
        ({"seq": 0, "verdict": "agent_wrong", "comment": "a" * 5_001}, "5000"),
        ({"seq": 0, "verdict": "agent_wrong", "by": "anna"}, "There is no such field"),
        ({"seq": 0, "verdict": "agent_wrong", "region": REGION | {"x": 700}}, "reaches out of the page"),
        ({"seq": 0, "verdict": "agent_wrong", "region": REGION | {"x": "NaN"}}, "A valid number is required"),
        ({"seq": 0, "verdict": "agent_wrong", "region": REGION | {"x": -1}}, "greater than or equal to 0"),
        ({"seq": 0, "verdict": "agent_wrong", "region": REGION | {"z": 1}}, "There is no such field"),
        ({"seq": 0, "verdict": "agent_wrong", "region": REGION | {"page": "raw_snapshot"}}, "no raw_snapshot"),
        ({"verdict": "agent_wrong", "region": REGION}, "not of the whole trajectory"),
    ],
)
def test_what_cannot_be_said_is_told_and_stores_nothing(trajectory, reviewer, told, words) -> None:
    answer = post(reviewer, "reviews", trajectory=trajectory.pk, **told)
    assert (answer.status_code, words in answer.content.decode()) == (400, True), answer.content
    assert not Review.objects.exists()


def test_a_retired_reason_is_given_no_more_on_page_and_over_rest(trajectory, project, reviewer) -> None:
    reason = ReviewReason.objects.ensured_for(project).get(text="wrong sibling")
    told = {"seq": 0, "verdict": "agent_wrong"}
    assert post(reviewer, "reviews", trajectory=trajectory.pk, **told, reason="wrong sibling").status_code == 201
    reason.switch()
    kept = post(reviewer, "reviews", trajectory=trajectory.pk, **told, reason="wrong sibling", comment="As ever.")
    assert kept.status_code == 201, "who gave it before keeps it"
    other = client_of(factories.make_user(Role.REVIEWER, project))
    assert (
        "offered no more"
        in post(other, "reviews", trajectory=trajectory.pk, **told, reason="wrong sibling").content.decode()
    )
    page = reverse("trajectory-reviews", args=[trajectory.pk])
    said = other.post(page, told | {"reason": reason.pk}, content_type="application/json")
    assert (said.status_code, said.json()["error"]) == (400, "This reason is offered no more.")
    listed = other.get(f"/api/reviews/reasons/?project={project.slug}").json()
    assert {one["text"]: (one["given"], one["retired_at"] is None) for one in listed}["wrong sibling"] == (1, False)


def test_a_list_of_reasons_is_asked_for_by_the_id_of_its_project_or_by_its_slug(project, reviewer) -> None:
    address = "/api/reviews/reasons/?project="
    told = reviewer.get(f"{address}{project.slug}")
    assert (told.status_code, told.json()) == (200, reviewer.get(f"{address}{project.pk}").json())
    assert told.json()
    named = factories.make_project(slug=str(project.pk))
    for unknown in (named.pk, 10**30, "%00", "²", ""):
        assert reviewer.get(f"{address}{unknown}").status_code == 400, unknown
    other = client_of(factories.make_user(Role.REVIEWER, named))
    assert other.get(f"{address}{named.slug}").status_code == 200, "a slug goes before an id"


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.READER])
def test_who_does_not_review_says_nothing_and_is_asked_nothing(trajectory, project, study, role) -> None:
    client = client_of(factories.make_user(role, project))
    queue = post(client_of(factories.make_user(Role.ADMIN, project)), "review-queues", study=study.pk, choice="random")
    assert post(client, "reviews", trajectory=trajectory.pk, seq=0, verdict="agent_wrong").status_code == 403
    assert client.get(f"/api/reviews/reasons/?project={project.slug}").status_code == 403
    assert client.get(f"/api/review-queues/{queue.json()['id']}/next/").status_code == 403
    assert client.get(f"/api/review-queues/{queue.json()['id']}/progress/").json()["left"] == 0
    assert post(client, "review-queues", study=study.pk, choice="random").status_code == 403


@pytest.mark.slow
def test_a_program_goes_through_a_queue(trajectory, project, study, reviewer) -> None:
    admin = client_of(factories.make_user(Role.ADMIN, project))
    asked = {"study": study.pk, "choice": "random", "size": 2, "seed": 5}
    made = post(admin, "review-queues", key="q", **asked)
    assert (made.status_code, made.json()["size"]) == (201, 2)
    assert post(admin, "review-queues", key="q", **asked).json() == made.json()
    assert ReviewQueue.objects.count() == 1
    assert post(reviewer, "review-queues", **asked).status_code == 403
    address = f"/api/review-queues/{made.json()['id']}/"
    for done in range(2):
        assert reviewer.get(f"{address}progress/").json() == {"size": 2, "done": done, "left": 2 - done}
        step = reviewer.get(f"{address}next/").json()["next"]
        assert step["place"] == done
        told = {"trajectory": step["trajectory"], "seq": step["seq"]}
        assert post(reviewer, "reviews", **told, verdict=("agent_wrong", "both_acceptable")[done]).status_code == 201
    assert reviewer.get(f"{address}next/").json() == {"next": None}
    found = reviewer.get(f"{address}agreement/").json()
    assert (found["judged"], found["noise"]["n"], found["true_rate"]["n"]) == (2, 2, 2)
    assert [one["run"] for one in found["runs"]] == [trajectory.run_id]
    assert [one["id"] for one in reviewer.get(f"/api/review-queues/?study={study.pk}").json()["results"]] == [
        made.json()["id"]
    ]
    assert reviewer.get("/api/review-queues/?choice=failures").json()["results"] == []


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"size": 0}, "greater than or equal"),
        ({"overlap": 6}, "less than or equal to 5"),
        ({"choice": "disagree"}, "No stored step"),
        ({"choice": "scanner"}, "chosen by one of"),
        ({"study": 10**9}, "does not exist"),
    ],
)
def test_what_cannot_be_asked_for_is_told(project, study, told, words) -> None:
    admin = client_of(factories.make_user(Role.ADMIN, project))
    answer = post(admin, "review-queues", **({"study": study.pk, "choice": "random"} | told))
    assert (answer.status_code, words in answer.content.decode()) == (400, True), answer.content
    assert not ReviewQueue.objects.exists()


@pytest.mark.slow
def test_hidden_gold_stays_hidden_and_other_projects_do_not_exist() -> None:
    hidden = factories.make_trajectory(conversation=factories.make_conversation(split="test_task"))
    project = hidden.run.dataset.project
    study = factories.make_study(project, [hidden.run])
    admin = client_of(factories.make_user(Role.ADMIN, project))
    made = post(admin, "review-queues", study=study.pk, choice="random").json()
    reviewer = client_of(factories.make_user(Role.REVIEWER, project))
    assert post(reviewer, "reviews", trajectory=hidden.pk, seq=0, verdict="agent_wrong").status_code == 403
    for what in ("progress", "next", "agreement"):
        assert reviewer.get(f"/api/review-queues/{made['id']}/{what}/").status_code == 403, what
        assert admin.get(f"/api/review-queues/{made['id']}/{what}/").status_code == 200, what
    stranger = client_of(factories.make_user(Role.ADMIN))
    foreign = post(stranger, "reviews", trajectory=hidden.pk, seq=0, verdict="agent_wrong")
    unknown = post(stranger, "reviews", trajectory=10**9, seq=0, verdict="agent_wrong")
    assert (foreign.status_code, unknown.status_code) == (400, 400)
    assert foreign.json()["trajectory"][0].replace(str(hidden.pk), "") == unknown.json()["trajectory"][0].replace(
        str(10**9), ""
    )
    assert "does not exist" in stranger.get(f"/api/reviews/reasons/?project={project.slug}").content.decode()
    assert stranger.get(f"/api/review-queues/{made['id']}/next/").status_code == 404
    assert not Review.objects.exists()


def counts_told(client: Client, project: Project) -> set[int]:
    """How often each reason was given, by REST and on the page."""
    rows = client.get(f"/api/reviews/reasons/?project={project.slug}").json()
    page = client.get(reverse("review-reasons", args=[project.slug]))
    of_page = {row.given for _, group, _ in page.context["groups"] for row in group}
    assert of_page == {row["given"] for row in rows}
    return of_page


@pytest.mark.slow
def test_no_count_of_reasons_or_steps_tells_of_hidden_gold() -> None:
    """Who asks before and after an admin has judged a hidden step would read the verdict off the count of its reason;
    the size of a queue of what differs or was found says how much of it there is."""
    hidden = factories.make_trajectory(conversation=factories.make_conversation(split="test_task"))
    project = hidden.run.dataset.project
    queue = ReviewQueue.objects.get(
        pk=post(
            client_of(admin := factories.make_user(Role.ADMIN, project)),
            "review-queues",
            study=factories.make_study(project, [hidden.run]).pk,
            choice="random",
        ).json()["id"]
    )
    reviewer = factories.make_user(Role.REVIEWER, project)
    reason = ReviewReason.objects.ensured_for(project).filter(verdict="gold_wrong").first()
    Review.objects.give(hidden, hidden.steps.first(), admin, "gold_wrong", reason)
    addresses = ["/api/review-queues/", f"/api/review-queues/{queue.pk}/", reverse("review-queues")]
    told = {who: [client_of(who).get(one) for one in addresses] for who in (reviewer, admin)}
    assert counts_told(client_of(reviewer), project) == {0}
    assert counts_told(client_of(admin), project) == {0, 1}
    assert told[reviewer][0].json()["results"] == []
    assert [one["size"] for one in told[admin][0].json()["results"]] == [queue.tasks.count()]
    assert [answer[1].status_code for answer in told.values()] == [404, 200]
    assert [list(answer[2].context["page"]) for answer in told.values()] == [[], [queue]]


def test_an_answer_of_before_is_not_repeated_to_who_may_no_longer_see_it(trajectory, project, reviewer) -> None:
    told = {"trajectory": trajectory.pk, "seq": 0, "verdict": "agent_wrong"}
    first = post(reviewer, "reviews", key="a", **told)
    rita = project.memberships.filter(user__username="rita")
    rita.update(sees_test_gold=True)
    again = post(reviewer, "reviews", key="a", **told)
    assert again.status_code == 409
    assert "what you may see and do has changed since" in again.json()["detail"]
    assert Review.objects.count() == 1
    rita.update(sees_test_gold=False)
    assert post(reviewer, "reviews", key="a", **told).json() == first.json()

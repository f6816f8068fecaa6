"""Queues of review that ask of whole trajectories: how these are chosen, judged in the replay, and what that says."""

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import expect

from agents.models import Run, Trajectory
from annotations.models import Project, Role
from evaluation.models import JudgeVerdict, Review, ReviewQueue, Study
from evaluation.reviews.choosing import QueueDemand, make_queue
from evaluation.reviews.estimating import estimate, run_rates
from evaluation.studies.home import to_judge
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return factories.make_run(factories.make_dataset(), state="done")


@pytest.fixture
def trajectories(run: Run) -> list[Trajectory]:
    """Five that are done, of which the first two are right in every step, and one that is not done."""
    found = [
        factories.make_trajectory(run, factories.make_conversation(turns=1, dataset=run.dataset)) for _ in range(5)
    ]
    for one in found[:2]:
        one.steps.update(success=True)
    factories.make_trajectory(run, factories.make_conversation(turns=1, dataset=run.dataset), stored=0)
    return found


@pytest.fixture
def project(run: Run) -> Project:
    return run.dataset.project


@pytest.fixture
def study(run: Run, trajectories: list[Trajectory]) -> Study:
    return factories.make_study(run.dataset.project, [run])


@pytest.fixture
def admin(project: Project) -> Client:
    return client_of(factories.make_user(Role.ADMIN, project))


def asked_of(queue: ReviewQueue) -> list[int]:
    assert not queue.tasks.exclude(step=None).exists()
    return list(queue.tasks.values_list("trajectory", flat=True))


def queue_of(study: Study, choice: str = "whole_random", size: int = 100, **more) -> ReviewQueue:
    return make_queue(None, study, QueueDemand(choice, size, **({"overlap": 1} | more)))


def test_at_random_each_that_is_done_has_the_same_known_chance(study, trajectories) -> None:
    queue = queue_of(study, size=2)
    assert (queue.population, queue.said_right, queue.probability) == (5, 2, 2 / 5)
    drawn = [asked_of(queue_of(study, size=3, seed=seed)) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]
    assert set(asked_of(queue_of(study))) == {one.pk for one in trajectories}
    assert queue_of(study, "whole_failures").probability is None


def test_failures_and_what_judge_and_metric_say_differently(study, trajectories) -> None:
    right, _, wrong, other, _ = trajectories
    assert set(asked_of(queue_of(study, "whole_failures"))) == {one.pk for one in trajectories[2:]}
    for choice in ("whole_judged", "whole_disagree"):
        with pytest.raises(ValueError, match="No stored trajectory"):
            queue_of(study, choice)
    factories.make_judge_verdict(right, "webjudge", success=False)
    factories.make_judge_verdict(wrong, "webjudge", success=True)
    factories.make_judge_verdict(other, "webjudge", success=False)
    assert set(asked_of(queue_of(study, "whole_judged"))) == {right.pk, other.pk}
    assert set(asked_of(queue_of(study, "whole_disagree"))) == {right.pk, wrong.pk}
    right.save()  # it has grown since it was judged
    assert asked_of(queue_of(study, "whole_judged")) == [other.pk]


def test_an_episode_is_right_by_its_reward(study, trajectories) -> None:
    for one, reward in zip(trajectories, (1.0, 0.5, 0.0, None, None), strict=True):
        one.steps.update(step=None, turn=one.conversation.turns.first(), reward=None)
        one.steps.filter(seq=0).update(reward=reward)
    assert queue_of(study).population == 3, "those without a reward are neither right nor wrong"
    assert set(asked_of(queue_of(study, "whole_failures"))) == {one.pk for one in trajectories[1:3]}
    factories.make_judge_verdict(trajectories[3], "webjudge", success=False)
    judged = queue_of(study, "whole_judged")
    assert asked_of(judged) == [trajectories[3].pk]
    Review.objects.give(trajectories[3], None, factories.make_user(), "agent_wrong")
    found = estimate(judged)
    assert (found.judged, found.calibration) == (1, (0, 0, 0, 0)), "no metric to compare with"


@pytest.mark.slow
def test_a_reviewer_is_led_from_trajectory_to_trajectory(study, project, trajectories, admin) -> None:
    asked = {"study": study.pk, "choice": "whole_random", "size": "2", "overlap": "1"}
    admin.post(reverse("review-queues"), asked)
    queue = ReviewQueue.objects.get()
    rita = factories.make_user(Role.REVIEWER, project)
    reviewer = client_of(rita)
    assert to_judge(rita) == [(queue, 2)]
    assert "Trajectories to judge" in reviewer.get("/").content.decode()
    for pk in asked_of(queue):
        to = reviewer.get(reverse("review-queue-next", args=[queue.pk]))["Location"]
        assert to == f"{reverse('trajectory', args=[pk])}?queue={queue.pk}&whole=1"
        shown = reviewer.get(to, follow=True)
        assert shown.context["data"]["whole"]
        one = Trajectory.objects.get(pk=pk)
        Review.objects.give(one, one.steps.first(), rita, "agent_wrong")
        assert queue.tasks.left_for(rita).first().trajectory_id == pk, "a step is not the whole"
        Review.objects.give(one, None, rita, "both_acceptable")
    page = reviewer.get(reverse("review-queue-next", args=[queue.pk]), follow=True).content.decode()
    assert "2 trajectories are judged" in " ".join(page.split())
    assert "2 of 2" in " ".join(page.split())


def test_each_is_asked_of_as_many_as_were_wanted_and_again_once_it_grows(study, trajectories) -> None:
    queue = queue_of(study, size=1, overlap=2)
    (pk,) = asked_of(queue)
    one = Trajectory.objects.get(pk=pk)
    people = [factories.make_user() for _ in range(3)]
    for person in people[:2]:
        assert [queue.tasks.left_for(each).count() for each in people][2] == 1
        Review.objects.give(one, None, person, "agent_wrong")
    assert [queue.tasks.left_for(each).count() for each in people] == [0, 0, 0]
    assert queue.tasks.done().count() == 1
    assert estimate(queue).agreement.value == 1.0
    one.save()
    assert [queue.tasks.left_for(each).count() for each in people] == [1, 1, 1]
    assert estimate(queue).judged == 0, "what was said of it as it was counts no more"


def test_a_queue_of_steps_asks_nothing_of_who_judged_the_whole(study, trajectories) -> None:
    queue, person = queue_of(study, "random"), factories.make_user()
    for one in trajectories:
        Review.objects.give(one, None, person, "both_acceptable")
    assert queue.tasks.left_for(person).count() == queue.tasks.count()
    assert queue.tasks.done().count() == 0
    assert estimate(queue).judged == 0


def test_the_verdicts_tell_how_the_metric_errs_and_the_true_rate(study, trajectories) -> None:
    """Of five, the metric called two right; people say of one more that it is, and that no gold was wrong."""
    queue, person = queue_of(study), factories.make_user()
    said = ("both_acceptable", "both_acceptable", "both_acceptable", "agent_wrong", "agent_wrong")
    for one, verdict in zip(trajectories, said, strict=True):
        Review.objects.give(one, None, person, verdict)
    found = estimate(queue)
    assert found.calibration == (3, 2, 2, 2)
    assert found.by_gold.value == 2 / 5
    assert found.true_rate == pytest.approx((0.6, 0.6, 0.6, 5)), "all there is was looked at"
    (rate,) = run_rates(found.calibration, queue)
    assert (rate.by_gold.value, rate.by_gold.n) == (2 / 5, 5)
    assert rate.corrected is not None
    assert estimate(queue_of(study, "whole_failures")).true_rate is None


@pytest.mark.slow
def test_the_page_of_judges_puts_its_list_into_a_queue_in_its_order(study, trajectories, admin, project) -> None:
    for one in trajectories:
        factories.make_judge_verdict(one, "webjudge", success=one is trajectories[0])
        factories.make_judge_verdict(one, "gold", success=False)
    address = f"{reverse('study-judges', args=[study.pk])}?order=drawn&judge=webjudge&said=failure"
    shown = [row.trajectory_id for row in admin.get(address).context["page"]]
    answer = admin.post(address, {"size": "3", "overlap": "2"})
    queue = ReviewQueue.objects.get()
    assert answer["Location"] == reverse("review-queue", args=[queue.pk])
    assert asked_of(queue) == shown[:3]
    assert (queue.choice, queue.overlap) == ("whole_listed", 2)
    both = admin.post(reverse("study-judges", args=[study.pk]), {"size": "50", "overlap": "1"})
    listed = asked_of(ReviewQueue.objects.first())
    assert both.status_code == 302
    assert sorted(listed) == sorted(one.pk for one in trajectories), "each once, though two judges name it"
    reviewer = client_of(factories.make_user(Role.REVIEWER, project))
    assert "Put these into a queue" in admin.get(address).content.decode()
    assert "Put these into a queue" not in reviewer.get(address).content.decode()
    assert reviewer.post(address, {"size": "3", "overlap": "1"}).status_code == 403
    assert ReviewQueue.objects.count() == 2


@pytest.mark.parametrize(
    ("query", "size", "words"), [("", "0", "1 to 2,000"), ("", "x", "whole number"), ("?run=0", "3", "list is empty")]
)
def test_a_list_that_cannot_be_asked_of_is_told(study, trajectories, admin, query, size, words) -> None:
    factories.make_judge_verdict(trajectories[0])
    page = admin.post(reverse("study-judges", args=[study.pk]) + query, {"size": size, "overlap": "1"})
    assert page.status_code == 200
    assert words in page.content.decode()
    assert not ReviewQueue.objects.exists()


@pytest.mark.slow
def test_over_rest(study, trajectories, admin, project) -> None:
    wanted = [one.pk for one in trajectories[3:0:-1]]

    def post(**more):
        asked = {"study": study.pk, "choice": "whole_listed", "trajectories": wanted} | more
        return admin.post("/api/review-queues/", asked, content_type="application/json")

    made = post().json()
    assert (made["noun"], made["size"]) == ("trajectory", 3)
    reviewer = client_of(factories.make_user(Role.REVIEWER, project))
    address = f"/api/review-queues/{made['id']}/"
    for place, pk in enumerate(wanted):
        asked = reviewer.get(f"{address}next/").json()["next"]
        assert asked == {"trajectory": pk, "seq": None, "step": None, "place": place}
        said = {"trajectory": pk, "seq": None, "verdict": "both_acceptable"}
        assert reviewer.post("/api/reviews/", said, content_type="application/json").status_code == 201
    assert reviewer.get(f"{address}next/").json() == {"next": None}
    assert reviewer.get(f"{address}progress/").json() == {"size": 3, "done": 3, "left": 0}
    assert reviewer.get(f"{address}agreement/").json()["judged"] == 3
    for more, words in (
        ({"size": 2}, "3 trajectories are listed, and the queue is to hold 2."),
        ({"trajectories": [wanted[0], wanted[0]]}, "listed twice"),
        ({"trajectories": [2**40]}, "none has this number"),
        ({"trajectories": []}, "listed where whole_listed is chosen"),
        ({"choice": "whole_random"}, "listed where whole_listed is chosen"),
    ):
        answer = post(**more)
        assert answer.status_code == 400
        assert words in str(answer.json()), more
    assert ReviewQueue.objects.count() == 1


@pytest.mark.slow
def test_trajectories_over_hidden_gold_are_for_those_who_see_it() -> None:
    hidden = factories.make_trajectory(conversation=factories.make_conversation(split="test_task"))
    project = hidden.run.dataset.project
    study = factories.make_study(project, [hidden.run])
    queue = queue_of(study)
    factories.make_judge_verdict(hidden)
    rita = factories.make_user(Role.REVIEWER, project)
    reviewer = client_of(rita)
    assert to_judge(rita) == []
    for name in ("review-queue", "review-queue-next"):
        assert reviewer.get(reverse(name, args=[queue.pk])).status_code == 403
    for what in ("next", "progress", "agreement"):
        assert reviewer.get(f"/api/review-queues/{queue.pk}/{what}/").status_code == 403
    assert reviewer.get("/api/review-queues/").json()["results"] == []
    assert JudgeVerdict.objects.count() == 1
    posted = reviewer.post(reverse("study-judges", args=[study.pk]), {"size": "3", "overlap": "1"})
    assert posted.status_code in (200, 403)
    assert ReviewQueue.objects.count() == 1


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_by_key_alone_from_one_trajectory_to_the_next(app_server, page, sign_in, study, project) -> None:
    sign_in(factories.make_user(Role.REVIEWER, project))
    queue = queue_of(study, size=2)
    page.goto(app_server.url(reverse("review-queue-next", args=[queue.pk])))
    for place in range(2):
        page.get_by_role("region", name="Review of the whole trajectory").wait_for()
        before = page.url.partition("/steps/")[0]
        page.keyboard.press("ArrowRight")
        expect(page.locator("#place")).to_contain_text("step 2 of")
        page.keyboard.press("b")
        page.keyboard.press("q")
        page.wait_for_url(lambda url, before=before: not url.startswith(before))
        assert Review.objects.filter(step=None, verdict="both_acceptable").count() == place + 1
    assert page.url == app_server.url(reverse("review-queue", args=[queue.pk]))
    page.go_back()
    page.get_by_role("region", name="Review of the whole trajectory").wait_for()
    page.keyboard.press("w")
    page.get_by_role("region", name="Review of this step").wait_for()
    expect(page.locator("#review [aria-pressed=true]")).to_have_count(0)
    page.keyboard.press("a")
    expect(page.locator("#said")).to_contain_text("agent wrong")
    assert Review.objects.exclude(step=None).get().verdict == "agent_wrong"
    assert "whole" not in page.url

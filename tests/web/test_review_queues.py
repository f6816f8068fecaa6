"""Queues of review: steps that people are asked to judge, one after the other, and what their verdicts say."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import Run, Trajectory
from annotations.models import Project, Role
from evaluation.models import Review, ReviewQueue, Study
from evaluation.reviews.choosing import QueueDemand, make_queue
from evaluation.reviews.estimating import estimate, run_rates
from tests import factories
from tests.signed_in import client_of
from tests.web.reading import source

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
def admin(project: Project) -> Client:
    return client_of(factories.make_user(Role.ADMIN, project))


def queue_of(study: Study, choice: str = "random", size: int = 100, **more) -> ReviewQueue:
    return make_queue(None, study, QueueDemand(choice, size, **({"overlap": 1} | more)))


@pytest.mark.slow
def test_an_admin_asks_and_a_reviewer_is_led_from_step_to_step(study, project, trajectory, admin) -> None:
    asked = {"study": study.pk, "choice": "random", "size": "2", "overlap": "1"}
    answer = admin.post(reverse("review-queues"), asked)
    queue = ReviewQueue.objects.get()
    assert answer["Location"] == reverse("review-queue", args=[queue.pk])
    assert queue.population == trajectory.steps.count()
    assert queue.probability == 2 / queue.population
    rita = factories.make_user(Role.REVIEWER, project)
    reviewer, seen = client_of(rita), []
    for _ in range(2):
        to = reviewer.get(reverse("review-queue-next", args=[queue.pk]))["Location"]
        assert reviewer.get(to).status_code == 200
        assert f'href="{reverse("review-queue-next", args=[queue.pk])}"' in reviewer.get(to).content.decode()
        seq = int(to.partition("/steps/")[2].partition("/")[0])
        seen.append(seq)
        Review.objects.give(trajectory, trajectory.steps.get(seq=seq), rita, "agent_wrong")
    assert len(set(seen)) == 2
    last = reviewer.get(reverse("review-queue-next", args=[queue.pk]))
    assert last["Location"] == reverse("review-queue", args=[queue.pk])
    assert "2 of 2 steps are judged" in " ".join(reviewer.get(last["Location"]).content.decode().split())


def test_a_step_is_asked_of_as_many_as_were_wanted_and_of_each_once(study, trajectory) -> None:
    queue = queue_of(study, size=1, overlap=2)
    people = [factories.make_user() for _ in range(3)]
    (task,) = queue.tasks.all()
    Review.objects.give(trajectory, task.step, people[0], "gold_wrong")
    assert [queue.tasks.left_for(one).count() for one in people] == [0, 1, 1]
    Review.objects.give(trajectory, task.step, people[1], "gold_wrong")
    assert [queue.tasks.left_for(one).count() for one in people] == [0, 0, 0]
    assert queue.tasks.done().count() == 1
    Review.objects.give(trajectory, task.step, people[0], "")
    assert [queue.tasks.left_for(one).count() for one in people] == [1, 0, 1], "what is taken back is asked again"


def test_steps_are_chosen_as_asked(study, trajectory, project) -> None:
    steps = list(trajectory.steps.order_by("seq"))
    trajectory.steps.update(success=True)
    trajectory.steps.filter(pk=steps[1].pk).update(success=False)
    failed = queue_of(study, "failures")
    assert [task.step_id for task in failed.tasks.all()] == [steps[1].pk]
    assert failed.probability is None
    trajectory.steps.update(candidate_scores=[0.9, 0.1])
    trajectory.steps.filter(pk=steps[2].pk).update(candidate_scores=[0.5, 0.49])
    assert queue_of(study, "uncertain", 1).tasks.get().step_id == steps[2].pk
    with pytest.raises(ValueError, match="No stored step"):
        queue_of(study, "disagree")
    other = factories.make_trajectory(conversation=trajectory.conversation)
    other.steps.update(success=True)
    study.runs.add(other.run)
    assert [task.step_id for task in queue_of(study, "disagree").tasks.all()] == [steps[1].pk]
    drawn = [[task.step_id for task in queue_of(study, size=3, seed=seed).tasks.all()] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


@pytest.mark.parametrize(
    ("more", "words"),
    [({"choice": "x"}, "chosen by one of"), ({"size": "0"}, "1 to 2,000"), ({"overlap": "6"}, "1 to 5 people")],
)
def test_what_cannot_be_asked_is_told(study, admin, more, words) -> None:
    asked = {"study": study.pk, "choice": "random", "size": "2", "overlap": "1"} | more
    page = admin.post(reverse("review-queues"), asked)
    assert page.status_code == 200
    assert words in page.content.decode()
    assert not ReviewQueue.objects.exists()


def test_a_refused_request_keeps_what_was_typed(study, admin) -> None:
    factories.make_study(study.project, [study.runs.get()])  # the newest, which is offered first
    asked = {"study": study.pk, "choice": "failures", "size": "many", "overlap": "3"}
    page = source(admin.post(reverse("review-queues"), asked))
    assert "Enter a whole number." in page
    assert f'<option value="{study.pk}" selected>' in page
    assert '<option value="failures" selected>' in page
    assert re.search(r'name="size" value="many"', page)
    assert re.search(r'name="overlap" value="3"', page)
    assert not ReviewQueue.objects.exists()


def test_the_verdicts_tell_noise_errors_of_gold_and_the_true_score(study, trajectory) -> None:
    """Of four judged steps gold was right about two; one was accepted beside gold, one had wrong gold."""
    steps = list(trajectory.steps.order_by("seq")[:4])
    trajectory.steps.update(success=False)
    trajectory.steps.filter(pk=steps[0].pk).update(success=True)
    queue = queue_of(study)
    person = factories.make_user()
    said = ("both_acceptable", "agent_wrong", "both_acceptable", "gold_wrong")
    for step, verdict in zip(steps, said, strict=True):
        Review.objects.give(trajectory, step, person, verdict)
    found = estimate(queue)
    assert (found.judged, found.undecided) == (4, 0)
    assert (found.noise.value, found.noise.n) == (0.25, 4)
    assert found.calibration == (3, 1, 1, 1)
    assert found.true_rate == pytest.approx((0.75, 0.75, 0.75, 4)), "all there is was looked at"
    (rate,) = run_rates(found.calibration, queue)
    assert rate.by_gold.value == 1 / queue.population
    failures = queue_of(study, "failures")
    assert estimate(failures).true_rate is None, "of what was chosen for failing"
    client = client_of(factories.make_user(Role.ADMIN, study.project))
    caution = "These steps were not drawn at random"
    assert caution not in client.get(f"/reviews/queues/{queue.pk}/").content.decode()
    assert caution in client.get(f"/reviews/queues/{failures.pk}/").content.decode()


def test_people_who_are_divided_count_in_nothing(study, trajectory) -> None:
    queue = queue_of(study, size=1, overlap=2)
    step = queue.tasks.get().step
    for verdict in ("agent_wrong", "both_acceptable"):
        Review.objects.give(trajectory, step, factories.make_user(), verdict)
    found = estimate(queue)
    assert (found.judged, found.undecided, found.agreement.value) == (1, 1, 0.0)
    assert found.calibration == (0, 0, 0, 0)


def test_queues_over_hidden_gold_are_for_those_who_see_it() -> None:
    hidden = factories.make_trajectory(conversation=factories.make_conversation(split="test_task"))
    project = hidden.run.dataset.project
    study = factories.make_study(project, [hidden.run])
    queue = queue_of(study)
    reviewer = client_of(factories.make_user(Role.REVIEWER, project))
    for name in ("review-queue", "review-queue-next"):
        assert reviewer.get(reverse(name, args=[queue.pk])).status_code == 403
    admin = client_of(factories.make_user(Role.ADMIN, project))
    assert admin.get(reverse("review-queue", args=[queue.pk])).status_code == 200
    stranger = client_of(factories.make_user(Role.ADMIN, factories.make_project()))
    assert stranger.get(reverse("review-queue", args=[queue.pk])).status_code == 404
    asked = {"study": study.pk, "choice": "random", "size": "2", "overlap": "1"}
    assert stranger.post(reverse("review-queues"), asked).status_code == 404
    assert reviewer.post(reverse("review-queues"), asked).status_code == 404, "asking is for admins"
    reader = client_of(factories.make_user(Role.READER, project, sees_test_gold=True))
    assert reader.get(reverse("review-queue-next", args=[queue.pk])).status_code == 403


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_by_key_alone_from_one_asked_step_to_the_next(app_server, page, sign_in, study, project) -> None:
    sign_in(factories.make_user(Role.REVIEWER, project))
    queue = queue_of(study, size=2)
    page.goto(app_server.url(reverse("review-queue-next", args=[queue.pk])))
    for place in range(2):
        page.get_by_role("button", name="Agent wrong").wait_for()
        before = page.url
        page.keyboard.press("a")
        page.keyboard.press("q")
        page.wait_for_url(lambda url, before=before: url != before)
        assert Review.objects.count() == place + 1
    assert page.url == app_server.url(reverse("review-queue", args=[queue.pk]))

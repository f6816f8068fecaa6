"""Queues of review of what is nearest to a failure that somebody has seen: in a replay, among reviews, in a cluster."""

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import Run, TrajectoryStep
from annotations.models import Role
from evaluation.metrics.judged import wilson
from evaluation.models import Review, ReviewQueue, ReviewReason, ScannerAnswer, Study
from evaluation.reviews.choosing import QueueDemand, make_queue
from evaluation.reviews.estimating import estimate, run_rates
from evaluation.reviews.validating import validate
from evaluation.scores.scanning import RunScan
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """Two runs over two turns of TYPE, SELECT, CLICK, in which the agent clicks one button, which is right at the third
    alone. What is typed stands nowhere, and at the second it does again what it did before."""
    return study_of("train")


def study_of(split: str) -> Study:
    conversation = factories.make_conversation(turns=2, steps=3, split=split)
    runs = [factories.make_run(conversation.dataset, split=split, step_count=6, state="done") for _ in range(2)]
    for run in runs:
        factories.make_trajectory(run, conversation)
        RunScan(run).store()
    return factories.make_study(conversation.dataset.project, runs)


def step_of(study: Study, seq: int, run: int = 0) -> TrajectoryStep:
    return runs_of(study)[run].steps.get(seq=seq)


def runs_of(study: Study) -> list[Run]:
    return list(study.runs.order_by("pk"))


def queue_of(study: Study, failure: TrajectoryStep | int | None, size: int = 50, **more) -> ReviewQueue:
    key = failure.pk if isinstance(failure, TrajectoryStep) else failure
    return make_queue(None, study, QueueDemand("nearest", size, **({"overlap": 1, "failure": key} | more)))


def asked(queue: ReviewQueue) -> list[tuple[int, int]]:
    """(run of the study, place) of the steps that it asks of, in order."""
    runs = [run.pk for run in runs_of(queue.study)]
    return [(runs.index(task.step.run_id), task.step.seq) for task in queue.tasks.select_related("step")]


def client(study: Study, role: str = Role.ADMIN, **more) -> Client:
    return client_of(factories.make_user(role, study.project, **more))


def test_the_failure_comes_first_then_what_fails_likewise_in_every_run(study) -> None:
    queue = queue_of(study, step_of(study, 0))
    assert asked(queue)[0] == (0, 0)
    assert set(asked(queue)[1:4]) == {(0, 3), (1, 0), (1, 3)}, "what it should type stands on no page, as there"
    assert set(asked(queue)[4:]) == {(run, seq) for run in (0, 1) for seq in (1, 4)}, "these share a sibling alone"
    assert queue.failure == step_of(study, 0)
    assert asked(queue_of(study, step_of(study, 0), 3)) == asked(queue)[:3], "the same draws the same"


def test_what_fails_otherwise_or_is_right_is_not_chosen(study) -> None:
    unlike = step_of(study, 4)
    TrajectoryStep.objects.filter(pk=unlike.pk).update(operation="", node_id="", trace={"plan": {"reply": "Hm."}})
    RunScan(unlike.run).store()
    chosen = asked(queue_of(study, step_of(study, 0)))
    assert (0, 4) not in chosen, "its reply cannot be read, which is another failure"
    assert (1, 4) in chosen
    assert not {seq for _, seq in chosen} & {2, 5}, "these are right"
    with pytest.raises(ValueError, match="No other failed step of this study fails as this one does"):
        queue_of(study, unlike)


def test_without_scans_the_same_must_have_been_done_in_place_of_the_same(study) -> None:
    for run in runs_of(study):
        run.scanned.delete()
    assert set(asked(queue_of(study, step_of(study, 1)))) == {(run, seq) for run in (0, 1) for seq in (1, 4)}


def test_the_reason_that_a_language_model_gave_counts_as_what_a_scanner_found(study) -> None:
    for run in runs_of(study):
        run.scanned.delete()
    for seq in (0, 4):
        said = {"scanner": "reason", "model": "m", "pack": "p", "pack_sha256": "0", "reason": "stale memory"}
        ScannerAnswer.objects.create(step=step_of(study, seq), **said)
    ScannerAnswer.objects.create(step=step_of(study, 3), scanner="reason", reason="wrong value", error="cut off")
    assert asked(queue_of(study, step_of(study, 0))) == [(0, 0), (0, 4)]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"failure": None}, "A failed step is named where nearest is chosen"),
        ({"failure": 10**15}, "none has this number"),
        ({"size": 1}, "2 steps or more"),
    ],
)
def test_a_queue_without_a_failure_or_for_one_alone_is_refused(study, more, words) -> None:
    with pytest.raises(ValueError, match=words):
        queue_of(study, more.get("failure", step_of(study, 0)), more.get("size", 50))
    with pytest.raises(ValueError, match="and only there"):
        make_queue(None, study, QueueDemand("random", 5, 1, failure=step_of(study, 0).pk))
    assert not ReviewQueue.objects.exists()


def test_right_steps_and_those_of_other_studies_are_no_failures_of_this_one(study) -> None:
    for other in (step_of(study, 2), step_of(study_of("train"), 0)):
        with pytest.raises(ValueError, match="Of the study's failed steps, none has this number"):
            queue_of(study, other)


def test_it_is_no_random_queue_and_tells_no_true_score(study) -> None:
    queue = queue_of(study, step_of(study, 0))
    for task in queue.tasks.select_related("step__trajectory"):
        Review.objects.give(task.step.trajectory, task.step, factories.make_user(), "both_acceptable")
    found = estimate(queue)
    assert (queue.probability, found.true_rate, found.wanted) == (None, None, None)
    assert run_rates(found.calibration, queue) == []
    page = client(study).get(reverse("review-queue", args=[queue.pk])).content.decode()
    assert "The true score" not in page
    random = make_queue(None, study, QueueDemand("random", 100, 1))
    assert "The true score" in client(study).get(reverse("review-queue", args=[random.pk])).content.decode()


def test_what_is_judged_for_being_alike_says_nothing_of_what_scanners_miss(study) -> None:
    """It is chosen by what they found, so what they did not find is not in it."""
    queue = queue_of(study, step_of(study, 1))
    reason = ReviewReason.objects.ensured_for(study.project).get(text="step repeated")
    for task in queue.tasks.select_related("step__trajectory"):
        Review.objects.give(task.step.trajectory, task.step, factories.make_user(), "agent_wrong", reason)
    user, size = factories.make_user(Role.ADMIN, study.project), queue.tasks.count()
    known = validate(user, study.project)["loop"]
    assert (known.precision, known.recall) == (wilson(4, 4), None)
    make_queue(None, study, QueueDemand("failures", 100, 1))
    assert validate(user, study.project)["loop"].recall == wilson(4, size), "now they were chosen for failing, too"


def test_it_is_given_to_several_people_with_progress_like_other_queues(study) -> None:
    queue = queue_of(study, step_of(study, 0), 3, overlap=2)
    people = [factories.make_user(Role.REVIEWER, study.project) for _ in range(2)]
    for person in people:
        (first, *_) = queue.tasks.left_for(person)
        assert (first.step, queue.tasks.left_for(person).count()) == (queue.failure, 3)
    for person in people:
        assert queue.tasks.done().count() == 0
        Review.objects.give(queue.failure.trajectory, queue.failure, person, "agent_wrong")
    assert queue.tasks.done().count() == 1
    assert [queue.tasks.left_for(person).count() for person in people] == [2, 2]


def test_an_admin_asks_from_a_failure_that_the_replay_or_a_review_shows(study) -> None:
    failure, admin = step_of(study, 0), client(study)
    address = f"{reverse('review-queues')}?failure={failure.pk}"
    told = admin.get(reverse("trajectory-reviews", args=[failure.trajectory_id])).json()
    assert f"{told['alike']}{told['failed']['0']}" == address
    assert set(told["failed"]) == {"0", "1", "3", "4"}, "nothing is like what is right"
    others = client(study, Role.REVIEWER).get(reverse("trajectory-reviews", args=[failure.trajectory_id])).json()
    assert others["failed"] == {}, "asking is for admins"
    for seq in (0, 2):
        done = step_of(study, seq)
        Review.objects.give(done.trajectory, done, factories.make_user(), "agent_wrong")
    listed = admin.get(reverse("reviews")).content.decode()
    assert listed.count(f'href="{reverse("review-queues")}?failure=') == 1
    assert f'href="{address}"' in listed
    page = admin.get(address)
    form = page.context["form"]
    values = {name: form[name].value() for name in ("study", "choice", "failure", "size", "overlap")}
    assert values == {"study": study.pk, "choice": "nearest", "failure": failure.pk, "size": 50, "overlap": 1}
    assert reverse("trajectory-step", args=[failure.trajectory_id, 0]) in page.content.decode()
    made = admin.post(reverse("review-queues"), values)
    queue = ReviewQueue.objects.get()
    assert made["Location"] == reverse("review-queue", args=[queue.pk])
    assert asked(queue) == asked(queue_of(study, failure))
    shown = " ".join(admin.get(made["Location"]).content.decode().split())
    assert "They fail as" in shown
    assert "nearest to a failure that was seen" in shown


def test_the_form_can_choose_otherwise_and_keeps_the_failure_when_it_refuses(study) -> None:
    failure, admin = step_of(study, 0), client(study)
    typed = {"study": study.pk, "choice": "nearest", "failure": failure.pk, "size": "1", "overlap": "1"}
    page = admin.post(reverse("review-queues"), typed)
    assert "2 steps or more" in page.content.decode()
    assert f'name="failure" value="{failure.pk}"' in page.content.decode()
    assert '<option value="nearest" selected>' in page.content.decode()
    admin.post(reverse("review-queues"), typed | {"choice": "failures"})
    assert ReviewQueue.objects.get().failure is None
    assert 'value="nearest"' not in admin.get(reverse("review-queues")).content.decode(), "of which failure?"


@pytest.mark.parametrize("failure", ["0", "99999999999", "1" * 30, "x"])
def test_an_address_that_names_no_failure_leads_nowhere(study, failure) -> None:
    answer = client(study).get(f"{reverse('review-queues')}?failure={failure}")
    named = failure.isdecimal() and len(failure) < 19
    assert answer.status_code == (404 if named else 200)
    assert 'value="nearest"' not in answer.content.decode()


def test_a_cluster_of_failures_is_asked_for_in_all_runs_of_the_study(study) -> None:
    run = runs_of(study)[0]
    page = client(study).get(f"{reverse('study-failures', args=[study.pk])}?run={run.pk}")
    cluster = next(one for one in page.context["clusters"] if one.name.startswith("loop"))
    assert f'name="failure" value="{cluster.steps[0]}"' in page.content.decode()
    client(study).post(
        reverse("review-queues"),
        {"study": study.pk, "choice": "nearest", "failure": cluster.steps[0], "size": "4", "overlap": "1"},
    )
    assert set(asked(ReviewQueue.objects.get())) == {(number, seq) for number in (0, 1) for seq in (1, 4)}
    reviewer = client(study, Role.REVIEWER).get(f"{reverse('study-failures', args=[study.pk])}?run={run.pk}")
    assert reviewer.context["clusters"]
    assert 'name="failure"' not in reviewer.content.decode(), "asking is for admins"


def test_a_program_asks_for_it(study) -> None:
    failure, admin = step_of(study, 0), client(study)

    def post(who: Client, **told):
        told = {"study": study.pk, "choice": "nearest", "size": 3} | told
        return who.post("/api/review-queues/", told, content_type="application/json")

    made = post(admin, failure=failure.pk)
    assert (made.status_code, made.json()["failure"], made.json()["size"]) == (201, failure.pk, 3), made.content
    following = client(study, Role.REVIEWER).get(f"/api/review-queues/{made.json()['id']}/next/").json()["next"]
    assert (following["trajectory"], following["seq"]) == (failure.trajectory_id, 0)
    for told, words in (
        ({}, "A failed step is named"),
        ({"failure": 10**12}, "none has this number"),
        ({"failure": "x"}, "A valid integer is required"),
        ({"failure": 0}, "greater than or equal to 1"),
        ({"failure": failure.pk, "choice": "failures"}, "and only there"),
        ({"failure": failure.pk, "size": 1}, "2 steps or more"),
    ):
        refused = post(admin, **told)
        assert (refused.status_code, words in refused.content.decode()) == (400, True), refused.content
    assert post(client(study, Role.REVIEWER), failure=failure.pk).status_code == 403
    assert ReviewQueue.objects.count() == 1


def test_failures_of_hidden_gold_are_shown_and_asked_to_those_alone_who_see_it() -> None:
    hidden = study_of("test_task")
    failure = step_of(hidden, 0)
    queue = queue_of(hidden, failure)
    reviewer, stranger = client(hidden, Role.REVIEWER), client_of(factories.make_user(Role.ADMIN))
    assert reviewer.get(reverse("review-queue", args=[queue.pk])).status_code == 403
    assert reviewer.get(reverse("trajectory-reviews", args=[failure.trajectory_id])).status_code == 403
    assert reviewer.get(f"/api/review-queues/{queue.pk}/").status_code == 404
    address = f"{reverse('review-queues')}?failure={failure.pk}"
    assert [who.get(address).status_code for who in (reviewer, stranger)] == [404, 404]
    told = {"study": hidden.pk, "choice": "nearest", "failure": failure.pk, "size": "4", "overlap": "1"}
    assert [who.post(reverse("review-queues"), told).status_code for who in (reviewer, stranger)] == [404, 404]
    assert client(hidden).get(reverse("review-queue", args=[queue.pk])).status_code == 200


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_by_key_from_a_failure_in_its_replay_to_a_queue(app_server, page, sign_in, study) -> None:
    sign_in(factories.make_user(Role.ADMIN, study.project))
    failure = step_of(study, 0)
    page.goto(app_server.url(reverse("trajectory-step", args=[failure.trajectory_id, 2])))
    page.get_by_role("button", name="Agent wrong").wait_for()
    page.keyboard.press("l")
    page.get_by_text("Only a failed step has failures like it").wait_for()
    page.keyboard.press("p")
    page.get_by_role("link", name="Alike").wait_for()
    page.keyboard.press("l")
    page.get_by_text("are the failed steps of the study").wait_for()
    page.get_by_role("button", name="Ask for reviews").click()
    page.get_by_text("They fail as").wait_for()
    assert asked(ReviewQueue.objects.get())[0] == (0, 1)

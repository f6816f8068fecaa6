"""A question about a step of a replay, which comes to the reviewers of the project."""

import pytest
from django.test import Client
from playwright.sync_api import expect

from annotations.models import Role
from evaluation.models import Review, ReviewQueue, ReviewTask
from tests import factories
from tests.signed_in import client_of
from tests.template_database import migrate_back_and_forth
from tests.web.replay_world import ReplayWorld, make_replay

pytestmark = pytest.mark.django_db


def studied(**more) -> ReplayWorld:
    world = make_replay(**more)
    factories.make_study(world.trajectory.run.dataset.project, [world.trajectory.run])
    return world


def person(world: ReplayWorld, role: str = Role.REVIEWER) -> Client:
    user = factories.make_user(role, world.trajectory.run.dataset.project)
    client = client_of(user)
    client.user = user
    return client


def ask(client: Client, world: ReplayWorld, seq: object = 4, question: object = "Is this one right, too?"):
    sent = {"seq": seq, "question": question}
    return client.post(f"/trajectories/{world.trajectory.pk}/ask/", sent, content_type="application/json")


def test_a_question_brings_the_step_to_the_other_reviewers_and_is_read_beside_it() -> None:
    world = studied()
    asking, other, third = (person(world) for _ in range(3))
    queue = ask(asking, world).json()["queue"]
    assert ask(asking, world, 5, "And this?").json()["queue"] == queue  # one for all questions of a study
    number = queue.split("/")[-2]
    assert other.get(f"{queue}next/").url == f"/trajectories/{world.trajectory.pk}/steps/4/?queue={number}"
    assert asking.get(f"{queue}next/").url == queue  # nobody answers themselves
    told = other.get(f"/trajectories/{world.trajectory.pk}/reviews/").json()["questions"]
    name = asking.user.get_username()
    assert told == [
        {"seq": 4, "by": name, "question": "Is this one right, too?"},
        {"seq": 5, "by": name, "question": "And this?"},
    ]
    step = world.trajectory.steps.get(seq=4)
    for place, client in enumerate((other, third), 1):
        assert ReviewTask.objects.done().count() == 0
        Review.objects.give(world.trajectory, step, client.user, "both_acceptable")
        assert ReviewTask.objects.done().count() == place - 1
    assert third.get(f"{queue}next/").url.startswith(f"/trajectories/{world.trajectory.pk}/steps/5/")
    for page in (queue, "/reviews/queues/"):
        assert "people asked the team about" in other.get(page).content.decode()


def test_asked_again_the_words_are_others_and_the_step_is_asked_about_once() -> None:
    world = studied()
    asking, other = person(world), person(world)
    ask(asking, world)
    ask(other, world, question="Nobody says “4K” here. Or do they?")
    task = ReviewTask.objects.get()
    assert (task.question, task.asked_by) == ("Nobody says “4K” here. Or do they?", other.user)
    queue = ReviewQueue.objects.get()
    assert (queue.population, queue.said_right, queue.overlap) == (1, 0, 2)


def test_who_may_not_review_asks_nobody_and_nonsense_is_refused_in_words() -> None:
    world = studied()
    assert ask(person(world, Role.READER), world).status_code == 403
    assert ask(client_of(factories.make_user(Role.REVIEWER, factories.make_project())), world).status_code == 404
    asking = person(world)
    for seq, question, said in (
        (4, "  ", "A question has 1 to"),
        (4, "x" * 10_001, "A question has 1 to"),
        (99, "Why?", "not decided yet"),
        (-1, "Why?", "not decided yet"),
        ("4", "Why?", "Send the number"),
        (4, None, "Send the number"),
    ):
        answer = ask(asking, world, seq, question)
        assert answer.status_code == 400
        assert said in answer.json()["error"]
    assert ReviewQueue.objects.count() == 0
    alone = make_replay()
    answer = ask(person(alone), alone)
    assert (answer.status_code, "of no study" in answer.json()["error"]) == (400, True)
    assert person(alone).get(f"/trajectories/{alone.trajectory.pk}/steps/0/").context["asks"] is False


def test_of_a_hidden_split_nobody_asks_or_reads_questions_who_may_not_see_its_gold() -> None:
    world = studied(split="test_task")
    assert ask(person(world), world).status_code == 403
    queue = ask(person(world, Role.ADMIN), world).json()["queue"]
    hidden = person(world)
    assert hidden.get(queue).status_code == 403
    assert hidden.get(f"/trajectories/{world.trajectory.pk}/reviews/").status_code == 403
    assert "people asked the team about" not in hidden.get("/reviews/queues/").content.decode()


def test_a_queue_of_questions_is_made_by_questions_alone() -> None:
    world = studied()
    admin = person(world, Role.ADMIN)
    study = world.trajectory.run.newest_study().pk
    answer = admin.post("/reviews/queues/", {"study": study, "choice": "asked", "size": 3, "overlap": 1})
    assert answer.status_code == 200  # the form again
    assert "asked" not in dict(answer.context["form"].fields["choice"].widget.choices[0][1])
    sent = {"study": study, "choice": "asked"}
    assert admin.post("/api/review-queues/", sent, content_type="application/json").status_code == 400
    assert ReviewQueue.objects.count() == 0


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_reviewer_asks_by_key_and_another_one_reads_it(app_server, page, sign_in) -> None:
    world = studied()
    project = world.trajectory.run.dataset.project
    sign_in(factories.make_user(Role.REVIEWER, project, username="anna"))
    page.goto(app_server.url(f"/trajectories/{world.trajectory.pk}/steps/4/"))
    expect(page.locator("#review")).to_contain_text("Agent wrong")
    page.keyboard.press("e")
    dialog = page.get_by_role("dialog", name="Ask the team about step 5")
    dialog.get_by_role("textbox").fill("Is this one right, too? n")
    page.route("**/ask/", lambda route: route.abort())
    page.keyboard.press("Control+Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("Not asked:")
    page.unroute("**/ask/")
    dialog.get_by_role("button", name="Ask").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#said")).to_have_text("The team is asked about step 5")
    expect(page.locator("#place")).to_have_text("step 5 of 8")
    sign_in(factories.make_user(Role.REVIEWER, project))
    page.goto(app_server.url(f"/reviews/queues/{ReviewQueue.objects.get().pk}/"))
    page.get_by_role("link", name="Judge the next step").click()
    expect(page.locator("#review .others")).to_have_text("anna asks: “Is this one right, too? n”")


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_questions_go_with_their_queue_on_the_way_back() -> None:
    world = studied()
    ask(person(world), world)
    migrate_back_and_forth("evaluation", "0026")
    assert ReviewQueue.objects.count() == 0
    ask(person(world), world)
    assert ReviewTask.objects.get().question

"""A question about a step of a replay, which comes to the reviewers of the project."""

import pytest
from django.contrib.auth.models import User
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
    nobodys = {"by": asking.user.get_username(), "own": False, "answers": 0, "may_withdraw": False, "unread": False}
    assert [{key: one[key] for key in (*nobodys, "seq", "question")} for one in told] == [
        nobodys | {"seq": 4, "question": "Is this one right, too?"},
        nobodys | {"seq": 5, "question": "And this?"},
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


def questions_of(client: Client, world: ReplayWorld) -> list[dict]:
    return client.get(f"/trajectories/{world.trajectory.pk}/reviews/").json()["questions"]


def test_who_asked_is_told_of_an_answer_until_they_have_read_it() -> None:
    world = studied()
    asking, other = person(world), person(world)
    step = world.trajectory.steps.get(seq=4)
    Review.objects.give(world.trajectory, step, other.user, "agent_wrong")  # said before, so that it answers nothing
    ask(asking, world)
    Review.objects.give(world.trajectory, step, asking.user, "agent_wrong")  # their own word is no answer
    for client in (asking, other):
        assert "Answers to your questions" not in client.get("/").content.decode()
    Review.objects.give(world.trajectory, step, other.user, "both_acceptable", comment="Both lead there.")
    page = asking.get("/").content.decode()
    assert "Answers to your questions" in page
    assert "1 item waits for you" in page
    assert f"/trajectories/{world.trajectory.pk}/steps/4/" in page
    assert "Is this one right, too?" in page
    assert "Answers to your questions" not in other.get("/").content.decode()
    (home,) = asking.get("/api/home/").json()["answered"]
    assert (home["trajectory"], home["seq"]) == (world.trajectory.pk, 4)
    (told,) = questions_of(asking, world)
    assert (told["answers"], told["may_withdraw"], told["unread"]) == (1, False, True)
    assert other.post(told["seen"]).status_code == 403
    assert asking.post(told["seen"]).status_code == 200
    assert "Answers to your questions" not in asking.get("/").content.decode()
    assert not questions_of(asking, world)[0]["unread"]
    Review.objects.give(world.trajectory, step, other.user, "agent_wrong", comment="Now I see it.")
    assert "Answers to your questions" in asking.get("/").content.decode(), "another answer is told, too"


def test_a_question_is_withdrawn_by_who_asked_until_somebody_has_answered() -> None:
    world = studied()
    asking, other = person(world), person(world)
    ask(asking, world)
    ask(asking, world, 5, "And this?")
    first, second = questions_of(asking, world)
    assert other.post(first["withdraw"]).status_code == 403
    assert asking.post(first["withdraw"]).status_code == 200
    assert asking.post(first["withdraw"]).status_code == 404
    assert [one["question"] for one in questions_of(other, world)] == ["And this?"]
    queue = ReviewQueue.objects.get()
    assert (queue.population, queue.tasks.count()) == (1, 1)
    Review.objects.give(world.trajectory, world.trajectory.steps.get(seq=5), other.user, "agent_wrong")
    answer = asking.post(second["withdraw"])
    assert (answer.status_code, "has answered" in answer.json()["error"]) == (400, True)
    ask(other, world, 6, "This?")
    assert other.post(questions_of(other, world)[1]["withdraw"]).status_code == 200
    assert ReviewTask.objects.count() == 1


def test_a_queue_whose_last_question_is_withdrawn_goes() -> None:
    world = studied()
    asking = person(world)
    ask(asking, world)
    asking.post(questions_of(asking, world)[0]["withdraw"])
    assert ReviewQueue.objects.count() == 0


def test_the_queue_shows_each_question_whole() -> None:
    world = studied()
    long = "Is this one right, too? " * 40
    queue = ask(person(world), world, question=long).json()["queue"]
    assert long.strip() in person(world).get(queue).content.decode()


def test_programs_ask_list_and_withdraw_by_the_rules_of_the_page() -> None:
    world = studied()
    asking, other, reader = person(world), person(world), person(world, Role.READER)
    stranger = client_of(factories.make_user(Role.REVIEWER, factories.make_project()))
    sent = {"trajectory": world.trajectory.pk, "seq": 4, "question": "Is this one right, too?"}

    def post(client: Client, route: str = "", body: dict | None = None, key: str = ""):
        headers = {"Idempotency-Key": key} if key else {}
        address = f"/api/questions/{route}"
        return client.post(address, body or {}, content_type="application/json", headers=headers)

    assert post(reader, body=sent).status_code == 403
    assert post(stranger, body=sent).status_code == 400  # of a trajectory elsewhere nothing is told
    for wrong in ({"seq": 99}, {"question": " "}, {"seq": "x"}, {"more": 1}):
        assert post(asking, body=sent | wrong).status_code == 400, wrong
    assert ReviewTask.objects.count() == 0
    made = post(asking, body=sent, key="k")
    assert (made.status_code, made.json()["asked_by"]) == (201, asking.user.get_username())
    assert post(asking, body=sent, key="k").json() == made.json()
    assert (made.json()["answers"], made.json()["seq"]) == (0, 4)
    key = made.json()["id"]
    for client, count in ((asking, 1), (reader, 1), (stranger, 0)):
        assert client.get("/api/questions/").json()["results"] == [made.json()] * count
    name = asking.user.get_username()
    for query, count in ((f"asked_by={name}", 1), ("asked_by=nobody", 0), ("answered=true", 0), ("answered=false", 1)):
        assert len(asking.get(f"/api/questions/?{query}").json()["results"]) == count, query
    assert post(other, f"{key}/withdraw/").status_code == 403
    assert post(stranger, f"{key}/withdraw/").status_code == 404
    Review.objects.give(world.trajectory, world.trajectory.steps.get(seq=4), other.user, "agent_wrong")
    assert post(asking, f"{key}/withdraw/").status_code == 400
    assert post(asking, f"{key}/seen/").status_code == 200
    assert asking.get("/api/home/").json()["answered"] == []
    second = post(asking, body=sent | {"seq": 5}).json()["id"]
    for _ in range(2):
        assert post(asking, f"{second}/withdraw/", key="w").status_code == 200
    assert post(asking, f"{second}/withdraw/").status_code == 404
    assert ReviewTask.objects.get().pk == key


def test_questions_over_hidden_gold_are_told_to_no_program_that_may_not_see_it() -> None:
    world = studied(split="test_task")
    admin = person(world, Role.ADMIN)
    ask(admin, world)
    assert len(admin.get("/api/questions/").json()["results"]) == 1
    assert person(world).get("/api/questions/").json()["results"] == []


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
    expect(page.locator("#questions")).to_have_text("anna asks: “Is this one right, too? n” ")
    page.keyboard.press("b")
    expect(page.locator("#said")).to_contain_text("Step 5")
    sign_in(User.objects.get(username="anna"))
    page.goto(app_server.url("/"))
    page.locator("#answered").get_by_role("link", name="Step 5").click()
    expect(page.locator("#questions")).to_contain_text("1 person has answered")
    expect(page.locator("#questions").get_by_role("button", name="Withdraw")).to_have_count(0)
    expect(page.locator("#review .others")).to_contain_text("both acceptable")
    page.goto(app_server.url("/"))
    expect(page.locator("#answered")).to_have_count(0)
    page.goto(app_server.url(f"/trajectories/{world.trajectory.pk}/steps/5/"))
    page.keyboard.press("e")
    words = "A long question that nobody reads where it is cut. " * 12
    page.get_by_role("dialog").get_by_role("textbox").fill(words)
    page.keyboard.press("Control+Enter")
    shown = page.locator("#questions p")
    expect(shown).to_contain_text(words.strip())
    assert shown.evaluate("p => p.scrollWidth <= p.clientWidth && p.clientHeight > 40"), "whole, on several lines"
    shown.get_by_role("button", name="Withdraw").click()
    expect(page.locator("#questions")).to_be_hidden()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_questions_go_with_their_queue_on_the_way_back() -> None:
    world = studied()
    ask(person(world), world)
    migrate_back_and_forth("evaluation", "0026")
    assert ReviewQueue.objects.count() == 0
    ask(person(world), world)
    assert ReviewTask.objects.get().question


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_earlier_questions_were_asked_when_their_queue_was_made() -> None:
    world = studied()
    ask(person(world), world)
    migrate_back_and_forth("evaluation", "0028")
    task = ReviewTask.objects.get()
    assert (task.asked_at, task.seen_at) == (task.queue.created_at, None)

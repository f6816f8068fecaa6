"""Who may begin to show something, what they may name, and what is made of it."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError

import pytest
from django.db import connection
from django.test import Client

from agents.live.goals import new_goals
from agents.live.showing import MOST_SHOWN
from agents.models import Drive, Run, Trajectory
from annotations.corpus.store import ConversationStore
from annotations.models import Conversation, Membership, Project, Role
from annotations.sample.goals import conversations
from evaluation.models import Shard, Study
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db
WANTED = {"environment": "miniwob", "task": "click-test", "seed": 3}


@pytest.fixture
def project() -> Project:
    return factories.make_project(slug="shown")


def ask(project: Project, user, **changed):
    return client_of(user).post(
        "/api/demonstrations/", WANTED | {"project": project.slug} | changed, content_type="application/json"
    )


def end_all() -> None:
    Drive.objects.update(state=Drive.State.OVER)
    Trajectory.objects.update(state=Trajectory.State.DONE)
    Run.objects.update(state=Run.State.DONE)


@pytest.mark.slow
def test_who_shows_something_already_is_led_back_to_it_and_starts_nothing(project: Project) -> None:
    ada, bo = (factories.make_user(Role.REVIEWER, project) for _ in range(2))
    first = ask(project, ada)
    again = ask(project, ada, task="click-button", seed=None)
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
    form = {"project": project.pk, "environment": "miniwob", "task": "click-button"}
    page = client_of(ada).post("/demonstrate/", form, follow=True)
    assert page.redirect_chain[0] == (f"/trajectories/{first.json()['id']}/", 302)
    assert "You are still showing this" in page.content.decode()
    assert [row.objects.count() for row in (Trajectory, Conversation, Study, Shard)] == [1, 1, 1, 1]
    assert ask(project, bo).status_code == 201, "of others it says nothing"
    elsewhere = factories.make_project(slug="elsewhere")
    Membership.objects.create(project=elsewhere, user=ada, role=Role.REVIEWER)
    assert ask(elsewhere, ada).status_code == 201
    end_all()
    assert ask(project, ada).status_code == 201


def test_what_is_being_cancelled_keeps_nobody_from_beginning_anew(project: Project) -> None:
    ada = factories.make_user(Role.REVIEWER, project)
    assert ask(project, ada).status_code == 201
    Study.objects.get().ask_to_cancel()
    assert ask(project, ada).status_code == 201


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_who_asks_twice_at_once_begins_one() -> None:
    project = factories.make_project(slug="shown")
    ada = factories.make_user(Role.REVIEWER, project)
    clients = [client_of(ada) for _ in range(4)]
    form = {"project": project.pk, "environment": "miniwob", "task": "click-test"}

    def begin(client: Client) -> str:
        try:
            return client.post("/demonstrate/", form)["Location"]
        finally:
            connection.close()

    with ThreadPoolExecutor(len(clients)) as pool:
        found = set(pool.map(begin, clients))
    assert len(found) == 1
    assert Trajectory.objects.count() == 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_people_who_first_show_the_same_goal_at_once_share_it(project: Project, monkeypatch) -> None:
    store, both = ConversationStore.store, Barrier(2)

    def slowly(self: ConversationStore, records: list) -> object:
        with suppress(BrokenBarrierError):  # nobody else comes as far meanwhile
            both.wait(1)
        return store(self, records)

    monkeypatch.setattr(ConversationStore, "store", slowly)
    people = [factories.make_user(Role.REVIEWER, project) for _ in range(2)]
    new_goals(project, "shown-miniwob", "miniwob", MOST_SHOWN)

    def begin(user) -> int:
        try:
            return ask(project, user).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        assert [*pool.map(begin, people)] == [201, 201]
    assert (Conversation.objects.count(), Trajectory.objects.count()) == (1, 2)


@pytest.mark.slow
def test_what_is_begun_is_an_episode_that_its_maker_drives(project: Project) -> None:
    ada = factories.make_user(Role.REVIEWER, project, username="ada")
    answer = ask(project, ada)
    assert answer.status_code == 201, answer.content
    found = Trajectory.objects.get(pk=answer.json()["id"])
    drive = Drive.objects.get(trajectory=found)
    assert (drive.person, drive.state, drive.shows, drive.words) == (ada, "driven", True, "ada shows it")
    assert (found.run.recipe_name, found.conversation.extra) == ("person", {"task": "click-test", "seed": 3})
    assert found.conversation.split == "train", "it is shown to teach"
    assert Shard.objects.get(run=found.run).is_watched, "it goes before studies that wait"
    assert Study.objects.get().name == "Shown by ada: click-test-3"
    end_all()
    again = ask(project, ada)
    assert Conversation.objects.count() == 1, "the same task and seed are the same goal"
    assert again.json()["id"] != found.pk
    pages = (f"trajectories/{found.pk}/steps/0", f"runs/{found.run_id}", f"studies/{found.run.studies.get().pk}")
    assert [client_of(ada).get(f"/{page}/").status_code for page in pages] == [200, 200, 200]


@pytest.mark.slow
def test_a_seed_that_nobody_names_is_another_each_time(project: Project) -> None:
    ada = factories.make_user(Role.REVIEWER, project)
    for _ in range(2):
        assert ask(project, ada, seed=None).status_code == 201
        end_all()
    assert Conversation.objects.count() == 2


def test_a_conversation_keeps_its_instructions_and_its_split(project: Project) -> None:
    name, goals = next((name, goals) for name, goals in conversations().items() if goals.split.startswith("test"))
    ada = factories.make_user(Role.REVIEWER, project, username="ada")
    wanted = {"environment": "sample-sites", "task": name, "seed": None}
    refused = ask(project, ada, **wanted)
    assert (refused.status_code, Conversation.objects.count()) == (403, 0), "she may not see the gold of test splits"
    bo = factories.make_user(Role.REVIEWER, project, username="bo", sees_test_gold=True)
    assert ask(project, bo, **wanted).status_code == 201
    found = Conversation.objects.get()
    assert (found.split, found.extra["seed"]) == (goals.split, 0)
    assert [turn.instruction for turn in found.turns.order_by("index")] == [turn.instruction for turn in goals.turns]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"task": "no-such-task"}, "There is no task 'no-such-task' in miniwob."),
        ({"words": "Do it."}, "The goals of miniwob have their words"),
        ({"environment": "sample-sites-asking"}, "is not a valid choice"),
        ({"environment": "sample-sites-free", "task": "click-test"}, "There is no task 'click-test'"),
        ({"seed": -1}, "greater than or equal to 0"),
        ({"environment": "open-web", "task": "http://example.org/"}, "the open web is off"),
    ],
)
def test_what_there_is_not_is_said_and_makes_nothing(project: Project, changed: dict, said: str) -> None:
    answer = ask(project, factories.make_user(Role.REVIEWER, project), **changed)
    assert answer.status_code == 400
    assert said in answer.content.decode().replace("&#x27;", "'")
    assert not Trajectory.objects.exists()
    assert not Conversation.objects.exists()


def test_on_the_open_web_an_address_is_shown_that_the_list_names(project: Project, monkeypatch) -> None:
    monkeypatch.setenv("OPEN_WEB_HOSTS", "example.org localhost:81")
    ada = client_of(factories.make_user(Role.REVIEWER, project))
    page = ada.get("/demonstrate/?environment=open-web").content.decode()
    assert "Any address on these hosts: http://example.org/, http://localhost:81/" in page
    asked = {"project": project.pk, "environment": "open-web", "task": "http://elsewhere.org/", "words": "Look."}
    assert "elsewhere.org:80 is not among the hosts" in ada.post("/demonstrate/", asked).content.decode()
    assert (
        "An address has no spaces."
        in ada.post("/demonstrate/", asked | {"task": "http://example.org/ x"}).content.decode()
    )
    assert not Conversation.objects.exists()
    ada.post("/demonstrate/", asked | {"task": "https://example.org/a?b=c"})
    goal = Conversation.objects.select_related("website").get()
    assert (goal.website.name, goal.extra["task"], goal.split) == ("example.org", "https://example.org/a?b=c", "train")
    assert goal.dataset.live["environment"] == "open-web"


def test_the_page_is_for_those_who_may_review_and_keeps_what_was_chosen(project: Project) -> None:
    assert client_of(factories.make_user(Role.READER, project)).get("/demonstrate/").status_code == 403
    ada = client_of(factories.make_user(Role.REVIEWER, project))
    assert "click-test" in ada.get("/demonstrate/").content.decode()
    page = ada.get("/demonstrate/?environment=sample-sites-free").content.decode()
    assert "What is to be done" in page
    assert "It is kept in the train split" in page
    page = ada.get("/demonstrate/?environment=sample-sites").content.decode()
    hidden = next(name for name, goals in conversations().items() if goals.split == "test_task")
    assert f"{hidden} (test_task)</option>" in page
    assert "It is kept in the split of the recorded conversation" in page
    wrong = {"project": project.pk, "environment": "sample-sites-free", "task": "nordline", "seed": "x", "words": "Go."}
    answer = ada.post("/demonstrate/", wrong).content.decode()
    assert 'value="Go."' in answer
    assert "Enter a whole number." in answer
    made = ada.post("/demonstrate/", wrong | {"seed": ""})
    assert made["Location"] == f"/trajectories/{Trajectory.objects.get().pk}/"
    assert Conversation.objects.get().turns.get().instruction == "Go."

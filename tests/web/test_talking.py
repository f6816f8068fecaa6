"""Who may begin to talk with an agent, and what may be said in an episode."""

from functools import partial
from itertools import product

import pytest
from django.urls import reverse

from agents.live.showing import shown_tasks
from agents.models import Drive, Run, Trajectory
from annotations.models import Conversation, Project, Role
from evaluation.models import Shard, Study
from tests import factories
from tests.quick import first_is_quick
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return factories.make_project(slug="talked")


def begin(project: Project, user, **changed):
    said = {"project": project.slug, "website": "nordline", "words": "Find a train."} | changed
    return client_of(user).post("/api/typed-conversations/", said, content_type="application/json")


def test_a_conversation_is_begun_with_an_agent_that_can_run(project: Project) -> None:
    ada = factories.make_user(Role.ADMIN, project, username="ada")
    answer = begin(project, ada)
    assert answer.status_code == 201, answer.content
    found = Trajectory.objects.get(pk=answer.json()["id"])
    assert (found.run.recipe_name, found.run.created_by) == ("grounded", ada)
    assert found.conversation.extra == {"task": "nordline", "seed": 0, "typed": True}
    assert found.conversation.turns.get().instruction == "Find a train."
    assert Study.objects.get().name.startswith("Talk of ada with grounded: nordline-0-")
    assert begin(project, factories.make_user(Role.REVIEWER, project)).status_code == 403


@pytest.mark.slow
def test_who_talks_already_is_led_back_to_that_conversation_and_starts_nothing(project: Project) -> None:
    ada, bo = (factories.make_user(Role.ADMIN, project) for _ in range(2))
    first = begin(project, ada)
    again = begin(project, ada, words="Find another.")
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
    form = {"project": project.pk, "recipe": "grounded", "website": "nordline", "words": "And a third."}
    page = client_of(ada).post("/converse/", form, follow=True)
    assert page.redirect_chain[0] == (f"/trajectories/{first.json()['id']}/", 302)
    assert "You are still in this conversation" in page.content.decode()
    assert page.context["data"]["unsaid"] == "And a third.", "it can be said there"
    assert 'id="under-way"' in client_of(ada).get("/converse/").content.decode()
    assert 'id="under-way"' not in client_of(bo).get("/converse/").content.decode()
    assert [row.objects.count() for row in (Trajectory, Conversation, Study, Shard)] == [1, 1, 1, 1]
    assert begin(project, bo).status_code == 201, "of others it says nothing"
    Trajectory.objects.update(state=Trajectory.State.DONE)
    Run.objects.update(state=Run.State.DONE)
    assert begin(project, ada).status_code == 201


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"website": "nowhere"}, "There is no task 'nowhere'"),
        ({"recipe": "dmr-minilm"}, "dmr-minilm ranks elements and plans no action"),
        ({"recipe": "synapse-miniwob"}, "writes programs for pages of MiniWoB++"),
        ({"recipe": "no-such"}, "no-such"),
        ({"words": " "}, "may not be blank"),
    ],
)
def test_what_there_is_not_is_said_and_makes_nothing(project: Project, changed: dict, said: str) -> None:
    answer = begin(project, factories.make_user(Role.ADMIN, project), **changed)
    assert answer.status_code == 400
    assert said in answer.json().__str__()
    assert not Trajectory.objects.exists()


@pytest.mark.slow
def test_agents_that_only_rank_are_not_offered(project: Project) -> None:
    page = client_of(factories.make_user(Role.ADMIN, project)).get("/converse/")
    shown = page.content.decode()
    assert all(f"<dt>{website}</dt>" in shown for website in shown_tasks("sample-sites-free"))
    assert "Elvsund" in shown, "what one may ask for there"
    offered = [name for name, _ in page.context["form"].fields["recipe"].choices]
    assert "grounded" in offered
    assert not {"dmr-minilm", "synapse-miniwob"} & set(offered)


def drives(found: Trajectory, user, what: str, **more):
    address = reverse("trajectory-drive", args=[found.pk])
    return client_of(user).post(address, {"do": what, **more}, content_type="application/json")


def test_only_its_user_speaks_and_only_when_the_agent_stands_still(project: Project) -> None:
    ada = factories.make_user(Role.ADMIN, project, username="ada")
    found = Trajectory.objects.get(pk=begin(project, ada).json()["id"])

    does = partial(drives, found)
    Drive.objects.wait_for(found, "answer", "Which train?")
    token = does(ada, "pause").json()["token"]
    assert does(ada, "say", token=token, said="The first.").json()["error"] == "Wait until the agent stands still."
    Drive.objects.get().stand({"names": []}, b"\xff\xd8")
    bo = factories.make_user(Role.REVIEWER, project, username="bo")
    assert does(bo, "say", token=token[::-1], said="The last.").status_code == 409
    assert does(ada, "back", token=token).json()["error"].startswith("The agent waits for words")
    assert does(ada, "say", token=token, said=" ").json()["error"] == "Say something, or end the conversation."
    assert does(ada, "say", token=token, said="x" * 2001).status_code == 400
    assert does(ada, "say", token=token, said=" The\n first. ").status_code == 200
    row = Drive.objects.get()
    assert (row.state, row.said, row.is_content) == ("back", "The first.", None)
    assert does(ada, "say", token=token, said="Again.").status_code == 409


def test_a_conversation_that_its_user_has_ended_says_so_before_a_worker_hears_it_and_nobody_takes_it_over(
    project: Project,
) -> None:
    ada = factories.make_user(Role.ADMIN, project, username="ada")
    found = Trajectory.objects.get(pk=begin(project, ada).json()["id"])
    Drive.objects.wait_for(found, "turn", "")
    Drive.objects.get().stand({"names": []}, b"\xff\xd8")
    steps = partial(client_of(ada).get, f"/api/trajectories/{found.pk}/steps/")
    assert steps().json()["ends"] == ""
    token = drives(found, ada, "pause").json()["token"]
    assert drives(found, ada, "not content", token=token).status_code == 200
    assert steps().json()["ends"] == "ada got not all that they asked for"
    bo = factories.make_user(Role.REVIEWER, project, username="bo")
    for user, what in product((ada, bo), ("pause", "take", "say", "content")):
        answer = drives(found, user, what, token=token, said="And the basket.")
        assert answer.status_code == 409
        assert answer.json()["error"] == "The conversation is over: ada got not all that they asked for."
    row = Drive.objects.get()
    assert (row.said, row.is_content) == ("", False)
    again = begin(project, ada, words="Find another.")
    assert (again.status_code, again.json()["id"]) == (201, Trajectory.objects.latest("pk").pk)


@pytest.mark.parametrize("how", ["pause", "take"])
def test_who_takes_over_somebody_elses_conversation_neither_speaks_nor_ends_it(project: Project, how: str) -> None:
    ada = factories.make_user(Role.ADMIN, project, username="ada")
    bo = factories.make_user(Role.ADMIN, project, username="bo")
    found = Trajectory.objects.get(pk=begin(project, ada).json()["id"])

    does = partial(drives, found)
    Drive.objects.wait_for(found, "turn", "")
    Drive.objects.get().stand({"names": []}, b"\xff\xd8")
    token = does(bo, how).json()["token"]
    for what in ("say", "content", "not content"):
        answer = does(bo, what, token=token, said="Buy it.")
        assert answer.status_code == 409, answer.content
        assert answer.json()["error"] == "ada talks with the agent: nobody else says what is next."
    assert does(ada, "pause").status_code == 409, "bo is there"
    assert Drive.objects.get().words == ("bo drives" if how == "take" else "paused by bo")
    assert does(bo, "back", token=token).json()["drive"]["words"] == "waits for ada to say the next instruction"
    token = does(ada, "pause").json()["token"]
    assert does(ada, "say", token=token, said="The first.").status_code == 200
    row = Drive.objects.get()
    assert (row.state, row.said, row.person) == ("back", "The first.", ada)


@pytest.mark.slow
@first_is_quick("what", ["say", "content", "not content", "beat", "back", "act"])
def test_who_holds_nothing_does_nothing_where_nobody_has_come_yet(project: Project, what: str) -> None:
    ada = factories.make_user(Role.ADMIN, project, username="ada")
    found = Trajectory.objects.get(pk=begin(project, ada).json()["id"])
    Drive.objects.wait_for(found, "turn", "")
    Drive.objects.get().stand({"names": []}, b"\xff\xd8")
    bo = factories.make_user(Role.REVIEWER, project, username="bo")
    told = {"do": what, "said": "Buy it.", "seen": 1}
    told |= {"action": {"operation": "CLICK", "node_id": "3"}} if what == "act" else {}
    address = reverse("trajectory-drive", args=[found.pk])
    tokens: list[dict] = [{}, {"token": ""}, {"token": "None"}, {"token": "0" * 32}]
    for user, token in product((bo, ada), tokens):
        answer = client_of(user).post(address, told | token, content_type="application/json")
        assert answer.status_code == 409, answer.content
        said = "The agent waits for words" if what == "back" else "Waits for ada to say the next instruction: take over"
        if user == bo and what in ("say", "content", "not content"):
            said = "ada talks with the agent"
        assert answer.json()["error"].startswith(said)
    row = Drive.objects.get()
    assert (row.state, row.lease_token, row.lease_until, row.said, row.is_content) == ("paused", None, None, "", None)


@pytest.mark.slow
def test_who_acts_in_a_conversation_is_told_what_keeps_them(project: Project) -> None:
    ada = factories.make_user(Role.ADMIN, project, username="ada")
    found = Trajectory.objects.get(pk=begin(project, ada).json()["id"])
    Drive.objects.wait_for(found, "turn", "")
    Drive.objects.get().stand({"names": []}, b"\xff\xd8")
    assert Drive.objects.get().doing == "it waits for ada to say the next instruction"

    def does(what: str, **more) -> str:
        address = reverse("trajectory-drive", args=[found.pk])
        answer = client_of(ada).post(address, {"do": what, **more}, content_type="application/json").json()
        return answer.get("error") or answer["token"]

    click = {"operation": "CLICK", "node_id": "3"}
    token = does("pause")
    assert does("act", token=token, seen=1, action=click) == "Take over first: the agent is only paused."
    assert does("take") == token
    assert does("act", token=token, seen=7, action=click).startswith("Wait until what you did last is done")
    stop = {"operation": "STOP"}
    assert does("act", token=token, seen=1, action=stop).startswith(
        "The user says what is next, or whether all was done"
    )


def test_nothing_is_typed_where_the_user_is_scripted(project: Project) -> None:
    ada = factories.make_user(Role.ADMIN, project, username="ada")
    found = Trajectory.objects.get(pk=begin(project, ada).json()["id"])
    found.conversation.extra = {"task": "nordline", "seed": 0}
    found.conversation.save()
    address = reverse("trajectory-drive", args=[found.pk])
    token = client_of(ada).post(address, {"do": "pause"}, content_type="application/json").json()["token"]
    told = {"do": "content", "token": token}
    assert "nothing to type" in client_of(ada).post(address, told, content_type="application/json").json()["error"]

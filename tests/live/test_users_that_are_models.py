"""Live conversations whose user is a language model: its words reach the agent, what it tells is measured, and what it
costs is its own. The model is a real server."""

import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agents.environments.process import EnvironmentProcess
from agents.environments.protocol import TurnEnd
from agents.live import running
from agents.live.chosen_users import ChosenUser
from agents.live.goals import LiveGoals, new_goals
from agents.live.spoken import SpokenTurn, Utterance
from agents.llm import embedded
from agents.models import Connection, LlmReply, Run, UserLedger
from agents.replay.rows import rows
from agents.types import Action, Decision, Observation
from annotations.models import Dataset, Job, Project
from annotations.sample.missing import NOTHING_MORE, HiddenPart
from evaluation.models import Study
from evaluation.studies.running import create_study, run_inline
from tests import factories
from tests.agents.llm_server import LlmServer, empty_choices, failure, prompt_text, serve
from tests.signed_in import client_of

TALK = "harbourcity-brown-bin"  # four turns; the second leaves out "the brown one"
BIN = HiddenPart("reference", "the brown one", "mine", ("which", "bin", "colour"))
PRICES = {"price_prompt": 1.0, "price_completion": 2.0}


# What a turn's words tell, without a browser.


def test_an_answer_that_tells_what_was_asked_for_leaks_nothing() -> None:
    turn = SpokenTurn("Only the brown one.", [BIN])
    turn.say(Utterance("Only mine, please."))
    turn.answer("Which bin?", Utterance("The brown one."), steps=2)
    ended = turn.ended(TurnEnd(True, 3, 2, 0, (), asked=1, needed=True))
    assert (ended.spoken, ended.answers, ended.leaks, ended.said_unasked, ended.told_after) == (True, 1, 0, False, 2)
    assert [told["unasked"] for told in turn.take()["told"]] == [[], []]


def test_an_answer_that_tells_more_than_was_asked_for_is_a_leak_and_named() -> None:
    turn = SpokenTurn("Only the brown one.", [BIN])
    turn.say(Utterance("Only mine, please."))
    turn.answer("Shall I go on?", Utterance("Yes, with the brown bin."), steps=1)
    turn.answer("And the bin, which colour?", Utterance("Brown."), steps=2)
    ended = turn.ended(TurnEnd(True, 3, 2, 0, (), asked=2, needed=True))
    assert (ended.answers, ended.leaks, ended.told_after) == (2, 1, 1)
    assert [told["unasked"] for told in turn.take()["told"]] == [[], ["the brown one"], []]
    assert turn.take()["told"] == [], "it is stored once"


def test_an_instruction_that_tells_what_it_was_to_leave_out_is_known() -> None:
    turn = SpokenTurn("Only the brown one.", [BIN])
    turn.say(Utterance("Just the brown bin."))
    turn.answer("Shall I go on?", Utterance("Yes, the brown one."), steps=4)
    ended = turn.ended(TurnEnd(True, 5, 2, 0, (), asked=1, needed=True))
    assert (ended.said_unasked, ended.told_after, ended.leaks) == (True, 0, 0), "what was said at once is no secret"


# Whole conversations.


class Asking:
    """An agent that asks a question at the beginning of each turn that leaves something out, then stops."""

    def __init__(self, question: str) -> None:
        self.question = question
        self.seen: list[Observation] = []

    def prepare(self, conversation_ids: Sequence[int]) -> None:
        pass

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        self.seen += observations
        asks = [seen.turn_index == 1 and not seen.turn_actions for seen in observations]
        return [Decision((Action("SAY", None, self.question) if ask else Action("STOP"),)) for ask in asks]

    def told(self, turn: int) -> list[str]:
        """The instructions that it was given in a turn, as they grew."""
        return [seen.instruction for seen in self.seen if seen.turn_index == turn]


def speaking(answer: str, content: str = "no") -> Callable[[dict[str, Any]], str]:
    """A model that puts "Please" before each request, and gives this answer to every question."""

    def reply(body: dict[str, Any]) -> str:
        prompt = prompt_text(body)
        if "The agent asks:" in prompt:
            return answer
        if "The page as it is now:" in prompt:
            return f"Nothing has changed.\nContent: {content}"
        return f"“Please: {prompt.rpartition('in your own words: ')[2].strip()}”"

    return reply


@pytest.fixture
def project(db) -> Project:
    return factories.make_project(slug="talked")


@pytest.fixture
def connected(project) -> Iterator[Callable[[Callable[[dict[str, Any]], Any]], LlmServer]]:
    """`connected(reply)`: a server that answers so, behind the connection "ada"."""
    with serve(lambda body: "") as server:
        common = {"name": "ada", "model": "m-1", "private": True, "attempts": 1, **PRICES}
        Connection.objects.create(base_url=server.url, **common)

        def answer_by(reply: Callable[[dict[str, Any]], Any]) -> LlmServer:
            server.reply = reply
            return server

        yield answer_by


@pytest.fixture(scope="module")
def site(has_chromium) -> Iterator[EnvironmentProcess]:
    process = EnvironmentProcess("sample-sites-asking")
    yield process
    process.close()


def played(project: Project, site: EnvironmentProcess, talker: ChosenUser | None, monkeypatch, agent: Asking) -> Run:
    """A run of one conversation, over."""
    monkeypatch.setattr(running, "build_pipeline", lambda run, llm: agent)
    goals = new_goals(project, "goals", "sample-sites-asking", steps=50, talker=talker)
    LiveGoals(goals, site).add([TALK], [0])
    study = create_study(user=None, dataset=goals, recipes=["grounded"], publish=False)
    run_inline(study)
    return Run.objects.get()


def values(run: Run) -> dict[str, float]:
    return {score.metric: score.value for score in run.scores.headline("corrected")}


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_agent_hears_the_models_words_and_they_are_paid_apart(project, site, connected, monkeypatch) -> None:
    server, agent = connected(speaking("The brown one, please.")), Asking("Which bin?")
    run = played(project, site, ChosenUser("ada"), monkeypatch, agent)
    assert run.state == "done", run.error
    assert agent.told(1) == ["Please: Only mine.", "Please: Only mine. The brown one, please."]
    assert agent.seen[-1].earlier_instructions[1] == "Please: Only mine."
    assert all("the brown one" not in prompt_text(body) for body in server.requests if _says_what_is_next(body))

    found = values(run)
    assert found["ask_f1"] == pytest.approx(2 / 3), "it asked in one of two turns that leave something out"
    assert (found["user_leaks"], found["said_unasked"]) == (0.0, 0.0)
    assert (found["user_content"], found["user_agrees"], found["live_turn_success"]) == (0.0, 1.0, 0.0)
    assert {"told_success", "told_after"} <= found.keys()
    assert found["user_stood_in"] == 0.0

    steps = list(run.steps.order_by("seq"))
    asked = next(step for step in steps if step.operation == "SAY")
    assert asked.outcome.startswith("the user says: The brown one, please.")
    kinds = [(one["kind"], one["words"], one["model"]) for one in asked.trace["user"]["told"]]
    assert kinds == [("instruction", "Please: Only mine.", "m-1"), ("answer", "The brown one, please.", "m-1")]
    assert asked.trace["user"]["told"][1]["question"] == "Which bin?"
    assert [step.trace["turn"]["content"] for step in steps if "turn" in step.trace] == [False] * 4
    assert [turn["instruction"][:7] for turn in run.trajectories.get().outline()] == ["Please:"] * 4
    assert rows(run.trajectories.get(), gold=True)[0]["instruction"].startswith("Please: ")

    ledger, told = UserLedger.objects.get(run=run), UserLedger.objects.told_of([run])
    words = sum(one["tokens"] for step in steps for one in step.trace["user"]["told"])
    assert ledger.spent_tokens == words > 0
    assert told is not None
    assert (told["connection"], told["cost"]) == ("ada", pytest.approx(ledger.spent_cost))
    assert ledger.spent_cost > 0
    study = Study.objects.get()
    assert (study.spent_tokens, study.spent_cost, sum(step.cost or 0 for step in steps)) == (0, 0, 0)
    page = client_of(factories.make_user("admin", project)).get(f"/studies/{study.pk}/").content.decode()
    assert "The user, a language model" in page
    assert "User agrees" in page


def _says_what_is_next(body: dict[str, Any]) -> bool:
    return "in your own words:" in prompt_text(body)


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_user_that_tells_what_nobody_asked_for_is_measured(project, site, connected, monkeypatch) -> None:
    connected(speaking("Go on, with the brown one."))
    run = played(project, site, ChosenUser("ada", words="written"), monkeypatch, agent := Asking("Shall I go on?"))
    assert values(run)["user_leaks"] == 1.0
    assert agent.told(1)[0] == "Only mine.", "as written"
    asked = run.steps.get(operation="SAY")
    assert asked.trace["user"]["told"][-1]["unasked"] == ["the brown one"]


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_same_seeds_are_the_same_words_and_are_paid_for_once(project, site, connected, monkeypatch) -> None:
    server = connected(speaking("The brown one."))
    run = played(project, site, ChosenUser("ada", temperature=1.0), monkeypatch, Asking("Which bin?"))
    asked, seeds = len(server.requests), [body["seed"] for body in server.requests]
    assert [body["temperature"] for body in server.requests] == [1.0] * asked
    assert len(set(seeds)) == asked, "each thing that is said is drawn anew"
    again = create_study(user=None, dataset=run.dataset, recipes=["grounded"], publish=False)
    run_inline(again)
    assert len(server.requests) == asked
    assert UserLedger.objects.get(run=again.runs.get()).spent_tokens == 0


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_replies_of_no_use_are_stood_in_for_and_said(project, site, connected, monkeypatch) -> None:
    connected(lambda body: empty_choices())
    run = played(project, site, ChosenUser("ada"), monkeypatch, agent := Asking("Which bin?"))
    assert run.state == "done", run.error
    assert agent.told(1) == ["Only mine.", "Only mine. the brown one."], "the scripted user's words"
    told = [one for step in run.steps.order_by("seq") for one in step.trace["user"]["told"]]
    assert len(told) == 9
    assert all(one["error"] for one in told)
    assert "user_agrees" not in values(run), "nothing was said that could be read"
    assert values(run)["user_stood_in"] == 1.0


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_run_whose_user_is_refused_fails_and_says_so(project, site, connected, monkeypatch) -> None:
    connected(lambda body: failure(401, "wrong key"))
    run = played(project, site, ChosenUser("ada"), monkeypatch, agent := Asking("Which bin?"))
    assert (run.state, agent.seen) == ("failed", [])
    assert "the language model that is the user cannot be asked" in run.error


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_run_stops_before_its_user_costs_too_much(project, site, connected, monkeypatch) -> None:
    server = connected(speaking("The brown one."))
    run = played(project, site, ChosenUser("ada", max_cost=0.0), monkeypatch, agent := Asking("Which bin?"))
    assert (run.state, server.requests, agent.seen) == ("cancelled", [], [])
    assert "Make goals whose user may cost more" in run.error


@pytest.mark.django_db(transaction=True)
def test_words_that_changed_since_the_goals_were_made_are_refused(project, connected) -> None:
    connected(speaking(""))
    goals = new_goals(project, "goals", "sample-sites", talker=ChosenUser("ada"))
    goals.live["user"]["texts_sha256"] = "0" * 64
    goals.save()
    factories.make_conversation(dataset=goals, turns=1, steps=0, extra={"task": TALK, "seed": 0})
    study = create_study(user=None, dataset=goals, recipes=["grounded"], publish=False)
    run_inline(study)
    run = Run.objects.get()
    assert run.state == "failed"
    assert "have changed since the goals goals were made" in run.error


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("environment", "changes", "words"),
    [
        ("miniwob", {}, "a language model is the user of conversations"),
        ("sample-sites", {"connection": "no-such"}, "there is no connection 'no-such'; there are ada"),
        ("sample-sites", {"connection": "embedded:other"}, "there is no embedded model 'embedded:other'"),
        ("sample-sites", {"words": "loud"}, "words that are own or written"),
        ("sample-sites", {"temperature": 3.0}, "is 0 to 2, not 3"),
        ("sample-sites", {"temperature": float("nan")}, "is 0 to 2, not nan"),
        ("sample-sites", {"max_cost": -1.0}, "0 or more"),
        ("sample-sites", {"pack": "no-such"}, "there is no prompt pack no-such"),
    ],
)
def test_users_that_cannot_be_are_refused_in_words(project, connected, environment, changes, words) -> None:
    with pytest.raises(ValueError, match=words):
        new_goals(project, "goals", environment, talker=replace(ChosenUser("ada"), **changes))
    assert not Dataset.objects.exists()


@pytest.mark.django_db
def test_a_limit_on_money_needs_prices(project, connected) -> None:
    Connection.objects.update(price_prompt=None, price_completion=None)
    with pytest.raises(ValueError, match="needs prices"):
        ChosenUser("ada", max_cost=1.0).kept("sample-sites", project)
    ChosenUser("ada").kept("sample-sites", project)


@pytest.mark.django_db
def test_goals_are_made_with_a_user_over_rest_and_by_the_form(project, connected) -> None:
    admin = client_of(factories.make_user("admin", project))
    wanted = {"project": project.slug, "environment": "sample-sites", "tasks": [TALK], "episodes": 1}
    user = {"connection": "ada", "temperature": 0, "words": "written"}
    answer = admin.post("/api/live-goals/", wanted | {"name": "one", "user": user}, content_type="application/json")
    assert answer.status_code == 202, answer.content
    kept = Job.objects.get().params["user"]
    assert {name: kept[name] for name in user} == user
    assert (kept["pack"], len(kept["texts_sha256"])) == ("webnav", 64)
    refused = admin.post(
        "/api/live-goals/", wanted | {"name": "two", "user": {"connection": "no"}}, content_type="application/json"
    )
    assert "There is no connection 'no'" in refused.json()["user"][0]

    page = admin.get("/live-goals/?environment=sample-sites").content.decode()
    assert "Their user" in page
    assert "Their user" not in admin.get("/live-goals/?environment=miniwob").content.decode()
    form = {"environment": "sample-sites", "task_set": "all", "episodes": 1, "first_seed": 0, "split": "dev"}
    form |= {"steps": 200, "seconds": 300, "project": project.pk, "name": "three", "user": "ada", "user_words": "own"}
    sent = admin.post("/live-goals/", form | {"user_temperature": 0.2, "user_max_cost": "", "user_pack": "webnav"})
    assert sent.status_code == 302, sent.content.decode()
    job = Job.objects.get(params__name="three")
    assert (job.params["user"]["temperature"], job.params["user"]["max_cost"]) == (0.2, None)
    wrong = admin.post("/live-goals/", form | {"name": "four", "user_pack": "none-such"}).content.decode()
    assert "There is no prompt pack none-such" in wrong
    scripted = admin.post("/live-goals/", form | {"name": "five", "user": ""})
    assert scripted.status_code == 302
    assert "user" not in Job.objects.get(params__name="five").params


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_command_takes_a_connection_as_the_user(has_chromium, project, connected, monkeypatch) -> None:
    connected(speaking("I do not know more."))
    monkeypatch.setattr(running, "build_pipeline", lambda run, llm: Asking("Which bin?"))
    said, errors = io.StringIO(), io.StringIO()
    arguments = ("grounded", "sample-sites-asking", "--conversations", TALK, "--episodes", "1", "--inline")
    call_command("run_live", *arguments, "--user", "ada", "--json", stdout=said, stderr=errors)
    found = json.loads(said.getvalue())
    assert (found["dataset"], found["user"]["connection"]) == (f"sample-sites-asking-{TALK}-0-0-user-ada", "ada")
    assert found["metrics"]["user_leaks"]["value"] == 0.0
    assert "told_after" not in found["metrics"], "it told nothing"
    with pytest.raises(CommandError, match="there is no connection 'eve'"):
        call_command("run_live", *arguments, "--user", "eve", stdout=said, stderr=errors)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(bool(embedded.lacking()), reason="the embedded model is not installed")
def test_the_embedded_model_is_a_user_too(project, site, monkeypatch) -> None:
    talker = ChosenUser(embedded.SMOLLM2, temperature=0.0)
    run = played(project, site, talker, monkeypatch, agent := Asking("Which bin?"))
    assert run.state == "done", run.error
    asked = run.steps.get(operation="SAY")
    answer = asked.trace["user"]["told"][-1]
    assert answer["model"] == embedded.SMOLLM2
    assert answer["words"] not in ("", NOTHING_MORE)
    assert agent.told(1)[1].endswith(answer["words"])
    assert LlmReply.objects.count() == 9
    assert "user_leaks" in values(run)

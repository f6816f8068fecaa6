"""Agents that write programs, on real MiniWoB++ pages: what a program tells its agent happens in the browser."""

import io
import json
import re
from typing import Any

import pytest
from django.core.management import call_command

from agents.environments.process import EnvironmentProcess
from agents.memory.exemplar_sets import packaged
from agents.models import ExemplarSet, Run
from agents.programs.confined import calls_of
from agents.types import Action
from tests import factories
from tests.agents.llm_server import prompt_text, serve
from tests.quick import first_is_quick

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("kept_browsers")]

OPERATIONS = {"click_xpath": "CLICK", "type": "TYPE", "click_option": "SELECT"}
LOGIN = """import re
said = re.sub('<[^>]+>', '', PAGE)
name, word = re.search('username "([^"]+)" and the password "([^"]+)"', said).groups()
agent.click_xpath('//*[@id="username"]')
agent.type(name)
agent.click_xpath('//*[@id="password"]')
agent.type(word)
agent.click_xpath('//*[@id="subbtn"]')"""


@pytest.mark.slow
def test_a_page_tells_its_own_markup_and_takes_paths_and_keys(miniwob: EnvironmentProcess) -> None:
    start = miniwob.reset("login-user", 0)
    assert start.view.markup.startswith('<div id="wrap">')
    assert start.instruction.partition(" ")[0] in start.view.markup, "the task stands on the page"
    assert "<script" not in start.view.markup
    assert "reward-display" not in start.view.markup
    did = miniwob.step(Action("CLICK", None, '//*[@id="username"]'))
    assert did.words.startswith("clicked at ")
    assert miniwob.step(Action("TYPE", None, "hello there")).words == "typed hello there"
    for keys in ("Control+a", "Control+c", "Backspace", "Control+v"):
        assert miniwob.step(Action("PRESS", None, keys)).words == f"pressed {keys}"
    assert 'value="hello there"' in miniwob.observe().html, "copied, deleted and pasted"
    assert miniwob.step(Action("CLICK", None, "//absent")).words == "not done: nothing on the page is '//absent'"
    assert miniwob.step(Action("CLICK", None, "//[")).words == "not done: '//[' is no XPath"
    assert miniwob.step(Action("HOVER", None, '//*[@id="subbtn"]')).words.startswith("moved to ")


def test_every_element_that_a_path_names_is_clicked(miniwob: EnvironmentProcess) -> None:
    start = miniwob.reset("click-checkboxes", 1)
    boxes = start.view.markup.count('type="checkbox"')
    did = miniwob.step(Action("CLICK", None, '//input[@type="checkbox"]'))
    assert did.words.count("clicked at") == boxes
    assert boxes > 1


def test_what_a_page_opens_beside_itself_is_told_of_some_tasks(miniwob: EnvironmentProcess) -> None:
    view = miniwob.reset("click-dialog", 0).view
    assert "ui-dialog" in view.markup
    miniwob.reset("choose-list", 0)
    assert miniwob.step(Action("SELECT", None, "//select/option[3]")).words.startswith("chose ")


@first_is_quick("one", packaged(), ids=lambda one: one["name"])
def test_every_demonstration_that_comes_with_webnav_solves_its_page(
    miniwob: EnvironmentProcess, one: dict[str, Any]
) -> None:
    for demo in one["demo"]:
        start = miniwob.reset(one["name"], demo["seed"])
        # Marks of an episode before, on the same page, are left out.
        assert re.sub(r' data-tampered="\w+"', "", start.view.markup) == demo["state"]
        for call in calls_of(demo["act"]).calls:
            did = miniwob.step(Action(OPERATIONS[call.method], None, call.text))
        assert (did.done, did.reward) == (True, 1.0), demo["act"]


def played(monkeypatch: pytest.MonkeyPatch, reply: Any, *tasks: str, changes: tuple[str, ...] = ()) -> dict[str, Any]:
    out = io.StringIO()
    with serve(reply) as server:
        for name, value in (("BASE_URL", server.url), ("MODEL", "test-model"), ("API_KEY", "secret")):
            monkeypatch.setenv(f"LLM_{name}", value)
        arguments = ("--tasks", *tasks, "--episodes", "2", "--inline", "--json")
        call_command("run_live", "synapse-miniwob", "miniwob", *arguments, *changes, stdout=out, stderr=io.StringIO())
    return json.loads(out.getvalue().splitlines()[-1])


def write(body: dict[str, Any]) -> str:
    """The program for the page that is asked about, as the set that is shown tells it."""
    said = prompt_text(body)
    page = body["messages"][-1]["content"].removeprefix("Observation:\n")  # where a reply would be cut
    if "Sign in" in said:
        return f"```python\n{LOGIN.replace('PAGE', repr(page))}\n```"
    return "```\nagent.click_xpath('//*[@id=\"subbtn\"]')\n```"


def make_sets() -> None:
    project = factories.make_project()
    for place, (name, said) in enumerate((("login-user", "Sign in"), ("click-test", "Press it"))):
        body = {"demo": [{"state": f"<p>{said}</p>", "act": "agent.press('enter')"}]}
        keys = [f"Task: {said}\nState:\n{task}" for task in (name, name.replace("-", " "))]
        fields: dict[str, Any] = {"source": "synapse", "position": place, "read_from": "here"}
        ExemplarSet.objects.create(project=project, name=name, body=body, keys=keys, **fields)


@pytest.mark.slow
def test_run_live_decides_episodes_by_programs(monkeypatch: pytest.MonkeyPatch, hash_encoder: None) -> None:
    make_sets()
    found = played(monkeypatch, write, "click-test", "login-user", changes=("--set", "recall.exemplars=own"))
    assert [(row["task"], row["success"]) for row in found["tasks"]] == [("click-test", 1.0), ("login-user", 1.0)]
    steps = Run.objects.get().trajectories.get(conversation__source_id="login-user-0").steps.order_by("seq")
    assert [step.operation for step in steps] == ["CLICK", "TYPE", "CLICK", "TYPE", "CLICK"], "and no further one"
    assert {step.call_index for step in steps} == {0}, "one program"
    assert [step.calls for step in steps] == [1, 0, 0, 0, 0]
    assert steps[0].trace["recall"]["exemplar_set"] == "login-user"


@pytest.mark.slow
def test_the_vote_takes_what_the_page_is_most_like(monkeypatch: pytest.MonkeyPatch, hash_encoder: None) -> None:
    make_sets()
    played(monkeypatch, write, "click-test", changes=("--set", "recall.exemplar_k=1"))
    step = Run.objects.get().trajectories.first().steps.first()
    assert step.trace["recall"]["nearest"] == [step.trace["recall"]["exemplar_set"]]


@pytest.mark.slow
def test_a_hostile_program_ends_its_episode_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, hash_encoder: None
) -> None:
    make_sets()
    hostile = "```\nimport os\nos.kill(os.getppid(), 9)\n```"
    found = played(monkeypatch, lambda body: hostile, "click-test", changes=("--set", "recall.exemplars=own"))
    assert (found["state"], [row["success"] for row in found["tasks"]]) == ("done", [0.0])
    step = Run.objects.get().trajectories.first().steps.get()
    assert "programs may not import os" in step.trace["plan"]["said"]


@pytest.mark.slow
def test_tasks_of_several_programs_go_on_until_those_are_used_up(
    monkeypatch: pytest.MonkeyPatch, hash_encoder: None
) -> None:
    make_sets()
    asked: list[str] = []

    def never(body: dict[str, Any]) -> str:
        asked.append(prompt_text(body))
        return "```\nagent.press('backspace')\n```"

    played(
        monkeypatch, never, "click-test", changes=("--set", "recall.exemplars=none", "plan.programs=3", "--seed", "0")
    )
    for row in Run.objects.get().trajectories.all():
        steps = list(row.steps.order_by("seq"))
        assert [step.operation for step in steps] == ["PRESS", "PRESS", "PRESS", "STOP"]
        assert [step.call_index for step in steps] == [0, 1, 2, 2]
    assert asked[-1].count("agent.press('backspace')") == 2, "the third is told of both before it"

"""WebArena's audited tasks with the real package, on a small site of ours that stands where its shop would."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from agents.environments.harnesses.webarena_tasks import response, signed_in
from agents.environments.process import EnvironmentProcess
from agents.environments.protocol import NoSuchTask
from agents.environments.task_sets import TASKS
from agents.live.goals import LiveGoals, new_goals
from agents.types import Action
from tests import factories
from tests.live.other_pythons import WEBARENA, python
from tests.live.test_environment import node

PAGES = {
    "/": '<h1>One Stop Market</h1><a href="/night-guard.html">Night guard</a><a href="/chair.html">Chair</a>',
    "/night-guard.html": "<h1>Night guard</h1>",
    "/chair.html": "<h1>Chair</h1>",
}
SHOWS_A_PRODUCT = "118"  # "… go to the product page for something that could alleviate the problem."
WANTS_NAMES = "21"  # of reviewers, told by the agent's answer


@pytest.fixture(scope="session")
def webarena_python(has_chromium, tmp_path_factory: pytest.TempPathFactory) -> str:
    return python("WEBARENA_PYTHON", WEBARENA, tmp_path_factory.mktemp("webarena"), (3, 12))


@pytest.fixture
def shop() -> Iterator[str]:
    class Shop(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = f"<!doctype html>{PAGES.get(self.path, '<h1>Elsewhere</h1>')}".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *said: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def arena(webarena_python, shop, monkeypatch) -> Iterator[EnvironmentProcess]:
    monkeypatch.setenv("WEBARENA_PYTHON", webarena_python)
    monkeypatch.setenv("WA_SHOPPING", shop)
    process = EnvironmentProcess("webarena")
    yield process
    process.close()


@pytest.mark.slow
@pytest.mark.browser
def test_a_run_is_scored_by_what_its_browser_asked_for_and_by_its_answer(arena, shop) -> None:
    assert len(arena.tasks()) == 812
    start = arena.reset(SHOWS_A_PRODUCT, 0)
    assert start.instruction.startswith("I have a jaw bruxism problem")
    assert start.site == ("shopping", "webarena", "webarena")
    arena.step(Action("CLICK", node(start, "[link]  Chair")))
    wrong = arena.step(Action("STOP"))
    assert (wrong.done, wrong.reward) == (True, 0.0)
    start = arena.reset(SHOWS_A_PRODUCT, 0)
    assert arena.step(Action("CLICK", node(start, "[link]  Night guard"))).view.url == f"{shop}/night-guard.html"
    right = arena.step(Action("STOP"))
    assert (right.done, right.reward) == (True, 1.0), right.words
    arena.reset(WANTS_NAMES, 0)
    told = arena.step(Action("SAY", None, "Nobody"))
    assert (told.done, told.reward) == (True, 0.0)
    assert "AgentResponseEvaluator: failure" in told.words


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_its_tasks_are_goals_where_their_sites_stand(arena) -> None:
    goals = new_goals(factories.make_project(), "arena", "webarena")
    LiveGoals(goals, arena).add([SHOWS_A_PRODUCT], [0])
    goal = goals.conversations.select_related("website").get()
    assert (goal.website.name, goal.extra["task"]) == ("shopping", SHOWS_A_PRODUCT)
    with pytest.raises(NoSuchTask, match="task 0 is on shopping_admin: say in WA_SHOPPING_ADMIN where that stands"):
        LiveGoals(goals, arena).add(["0"], [0])
    with pytest.raises(NoSuchTask, match="WebArena has no task '9999'"):
        arena.reset("9999", 0)


def test_where_the_package_is_not_it_says_so(monkeypatch) -> None:
    monkeypatch.delenv("WEBARENA_PYTHON", raising=False)
    with pytest.raises(NoSuchTask, match="WEBARENA_PYTHON names the Python of a virtual environment"):
        TASKS["webarena"]()


@pytest.mark.parametrize(
    ("said", "has_sent", "kind", "data"),
    [
        ("", False, "NAVIGATE", None),
        ("", True, "MUTATE", None),
        ("Ann", True, "RETRIEVE", ["Ann"]),
        ('["Ann", "Bo"]', False, "RETRIEVE", ["Ann", "Bo"]),
        ('{"task_type": "MUTATE", "retrieved_data": null}', False, "MUTATE", None),
        ("12", False, "RETRIEVE", ["12"]),
    ],
)
def test_an_answer_is_put_in_the_published_form(said, has_sent, kind, data) -> None:
    told = response(said, has_sent)
    assert (told["task_type"], told["retrieved_data"]) == (kind, data)


def test_a_browser_is_signed_in_where_a_state_is_kept(tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("WA_STATES", raising=False)
    assert signed_in(["shopping"]) == {"cookies": [], "origins": []}
    monkeypatch.setenv("WA_STATES", str(tmp_path))
    (tmp_path / "reddit.json").write_text('{"cookies": [{"name": "a"}]}')
    (tmp_path / "gitlab.json").write_text('{"cookies": [{"name": "b"}], "origins": [{"origin": "http://g"}]}')
    told = signed_in(["reddit", "gitlab", "map"])
    assert [one["name"] for one in told["cookies"]] == ["a", "b"]
    assert told["origins"] == [{"origin": "http://g"}]

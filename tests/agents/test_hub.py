"""Models of the Hugging Face hub: whether one can be fetched is told within seconds, before a study starts."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.core.management import CommandError, call_command

from agents.cookbook.lacking import missing
from agents.encoders import hub, weights
from agents.recipes import literature
from agents.stages.kind import CannotRun
from agents.stages.models import loaded
from agents.training.trained.stored import StoredWeights
from annotations.models import Worker
from tests import factories

pytestmark = pytest.mark.django_db  # workers of other hosts are asked for

NOBODY = "http://127.0.0.1:9"  # where nothing listens


class Hub(ThreadingHTTPServer):
    """Has the model org/here, is overloaded by org/busy and hangs at org/slow."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.asked: list[str] = []
        self.closed = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Answer(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        name = self.path.removeprefix("/api/models/")
        if name != self.path:  # the client asks for other things, too
            self.server.asked.append(name)
        if name == "org/slow":
            self.server.closed.wait(30)
        known = {"org/here": 200, "org/busy": 503}
        body = b'{"id": "org/here", "private": false, "downloads": 1, "likes": 1, "tags": [], "siblings": []}'
        self.send_response(known.get(name, 404))
        self.send_header("Content-Length", str(len(body)))
        if name not in known:
            self.send_header("X-Error-Code", "RepoNotFound")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(autouse=True)
def asks(monkeypatch, tmp_path) -> None:
    """Nothing is known of before; nothing is cached, and asking is allowed."""
    monkeypatch.setattr(hub, "_answers", {})
    monkeypatch.setattr(hub, "_asking", {})
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)


@pytest.fixture
def server(monkeypatch) -> Iterator[Hub]:
    with Hub() as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        monkeypatch.setenv("HF_ENDPOINT", found.address)
        yield found
        found.closed.set()
        found.shutdown()


def test_what_the_hub_has_can_be_fetched(server) -> None:
    weights.check("org/here")
    assert weights.source("org/here") == "org/here"
    assert server.asked == ["org/here"], "an answer is used again"


def test_what_the_hub_does_not_give_is_said(server) -> None:
    with pytest.raises(ValueError, match=f"no model 'org/no'.*; {server.address} has none of this name that is open"):
        weights.check("org/no")
    assert server.asked == ["org/no"], "asked once, and not again and again"


def test_a_hub_that_answers_with_trouble_is_left_to_the_fetching(server) -> None:
    weights.check("org/busy")


def test_an_answer_grows_old(server, monkeypatch) -> None:
    weights.check("org/here")
    monkeypatch.setattr(hub, "KEPT_SECONDS", -1.0)
    weights.check("org/here")
    assert server.asked == ["org/here"] * 2


def test_a_hub_that_hangs_is_not_waited_for(server, monkeypatch) -> None:
    monkeypatch.setattr(hub, "SECONDS", 0.5)
    with pytest.raises(ValueError, match="cannot be reached from this machine"):
        weights.source("org/slow")
    with pytest.raises(ValueError, match="cannot be reached from this machine"):
        weights.source("org/here")
    assert server.asked == ["org/slow"], "nor asked for the next model"


def test_a_page_waits_for_the_first_answer_alone_and_not_for_long(server, monkeypatch) -> None:
    """The hub holds this one for half a minute, as a network does that drops packets."""
    monkeypatch.setattr(hub, "PAGE_SECONDS", 0.05)
    monkeypatch.setattr(hub, "SECONDS", 30.0)
    assert "cannot be reached from this machine (no answer within 0.05 s)" in hub.unfetchable("org/slow", for_page=True)
    assert "cannot be reached" in hub.unfetchable("org/here", for_page=True)
    (asking,) = hub._asking.values()
    assert asking.is_alive(), "nobody waited for its end"
    assert not server.closed.is_set()
    monkeypatch.setattr(hub, "KEPT_SECONDS", -1.0)
    monkeypatch.setattr(hub, "PAGE_SECONDS", 30.0)
    assert "cannot be reached" in hub.unfetchable("org/slow", for_page=True), "as before, while it is asked again"
    assert asking.is_alive()
    assert server.asked.count("org/slow") == 1, "one question is enough"
    assert hub.unfetchable("org/here") == "", "a worker waits for its answer"
    assert hub.unfetchable("org/here", for_page=True) == "", "and the hub counts as reached again"


def test_only_who_asks_by_a_page_waits_so_briefly(server, monkeypatch) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(hub, "unfetchable", lambda name, *, for_page: asked.append(for_page) or "")
    monkeypatch.setattr(StoredWeights, "asked_by_people", lambda self: True)
    weights.check("org/here")
    monkeypatch.setattr(StoredWeights, "asked_by_people", lambda self: False)
    weights.check("org/here")
    assert asked == [True, False]


def test_without_a_network_a_study_is_refused_before_it_starts(monkeypatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", NOBODY)
    dataset = factories.make_conversation(split="train").dataset
    for setting in ("rank.model", "plan.model", "recall.encoder"):
        (said,) = (one for one in missing(changed(setting)) if one.startswith(setting))
        assert "there is no model 'org/here'" in said
        assert f"{NOBODY}, which may have it, cannot be reached from this machine" in said
        with pytest.raises(CommandError, match=f"self-map cannot run yet: .*{setting}: there is no model 'org/here'"):
            call_command("evaluate", "self-map", dataset.name, set=[f"{setting}=org/here"])


def changed(setting: str) -> literature.Recipe:
    return literature.override(literature.get("self-map"), {setting: "org/here"})


def test_a_run_that_finds_no_network_fails_as_soon(monkeypatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", NOBODY)
    with pytest.raises(CannotRun, match=r"rank\.model='org/here' could not be loaded: .* cannot be reached"):
        loaded("rank.model", "org/here", weights.source)


def test_a_machine_without_network_leaves_it_to_workers_elsewhere(monkeypatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", NOBODY)
    Worker.objects.tell("gpu", name="gpu", host="elsewhere", hostname="elsewhere", queues=["gpu"])
    weights.check("org/here")
    with pytest.raises(ValueError, match="there is no model 'nowhere'"):
        weights.check("nowhere")
    with pytest.raises(ValueError, match="cannot be reached"):
        weights.source("org/here")

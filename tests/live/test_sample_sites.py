"""The sample's conversations on its working websites, in a real browser."""

import http.client
import io
import json
import re
from collections.abc import Iterator, Sequence

import pytest
from django.core.management import call_command

from agents.environments.protocol import PageView
from agents.environments.sample_sites.environment import SampleSitesEnvironment, turn_limit
from agents.environments.sample_sites.server import SiteServer
from agents.live import running
from agents.models import Run, Trajectory
from agents.types import Action, Decision, Observation
from annotations.dom.tree import parse
from annotations.models import Dataset
from annotations.sample.build import SCRIPTS, SITES, find_target, record
from annotations.sample.goals import conversations
from annotations.sample.missing import NOTHING_MORE
from annotations.sample.nodes import VisitState
from annotations.sample.script import ScriptedAction, read_script
from annotations.sample.visit import FAULT, SiteVisit

pytestmark = pytest.mark.browser
# Read, not walked as `conversations` does: every process of the tests collects them.
NAMES = [script.name for site in sorted(SITES) for script in read_script(SCRIPTS / f"{site}.txt")]
BOX = re.compile(r'bounding_box_rect="[^"]*"')


@pytest.fixture(scope="module")
def sites(has_chromium) -> Iterator[SampleSitesEnvironment]:
    environment = SampleSitesEnvironment()
    yield environment
    environment.close()


def closed(sites: SampleSitesEnvironment) -> PageView | None:
    """Close the window that nobody asked for, and nothing else; the page then."""
    if sites.visit.state["own-notice"] != "open":
        return None
    close = find_target(sites.visit.page(), ScriptedAction("CLICK", "own-notice-close"), "")
    return sites.step(Action("CLICK", close.node_id)).view


def walk(sites: SampleSitesEnvironment, name: str, seed: int = 0) -> list[str]:
    """Do as recorded, trying again what failed and closing what is in the way; the pages before each step."""
    view = sites.reset(name, seed).view
    pages = []
    for turn in conversations()[name].turns:
        for action in turn.actions:
            view = closed(sites) or view
            node_id = find_target(sites.visit.page(), action, name).node_id
            pages.append(view.html)
            effect = sites.step(Action(action.operation, node_id, action.value))
            assert "not done" not in effect.words, (name, action)
            if FAULT in effect.words:
                closed(sites)
                effect = sites.step(Action(action.operation, node_id, action.value))
            view = effect.view
        assert effect.turn is not None, (name, turn.instruction)
        assert effect.turn.reached
        assert effect.turn.side_effects == ()
    assert (effect.done, effect.reward) == (True, 1.0)
    return pages


@pytest.mark.slow
def test_pages_are_those_of_the_recorded_sample(sites) -> None:
    """But for boxes, which the recorded ones only estimate."""
    name = "nordline-a-better-berth"
    pages = walk(sites, name)

    script = next(one for one in read_script(SCRIPTS / "nordline.txt") if one.name == name)
    recorded = [step["cleaned_html"] for turn in record(SITES["nordline"], script)["turns"] for step in turn["actions"]]
    assert len(pages) == len(recorded)
    assert _plain(pages[0]) == _plain(recorded[0])


def _plain(html: str) -> list[tuple[str, dict[str, str], str]]:
    kept = [(one.tag, dict(one.attrib), (one.text or "").strip()) for one in parse(html).iter("*")]
    return [
        (tag, {k: v for k, v in found.items() if "rect" not in k and k != "backend_node_id"}, t)
        for tag, found, t in kept
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_the_recorded_path_reaches_every_turn(sites, name: str, seed: int) -> None:
    walk(sites, name, seed)


@pytest.mark.slow
def test_a_wide_window_is_drawn_smaller_at_the_place_that_it_is_scrolled_to(sites) -> None:
    sites.reset("nordline-a-better-berth", 0)
    size = sites._current().viewport_size
    above = sites.picture()
    assert (above.width, above.height) == (1280, 900)
    assert size_of(above.data) == (960, 675)
    assert len(above.data) < 100_000
    assert sites.step(Action("SCROLL", None, "200")).words == "scrolled by 200"
    below = sites.picture()
    assert below.data != above.data
    moved = {above.boxes[node][1] - below.boxes[node][1] for node in above.boxes.keys() & below.boxes.keys()}
    (by,) = moved - {0}  # what stays at the top of the window does not move
    assert by > 0
    assert sites._current().viewport_size == size


def size_of(jpeg: bytes) -> tuple[int, int]:
    """Width and height that stand in the head of a picture's frame."""
    at = next(jpeg.index(mark) for mark in (b"\xff\xc0\x00\x11\x08", b"\xff\xc2\x00\x11\x08") if mark in jpeg)
    return int.from_bytes(jpeg[at + 7 : at + 9]), int.from_bytes(jpeg[at + 5 : at + 7])


def test_an_agent_that_does_nothing_reaches_nothing(sites) -> None:
    start = sites.reset("harbourcity-brown-bin", 0)
    assert len(start.later) == 3
    ended = [sites.step(Action("STOP")) for _ in range(4)]
    assert [effect.turn.reached for effect in ended if effect.turn] == [False] * 4
    assert [effect.done for effect in ended] == [False, False, False, True]
    assert ended[-1].reward == 0.0


@pytest.mark.slow
def test_a_turn_ends_after_its_limit(sites) -> None:
    sites.reset("harbourcity-brown-bin", 0)
    limit = turn_limit(conversations()["harbourcity-brown-bin"].turns[0])
    ended = [sites.step(Action("PRESS", None, "Tab")).turn for _ in range(limit)]
    assert [turn is not None for turn in ended] == [False] * (limit - 1) + [True]


@pytest.mark.slow
def test_the_same_visit_gives_the_same_pages_and_back_goes_back(sites) -> None:
    first = sites.reset("fernandfell-boot-fitting", 3).view
    node = next(node for node, said in first.names.items() if said == "[link]  Our shops")
    shops = sites.step(Action("CLICK", node)).view
    assert shops.url.endswith("/shops")
    assert sites.step(Action("LOAD", None, "back")).view.html == first.html
    assert sites.reset("fernandfell-boot-fitting", 3).view.html == first.html
    assert "not done" in sites.step(Action("CLICK", "999999")).words


def test_what_a_turn_leaves_out_is_told_to_who_asks(sites, monkeypatch) -> None:
    monkeypatch.setattr(sites, "asking", True)
    start = sites.reset("harbourcity-brown-bin", 0)
    assert (start.instruction, start.later[0]) == (
        conversations()["harbourcity-brown-bin"].turns[0].instruction,
        "Only mine.",
    )
    assert sites.step(Action("STOP")).turn.needed is False
    assert sites.step(Action("SAY", None, "Shall I go on?")).said == NOTHING_MORE
    effect = sites.step(Action("SAY", None, "Which bin?"))
    assert (effect.said, effect.words) == ("the brown one.", "the user says: the brown one.")
    ended = sites.step(Action("STOP")).turn
    assert (ended.asked, ended.needed, ended.told_after, ended.reached) == (2, True, 1, False)


@pytest.fixture
def server() -> Iterator[SiteServer]:
    server = SiteServer()
    server.start()
    yield server
    server.stop()


def test_a_visit_is_changed_by_its_own_site_only(server) -> None:
    visit = SiteVisit(SITES["nordline"], VisitState(page="home"))
    key = server.begin(visit)
    press = json.dumps({"press": next(node.node_id for node in visit.page().walk() if node.key == "menu-my-trip")})

    def told(body: str = press, **headers: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        length = headers.pop("length", str(len(body)))
        connection.request("POST", "/act", body, {"Cookie": f"visit={key}", "Content-Length": length, **headers})
        return connection.getresponse().status

    own = f"nordline.localhost:{server.port}"
    assert told(Host=own, Origin="http://evil.example") == 403
    assert (
        told(Host=f"fernandfell.localhost:{server.port}", Origin=f"http://fernandfell.localhost:{server.port}") == 403
    )
    assert visit.state["page"] == "home"
    for strange in ('{"show": 1e400}', "[" * 90_000, "[]", '{"put": "x"}', "7"):
        assert told(strange, Host=own, Origin=f"http://{own}") == 400, strange[:20]
    for length in ("abc", "-1", "٣"):
        assert told(Host=own, Origin=f"http://{own}", length=length.encode().decode("latin1")) == 403
    assert told(Host=own, Origin=f"http://{own}") == 200
    assert visit.state["page"] == "trip"


class FirstTurn:
    """Opens the house that the first turn asks for, and has no action afterwards."""

    def prepare(self, conversation_ids: Sequence[int]) -> None:
        pass

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        return [self._decided(seen) for seen in observations]

    def _decided(self, seen: Observation) -> Decision:
        assert len(seen.earlier_instructions) == seen.turn_index
        if seen.turn_index:
            return Decision(())
        links = [one for one in parse(seen.html).iter("a") if "Quinta da Névoa" in "".join(one.itertext())]
        return Decision((Action("CLICK", links[0].get("backend_node_id")),))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_command_plays_conversations_turn_by_turn(has_chromium, monkeypatch) -> None:
    monkeypatch.setattr(running, "build_pipeline", lambda run, llm: FirstTurn())
    out = io.StringIO()
    names = ("--conversations", "casaverde-family-in-the-clouds", "--episodes", "1")
    call_command("run_live", "grounded", "sample-sites", *names, "--inline", "--json", stdout=out, stderr=io.StringIO())
    found = json.loads(out.getvalue())
    assert (found["state"], found["limits"]["steps"]) == ("done", 200)
    metrics = {name: row["value"] for name, row in found["metrics"].items()}
    assert metrics["live_turn_success"] == pytest.approx(1 / 6)
    assert (metrics["episode_success"], metrics["path_ratio"], metrics["side_effects"]) == (0.0, 1.0, 0.0)
    assert "recovery" not in metrics
    run = Run.objects.get()
    steps = list(run.steps.order_by("seq"))
    assert [step.turn.index for step in steps] == [0, 1, 2, 3, 4, 5]
    assert [step.trace["turn"]["reached"] for step in steps] == [True] + [False] * 5
    assert steps[0].outcome.endswith("the turn is over, as asked")
    conversation = Dataset.objects.get().conversations.get()
    assert (conversation.website.name, conversation.turns.count()) == ("casaverde", 6)
    assert conversation.split == conversations()[conversation.extra["task"]].split == "test_subdomain", "not dev"
    assert run.trajectories.get().state == Trajectory.State.DONE
    assert [turn["step_count"] for turn in run.trajectories.get().outline()] == [1] * 6


def test_a_person_points_at_elements_and_finds_fields_in_the_window(sites) -> None:
    """These websites number their elements themselves."""
    view = sites.reset("nordline-with-an-old-dog", 0).view
    view = closed(sites) or view
    fields = sites.window().fields
    assert {field.node_id for field in fields} <= view.names.keys()
    first = next(field for field in fields if field.options and "Elvsund" in field.options)
    assert sites.at(first.left + 2, first.top + 2) == first.node_id

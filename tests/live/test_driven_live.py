"""A live run that a person stops, drives and hands back: nothing goes on meanwhile, and what they did is kept."""

import time
from collections.abc import Callable, Sequence
from threading import Thread

import pytest
from django.db import connection

from agents.live import patience
from agents.live import running as live_running
from agents.live.goals import LiveGoals, new_goals
from agents.models import AskedAction, CannotDrive, Drive, HeldStep, Trajectory, TrajectoryStep
from agents.models import driving as driving_rows
from agents.training.kinds.grounded import examples
from agents.training.samples.rows import SplitRows
from agents.types import Observation
from annotations.datasets.miniwob_demos import split_of
from annotations.jobs import stopping
from annotations.models import Conversation, Dataset, Step
from evaluation.models import Score, Study
from evaluation.studies.running import create_study, run_inline
from tests import factories
from tests.live.oracle_agent import OraclePipeline, play_oracles
from tests.live.test_held_live import RiskyOracle
from tests.quick import first_is_quick

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("kept_browsers")]

ANY: AskedAction = {"operation": "CLICK", "node_id": None, "value": "", "point": None}


def wait_for(what: Callable[[], object]) -> None:
    for _ in range(1000):
        if what():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen")


class Person:
    """Somebody who stops the only episode before its first decision, and what they do then, in a thread."""

    def __init__(self, does: Callable[["Person"], None], state: str = "driven") -> None:
        self.user, self.does, self.error = factories.make_user(username="ada"), does, None
        self.state = state
        self.thread = Thread(target=self._act)

    def _act(self) -> None:
        try:
            self.does(self)
        except BaseException as error:  # told by the test's own thread
            self.error = error
        finally:
            connection.close()

    def take(self) -> None:
        self.drive = Drive.objects.take(Trajectory.objects.get(), self.user, self.state)

    def window(self, number: int) -> dict:
        def shown() -> bool:
            self.drive.refresh_from_db()
            return self.drive.number >= number and self.drive.asked is None

        wait_for(shown)
        return self.drive.window

    def do(self, operation: str, node_id: str | None = None, value: str = "", point: list | None = None) -> None:
        token, seen = str(self.drive.lease_token), self.drive.number
        self.drive.ask(token, seen, {"operation": operation, "node_id": node_id, "value": value, "point": point})

    def hand_back(self) -> None:
        self.drive.hand_back(str(self.drive.lease_token))


@pytest.fixture
def played(miniwob, monkeypatch) -> Callable[..., list[TrajectoryStep]]:
    """`played(task, does)`: the steps of one episode which a person takes over before its first decision."""

    def play(
        task: str,
        does: Callable[[Person], None],
        pipeline: OraclePipeline | None = None,
        state: str = "driven",
        split: str = "dev",
    ) -> list[TrajectoryStep]:
        goals = new_goals(factories.make_project(), "goals", "miniwob", steps=6)
        LiveGoals(goals, miniwob).add([task], range(1), split=split)
        play_oracles(monkeypatch, pipeline or OraclePipeline())
        settings = {"act.guard": "policy", "act.guard_seconds": "60"}
        study = create_study(user=None, dataset=goals, recipes=["grounded"], publish=False, overrides=settings)
        person = Person(does, state)
        if not isinstance(pipeline, RiskyOracle):
            person.take()
        person.thread.start()
        run_inline(study)
        person.thread.join()
        if person.error:
            raise person.error
        return list(TrajectoryStep.objects.filter(run__studies=study).order_by("seq"))

    return play


@pytest.mark.slow
def test_a_person_drives_and_hands_back_and_the_agent_goes_on(played) -> None:
    def types_the_name(person: Person) -> None:
        first = person.window(1)
        name, password = first["fields"]
        assert [name["kind"], password["kind"]] == ["text", "password"]
        said = first["instruction"].split('"')
        person.do("TYPE", name["node_id"], said[1])
        second = person.window(2)
        assert second["fields"][0]["value"] == said[1]
        with pytest.raises(CannotDrive, match="look at the page"):
            person.drive.ask(str(person.drive.lease_token), 1, ANY)
        person.hand_back()

    steps = played("login-user", types_the_name)
    assert [(step.operation, bool(step.done_by)) for step in steps] == [
        ("TYPE", True),
        ("TYPE", False),
        ("CLICK", False),
    ]
    assert (steps[-1].reward, steps[0].done_by.username) == (1.0, "ada")
    told = steps[0].trace["act"]
    (proposed,) = told["proposed"]
    assert proposed["representation"] == told["representation"]
    assert (proposed["node_id"], proposed["value"]) == (steps[0].node_id, steps[0].value)
    assert Drive.objects.get().state == "back"
    assert Drive.objects.get().picture is None


@pytest.mark.slow
def test_a_click_at_a_point_is_a_click_on_what_is_there(played) -> None:
    def clicks(person: Person) -> None:
        window = person.window(1)
        person.drive.refresh_from_db()
        assert bytes(person.drive.picture).startswith(b"\xff\xd8")
        assert (window["width"], window["height"]) == (332, 214)
        (node,) = [node for node, name in window["names"] if "Click Me" in name]
        for point in ([300.0, 5.0], None):  # beside it: nothing comes of it
            person.do("CLICK", None if point else node, point=point)
            if point:
                person.window(2)

    steps = played("click-test", clicks)
    assert [(step.reward, bool(step.done_by)) for step in steps] == [(0.0, True), (1.0, True)]
    assert steps[0].outcome == "clicked at 300,5"
    assert Drive.objects.get().state == "over"


@pytest.mark.slow
def test_the_agent_stands_still_while_it_is_paused(played) -> None:
    decided: list[int] = []

    def looks_and_resumes(person: Person) -> None:
        person.window(1)
        time.sleep(0.6)
        assert not decided
        assert not TrajectoryStep.objects.exists()
        with pytest.raises(CannotDrive, match="only paused"):
            person.do("CLICK", "3")
        person.hand_back()

    def before(seen: Sequence[Observation]) -> None:
        decided.append(len(seen))

    steps = played("click-test", looks_and_resumes, OraclePipeline(before), state="paused")
    assert [(step.reward, step.done_by) for step in steps] == [(1.0, None)]


@pytest.mark.slow
@first_is_quick(("state", "said"), [("paused", "ada had paused it"), ("driven", "ada drove")])
def test_a_hold_that_nobody_ends_ends_the_episode_and_never_hands_back(played, monkeypatch, state, said) -> None:
    monkeypatch.setattr(driving_rows, "HOLD_SECONDS", 1.0)
    steps = played("click-test", lambda person: None, state=state)
    assert [(step.operation, step.outcome) for step in steps] == [("", f"ended: {said}, and did nothing for 1 seconds")]
    assert Drive.objects.get().state == "expired"


@pytest.mark.slow
def test_whoever_takes_over_a_held_action_acts_in_its_place(played) -> None:
    def takes(person: Person) -> None:
        wait_for(lambda: HeldStep.objects.waiting().exists())
        person.take()
        person.window(1)
        person.do("CLICK", HeldStep.objects.get().node_id)

    steps = played("click-test", takes, RiskyOracle())
    assert [(step.reward, step.done_by.username) for step in steps] == [(1.0, "ada")]
    assert (HeldStep.objects.get().state, HeldStep.objects.get().outcome) == ("taken", "held, taken over by ada")
    assert steps[0].trace["act"]["decided"] == "held, taken over by ada"


@pytest.mark.slow
def test_others_get_the_worker_while_a_person_thinks_and_nothing_is_lost(played, monkeypatch) -> None:
    monkeypatch.setattr(patience, "DRIVEN_SECONDS", 0.0)
    given_back: list[int] = []
    park = live_running.parked.park

    def counted(parked: live_running.parked.ParkedEpisode) -> None:
        given_back.append(1)
        park(parked)

    monkeypatch.setattr(live_running.parked, "park", counted)

    def thinks(person: Person) -> None:
        window = person.window(1)
        wait_for(lambda: len(given_back) > 2)
        (node,) = [node for node, name in window["names"] if "Click Me" in name]
        person.do("CLICK", node)

    assert [(step.reward, bool(step.done_by)) for step in played("click-test", thinks)] == [(1.0, True)]


@pytest.mark.slow
def test_a_worker_that_stops_while_a_person_drives_loses_no_step_of_theirs(played, monkeypatch) -> None:
    def types(person: Person) -> None:
        person.window(1)
        person.do("TYPE", person.drive.window["fields"][0]["node_id"], "half")
        person.window(2)
        stops.append(True)

    stops: list[bool] = []
    park = live_running.LiveRun._park

    def stopped(run: live_running.LiveRun) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(stopping, "asked", lambda: bool(stops))
            park(run)

    monkeypatch.setattr(patience, "DRIVEN_SECONDS", 0.0)
    monkeypatch.setattr(live_running.LiveRun, "_park", stopped)
    steps = played("login-user", types)
    lost = "ended: the browser was lost while ada drives; what was done before is kept"
    assert [(step.operation, step.value, step.outcome == lost) for step in steps] == [
        ("TYPE", "half", False),
        ("", "", True),
    ]
    assert (Drive.objects.get().state, Trajectory.objects.get().state) == ("lost", "done")
    assert Study.objects.get().runs.get().state in ("done", "done_with_errors")


@pytest.mark.slow
def test_what_a_person_showed_is_a_demonstration_that_training_takes(played) -> None:
    def shows(person: Person) -> None:
        said = person.window(1)["instruction"].split('"')
        person.do("TYPE", person.drive.window["fields"][0]["node_id"], said[1])
        person.window(2)
        person.do("TYPE", person.drive.window["fields"][1]["node_id"], said[3])
        person.window(3)
        person.hand_back()

    steps = played("login-user", shows)
    assert steps[-1].reward == 1.0
    demonstrated = Dataset.objects.get(name="goals-shown")
    conversation = demonstrated.conversations.get()
    assert conversation.extra["source"] == "human correction"
    assert conversation.extra["people"] == ["ada"]
    rows = Step.objects.filter(turn__conversation=conversation).order_by("index")
    assert [(row.operation, row.value, row.extra["by"], row.targets.count()) for row in rows] == [
        ("TYPE", steps[0].value, "ada", 1),
        ("TYPE", steps[1].value, "ada", 1),
        ("CLICK", "", "agent", 0),
    ]
    learned = list(examples(SplitRows(demonstrated, "train")))
    assert [(one.step.action.operation, one.step.action.value) for one in learned] == [
        ("TYPE", row.value) for row in rows[:2]
    ]
    found = {metric.metric: metric.value for metric in Score.objects.filter(preset="corrected")}
    assert found["human_share"] == pytest.approx(2 / 3)


@pytest.mark.slow
@pytest.mark.parametrize(("split", "kept"), [("dev", "train"), ("test_task", "test_task")])
def test_what_is_shown_of_a_goal_is_for_training_unless_it_is_a_test(played, split: str, kept: str) -> None:
    """The task lies in a test split of recorded demonstrations, which says nothing of what is shown."""
    assert split_of("click-test-2", "click-test-2-0") == "test_website"

    def shows(person: Person) -> None:
        names = person.window(1)["names"]
        person.do("CLICK", next(node for node, name in names if name.endswith("ONE")))

    assert played("click-test-2", shows, split=split)[-1].reward == 1.0
    assert Conversation.objects.get(dataset__name="goals-shown").split == kept


@pytest.mark.slow
def test_what_led_nowhere_is_no_demonstration(played) -> None:
    def fails(person: Person) -> None:
        person.window(1)
        person.do("TYPE", person.drive.window["fields"][0]["node_id"], "nobody")
        window = person.window(2)
        (login,) = [node for node, name in window["names"] if "button" in name]
        person.do("CLICK", login)

    assert played("login-user", fails)[-1].reward < 1
    assert not Dataset.objects.filter(name="goals-shown").exists()

"""A replay as one file and by a link: what is in it, who may have it, when it ends, and that it does no harm."""

import base64
import re
import time

import pytest
from django.test import Client

from agents.replay import file
from annotations.dom.marks import MarkedRegion
from annotations.models import AccessEvent, Conversation, Membership, Role, Snapshot, Step
from evaluation.models import Review
from evaluation.models.page_regions import PageRegion
from tests import factories
from tests.signed_in import client_of
from tests.web.replay_world import PAGE, make_replay
from tests.web.test_faithful_page import record

pytestmark = pytest.mark.django_db
HOSTILE = PAGE.format(
    title='<script backend_node_id="70">document.title = "run"</script>Films <img backend_node_id="71" '
    'src="http://127.0.0.1:9/pixel" onerror="alert(1)"/><iframe backend_node_id="72" src="http://127.0.0.1:9/"/>',
    links="",
)


def member(world, role=Role.REVIEWER, **options) -> Client:
    return client_of(factories.make_user(role, world.trajectory.run.dataset.project, **options))


def address(world, what: str) -> str:
    return f"/trajectories/{world.trajectory.pk}/{what}/"


def made_link(client: Client, world, days: str = "7") -> str:
    answer = client.post(address(world, "share"), {"days": days})
    assert answer.status_code == 200
    return answer.context["link"].removeprefix("http://testserver")


@pytest.fixture(autouse=True)
def _host(settings):
    settings.APP_ORIGIN = "http://testserver"


def test_the_file_holds_every_step_with_its_page_and_what_led_to_the_decision():
    world = make_replay()
    answer = member(world).get(address(world, "file"))
    text = answer.content.decode()
    assert answer["Content-Disposition"].startswith('attachment; filename="replay-')
    assert text.count('class="packed"') == 8
    assert text.count('<details class="step wrong"') == 2
    for said in ("Only the ones rated PG-13.", "wrong element · gold was rank 2 of 36", "Element: button DVD $1.75"):
        assert said in text
    assert "6 of 8 steps right" in text
    assert AccessEvent.objects.get(action="download").what.startswith("downloaded replay-")


def test_screenshots_are_in_the_file_recorded_ones_and_those_of_episodes_while_there_is_room(monkeypatch):
    world = make_replay()
    first, second = world.trajectory.steps.order_by("seq")[:2]
    Step.objects.filter(pk=first.step_id).update(screenshot=factories.make_screenshot())
    factories.make_step_picture(second, b"RIFF" + b"x" * 3000)
    shots = re.findall(r'<img\s+class="shot" src="data:image/png;base64,([^"]+)"', made(world))
    assert [base64.b64decode(one) for one in shots] == [factories.PNG, b"RIFF" + b"x" * 3000]
    monkeypatch.setattr(file, "MAX_BYTES", 2000)
    assert "eHh4" * 50 not in made(world)  # the second has no room any more


def made(world) -> str:
    return file.ReplayFile(world.trajectory).made().decode()


def test_it_names_nothing_that_would_be_fetched():
    text = file.ReplayFile(make_replay().trajectory).made().decode()
    assert "http://" not in text
    assert "https://" not in text
    assert "default-src &#x27;none&#x27;" in text


def test_what_agents_and_people_wrote_stays_text():
    world = make_replay(0)
    step = world.store(0, error="</pre><script>alert(1)</script>")
    step.trace["plan"]["reply"] = "<img src=x onerror=alert(1)>"
    step.save()
    text = file.ReplayFile(world.trajectory).made().decode()
    assert text.count("<script") == 1
    assert "<img" not in text


@pytest.mark.slow
def test_pages_beyond_what_a_file_may_hold_are_left_out_those_of_wrong_steps_last(monkeypatch):
    monkeypatch.setattr(file, "MAX_PAGES", 2)
    text = file.ReplayFile(make_replay().trajectory).made().decode()
    assert text.count('class="packed"') == 2
    assert text.count(file.LEFT_OUT) == 6
    wrong = [part for part in text.split("<details")[1:] if part.startswith(' class="step wrong"')]
    assert all('class="packed"' in part for part in wrong)
    monkeypatch.setattr(file, "MAX_BYTES", 10)
    assert 'class="packed"' not in file.ReplayFile(make_replay().trajectory).made().decode()


@pytest.mark.slow
def test_who_may_not_export_or_see_the_gold_gets_neither_file_nor_link():
    world = make_replay(split="test_task")
    for what in ("file", "share"):
        assert member(world, Role.ANNOTATOR).get(address(world, what)).status_code == 403
        assert member(world, Role.REVIEWER).get(address(world, what)).status_code == 403
        stranger = client_of(factories.make_user("admin", factories.make_project()))
        assert stranger.get(address(world, what)).status_code == 404


def test_a_test_split_has_a_file_for_those_who_see_its_gold_and_a_link_for_nobody():
    world = make_replay(split="test_task")
    client = member(world, sees_test_gold=True)
    assert client.get(address(world, "file")).status_code == 200
    answer = client.post(address(world, "share"), {"days": "7"})
    assert answer.status_code == 400
    assert "shown to nobody without an account" in answer.content.decode()
    assert "link" not in answer.context


def test_a_link_shows_the_replay_without_an_account_and_is_written_down():
    world = make_replay()
    link = made_link(member(world), world)
    answer = Client().get(link)
    assert answer.status_code == 200
    assert answer["Content-Security-Policy"].startswith("sandbox allow-scripts; default-src 'none'")
    assert "Only the ones rated PG-13." in answer.content.decode()
    assert AccessEvent.objects.filter(action="export", what="made a link to a replay for 7 days").count() == 1


@pytest.mark.parametrize("days", ["", "0", "365", "x"])
def test_a_link_holds_for_one_seven_or_thirty_days(days):
    world = make_replay(1)
    answer = member(world).post(address(world, "share"), {"days": days})
    assert answer.status_code == 400
    assert "Choose for how long" in answer.content.decode()


def test_a_link_ends_after_its_days(monkeypatch):
    world = make_replay(1)
    link, now = made_link(member(world), world, "1"), time.time()
    monkeypatch.setattr("django.core.signing.time.time", lambda: now + 86_000)
    assert Client().get(link).status_code == 200
    monkeypatch.setattr("django.core.signing.time.time", lambda: now + 86_500)
    answer = Client().get(link)
    assert answer.status_code == 410
    assert "no longer works" in answer.content.decode()


def test_a_link_ends_when_the_rights_of_its_maker_change():
    world = make_replay(1)
    link = made_link(member(world), world)
    Membership.objects.filter(project=world.trajectory.run.dataset.project).update(role=Role.READER)
    assert Client().get(link).status_code == 410


def test_a_link_ends_when_the_conversation_comes_to_a_test_split():
    world = make_replay(1)
    link = made_link(member(world), world)
    assert Client().get(link).status_code == 200
    Conversation.objects.update(split="test_task")
    answer = Client().get(link)
    assert answer.status_code == 410
    assert "test split" in answer.content.decode()


def test_a_link_that_was_changed_is_none():
    world = make_replay(1)
    link = made_link(member(world), world)
    assert Client().get(link.replace("/shared-replays/", "/shared-replays/x")).status_code == 404
    assert Client().get("/shared-replays/x/").status_code == 404


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)  # beside a browser, rows are made on a connection of their own
def test_it_opens_offline_shows_the_pages_and_runs_nothing_of_theirs(page, tmp_path):
    world = make_replay()
    snapshot = factories.make_snapshot(HOSTILE)
    Step.objects.filter(pk=world.steps[4].pk).update(snapshot=snapshot)
    assert Snapshot.objects.get(pk=snapshot.pk).html.count("<script") == 1
    path = tmp_path / "replay.html"
    path.write_bytes(file.ReplayFile(world.trajectory).made())
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url.partition(":")[0]))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("console", lambda message: said.append(message.text))
    page.goto(path.as_uri())
    assert page.locator("details.step:visible").count() == 8
    page.get_by_label("Only failures").check()
    assert page.locator("details.step:visible").count() == 2
    page.locator("h1").click()
    page.keyboard.press("n")
    frame = page.locator("details[open] iframe").content_frame
    frame.get_by_text("Blu-ray $2.00").wait_for()
    assert frame.get_by_text("gold · rank 13").is_visible()
    assert page.title() != "run"
    page.keyboard.press("n")
    page.locator("details[open] iframe").content_frame.get_by_text("Films, page 8").wait_for()
    assert set(asked) <= {"file", "blob"}
    assert said == []


def say(world, seq: int, region: PageRegion | None = None, comment: str = "") -> Review:
    step, user = world.trajectory.steps.get(seq=seq), factories.make_user(Role.REVIEWER, username=f"rita-{comment}")
    return Review.objects.give(world.trajectory, step, user, "agent_wrong", comment=comment, region=region)


def region_at(left: float, top: float, layout: float) -> PageRegion:
    return PageRegion("snapshot", left, top, 120, 40, layout, max(layout, 800), 2_000)


def test_what_reviewers_said_of_a_step_is_in_the_file_without_their_names():
    world = make_replay()
    say(world, 2, region_at(30, 60, 700), "This one.")
    say(world, 2, None, "</li><script>")
    say(world, 3, None, "taken back")
    Review.objects.filter(comment="taken back").update(verdict="")
    text = file.ReplayFile(world.trajectory).made().decode()
    assert "1 · agent wrong: This one. (region 120 × 40 at 30, 60 of the page, laid out 700 wide)" in text
    assert "<li>agent wrong: &lt;/li&gt;&lt;script&gt;</li>" in text
    assert text.count('data-width="700"') == text.count("data-width=") == 1
    assert "rita" not in text
    assert "taken back" not in text


def test_regions_of_another_layout_are_said_in_words_only():
    """Their numbers would name another place."""
    notes = [
        file.StepNote("1", MarkedRegion(1, 2, 3, 4, "1"), "snapshot", 700),
        file.StepNote("2", MarkedRegion(1, 2, 3, 4, "2"), "snapshot", 900),
        file.StepNote("3", MarkedRegion(1, 2, 3, 4, "3"), "raw_snapshot", 700),
        file.StepNote("4"),
        file.StepNote("5", MarkedRegion(1, 2, 3, 4, "5"), "snapshot", 700),
    ]
    assert [one.words for one in file._drawn(notes, "snapshot")] == ["1", "5"]
    assert [one.words for one in file._drawn(notes, "raw_snapshot")] == ["3"]


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_page_is_laid_out_as_wide_as_it_was_recorded_where_that_is_known(page, tmp_path):
    world = make_replay()
    record(world, 2)
    path = tmp_path / "replay.html"
    path.write_bytes(file.ReplayFile(world.trajectory).made())
    page.set_viewport_size({"width": 500, "height": 800})
    page.goto(path.as_uri())
    for seq, width in ((2, 1280), (3, None)):
        page.locator("details.step").nth(seq).locator("summary").press("Enter")  # a click might meet the frame above
        frame = page.locator("details.step").nth(seq).locator("iframe")
        frame.content_frame.locator("h1").wait_for()
        layout = frame.content_frame.locator(":root").evaluate("(root) => root.clientWidth")
        assert layout == width if width else layout < 500
        assert frame.bounding_box()["width"] < 500


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("width", [1280, 500])
def test_a_region_lies_where_it_was_drawn_whatever_the_window_is(page, tmp_path, width):
    world = make_replay()
    say(world, 2, region_at(30, 660, 700), "Here.")
    path = tmp_path / "replay.html"
    path.write_bytes(file.ReplayFile(world.trajectory).made())
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(path.as_uri())
    page.locator("details.step").nth(2).locator("summary").click()
    frame = page.locator("details[open] iframe").content_frame
    box = frame.locator("#region-1")
    box.wait_for(state="attached")
    assert box.inner_text() == "1"
    place = box.evaluate(
        "box => ({x: box.getBoundingClientRect().x + scrollX, y: box.getBoundingClientRect().y + scrollY,"
        " width: box.offsetWidth, height: box.offsetHeight, layout: document.documentElement.clientWidth})"
    )
    assert place == {"x": 30, "y": 660, "width": 120, "height": 40, "layout": 700}
    seen = page.locator("details[open] iframe").bounding_box()
    assert seen["width"] <= width

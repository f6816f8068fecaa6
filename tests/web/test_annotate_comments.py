"""Talking at work in a real browser: comments by keys, the inbox, and keys that people have chosen."""

import json
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotations.desk.discuss import comments, mail
from annotations.desk.keys import keymaps
from annotations.models import Comment, KeyMap
from tests import factories
from tests.annotations.work_world import make_verification
from tests.signed_in import client_of

expect.set_options(timeout=15_000)


def choose(client: Client, **body):
    return client.post(reverse("keys-choose"), json.dumps(body), content_type="application/json")


def test_commands_are_read_from_templates_and_the_scripts_they_load():
    found = keymaps.commands()
    sections = {"Datasets": "g d", "Annotate": "g q", "Runs": "g r", "Studies": "g s", "Agents": "g a", "Models": "g m"}
    sections |= {"Jobs": "g j", "People": "g p", "Operations": "g o"}
    assert found["everywhere"] == sections | {"Inbox": "g i", "Search": "/"}
    assert not [label for own in found.values() for label in own if "{" in label]  # part of a template
    assert found["annotations/step"]["Next turn"] == "Shift+ArrowRight"
    assert found["annotate/verify"]["Comment"] == "c"  # bound in a script of its own
    assert found["annotate/verify"]["Accept"] == "a"  # an element of the template
    assert "This sheet" not in keymaps.defaults()


@pytest.mark.django_db
def test_a_chosen_key_is_on_every_page_without_a_query_more():
    client, plain = client_of(factories.make_user("reader")), client_of(factories.make_user("reader"))
    assert choose(client, command="Next turn", key="z").json() == {"keys": {"Next turn": "z"}}
    pages, counts = [], []
    for one in (client, plain):
        with CaptureQueriesContext(connection) as queries:
            pages.append(one.get(reverse("annotate-inbox")).content.decode())
        counts.append(len(queries))
    assert '<script id="key-map" type="application/json">{"Next turn": "z"}</script>' in pages[0]
    assert "key-map" not in pages[1]
    assert counts[0] == counts[1]


@pytest.mark.django_db
def test_another_browser_learns_the_keys_at_sign_in():
    user = factories.make_user("reader")
    choose(client_of(user), command="Next turn", key="z")
    other = Client()
    other.force_login(user)
    assert other.session[keymaps.SESSION_KEY] == {"Next turn": "z"}
    choose(other, reset=True)
    assert keymaps.SESSION_KEY not in other.session
    assert not KeyMap.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("command", "key", "why"),
    [
        ("Accept", "j", "is also the key of “Next part” on annotate/verify"),
        ("Accept", "g", "is also the key of"),  # sequences begin with it
        ("Inbox", "g d", "is also the key of “Datasets” on everywhere"),
        ("Accept", "Ctrl+a", "browsers keep the rest"),
        ("Accept", "F5", "browsers keep the rest"),
        ("Accept", "Tab", "browsers keep the rest"),
        ("Accept", "", "browsers keep the rest"),
        ("Accept", "<script>", "browsers keep the rest"),
        ("Nothing", "z", "no such command"),
        ("This sheet", "z", "no such command"),
    ],
)
def test_keys_that_cannot_be_chosen_are_refused_with_why(command, key, why):
    client = client_of(factories.make_user("reader"))
    answer = choose(client, command=command, key=key)
    assert answer.status_code == 422
    assert why in answer.json()["problems"][0]
    assert not KeyMap.objects.exists()


@pytest.mark.django_db
def test_keys_can_change_places_over_a_free_one_and_go_back():
    client = client_of(factories.make_user("reader"))
    choose(client, command="Move the marked tasks here", key="z")
    assert choose(client, command="Mark the task", key="i").status_code == 200
    back = choose(client, command="Move the marked tasks here", key=None)
    assert "is also the key of “Mark the task”" in back.json()["problems"][0]
    choose(client, command="Mark the task", key=None)
    assert choose(client, command="Move the marked tasks here", key=None).json() == {"keys": {}}
    assert choose(client, command="Search", key=None).status_code == 200
    assert choose(client, command=3, key="a").status_code == 400


@pytest.mark.django_db
def test_a_stored_map_is_checked_when_it_is_read():
    user = factories.make_user("reader")
    KeyMap.objects.create(user=user, keys={"A command of old": "x", "Accept": "z"})
    assert keymaps.chosen(user) == {"Accept": "z"}
    assert Client().post(reverse("keys-choose"), "{}", content_type="application/json").status_code == 401


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_key_is_changed_on_its_page_and_works_on_the_others(app_server, page: Page, sign_in):
    verification = make_verification()
    sign_in(verification.user)
    page.goto(app_server.url("/keys/"))
    row = page.locator('[data-command="Next part"]')
    row.locator("[data-change]").click()
    page.keyboard.press("h")
    expect(page.locator("#said")).to_contain_text("is also the key of “Marks in the page”")
    row.locator("[data-change]").click()
    page.keyboard.press("F5")
    expect(page.locator("#said")).to_contain_text("need this key")
    page.keyboard.press("s")
    expect(row.locator("[data-reset]")).to_be_visible()
    expect(row.locator(".chosen-key kbd")).to_have_text("s")
    page.goto(app_server.url(f"/annotate/verify/{verification.pk}/"))
    expect(page.locator("#action")).to_contain_text("step 1")
    page.keyboard.press("j")
    expect(page.locator(".part[data-current]")).to_have_count(0)
    page.keyboard.press("s")
    expect(page.locator(".part[data-current]")).to_have_attribute("data-number", "1")
    page.goto(app_server.url("/keys/"))
    page.locator('[data-command="Datasets"] [data-change]').click()
    page.keyboard.press("z")
    expect(page.locator('[data-command="Datasets"] [data-reset]')).to_be_visible()
    page.goto(app_server.url(f"/annotate/verify/{verification.pk}/"))
    page.keyboard.press("z")
    page.wait_for_url(app_server.url("/datasets/"))
    page.goto(app_server.url(f"/annotate/verify/{verification.pk}/"))
    page.keyboard.press("?")
    expect(page.locator("#key-sheet dt", has_text="s").first).to_be_visible()
    expect(page.locator("#key-sheet dl", has_text="Next part")).to_contain_text("s Next part")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_comment_is_written_found_in_the_inbox_and_resolved_by_keys(app_server, page: Page, sign_in):
    verification = make_verification()
    subject = verification.item.subject
    project = subject.item.session.campaign.project
    colleague = factories.make_user("reviewer", project, username="nadia")
    sign_in(verification.user)
    page.goto(app_server.url(f"/annotate/verify/{verification.pk}/"))
    expect(page.locator("#comments form")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("c")
    page.keyboard.type("Is this right, @nad")
    page.keyboard.press("Tab")
    page.keyboard.type("?")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#comments .thread")).to_contain_text("part from step 4")
    comment = Comment.objects.get()
    assert comment.text == "Is this right, @nadia ?"
    assert (comment.step_id, comment.is_about_turn) == (subject.parts.order_by("id").last().first_step_id, True)
    assert {mention.user for mention in comment.mentions.all()} == {colleague, subject.user}
    sign_in(subject.user)
    page.goto(app_server.url("/keys/"))
    page.keyboard.press("g")
    page.keyboard.press("i")
    expect(page.locator(".mail.unread")).to_contain_text("Is this right")
    expect(page.locator(".mail a", has_text="Go to it")).to_have_attribute(
        "href", comments.place_url(comment, subject.user)
    )
    sign_in(verification.user)
    page.goto(app_server.url(comments.place_url(comment, verification.user)))
    expect(page.locator(".part[data-current]")).to_have_attribute("data-number", "2")
    expect(page.locator(".remark.wanted")).to_be_visible()
    page.get_by_role("button", name="Resolve", exact=True).click()
    expect(page.locator(".thread.over")).to_contain_text(f"resolved by {verification.user.username}")
    comment.refresh_from_db()
    assert comment.resolved_by == verification.user


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_an_author_is_led_to_the_element_that_a_comment_is_about(app_server, page: Page, sign_in):
    verification = make_verification()
    subject = verification.item.subject
    session = subject.item.session
    step = session.steps()[4]
    comment = comments.say(session, verification.user, "This one?", assignment=subject, step=step, node_id="9")
    sign_in(subject.user)
    with page.expect_response(lambda response: response.url.partition("?")[0].endswith("/seen/")):
        page.goto(app_server.url(comments.place_url(comment, subject.user)))
    expect(page.locator("#action")).to_contain_text("step 5")
    expect(page.locator("#panel-tree .tree-row.current")).to_have_attribute("title", re.compile("element 9$"))
    expect(page.locator(".remark.wanted")).to_contain_text("This one?")
    expect(page.locator("#comments select")).to_contain_text("about step 5")
    assert mail.count_unread(subject.user) == 0

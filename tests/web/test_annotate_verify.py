"""The verify page: who may see it, what it shows, and a verdict given by keys alone."""

import json
import re

import pytest
from django.urls import reverse
from django.utils.html import escape
from playwright.sync_api import Page, expect

from annotations.models import Assignment, Part
from annotations.text.actions import in_words
from annotations.work.verify import verdicts
from tests import factories
from tests.annotations.work_world import add_parts, make_edit, make_rewrite, make_verification
from tests.signed_in import client_of
from tests.web.annotating import pasted
from tests.web.reading import source

expect.set_options(timeout=15_000)


def open_page(verification: Assignment, user=None):
    return client_of(user or verification.user).get(reverse("annotate-verify", args=[verification.pk]))


def judge(verification: Assignment, user=None, **body):
    url = reverse("annotate-verify-judge", args=[verification.pk])
    return client_of(user or verification.user).post(url, json.dumps(body), content_type="application/json")


def taken(verification: Assignment) -> str:
    """A lease of the verifier; its token."""
    return str(verification.take(verification.user).lease_token)


@pytest.mark.django_db
def test_the_page_shows_texts_checklist_and_steps():
    verification = make_verification()
    part = Part.objects.filter(assignment=verification.item.subject).order_by("id").last()
    part.rewrite = "And sort them."
    part.mentions = [{"id": "m", "phenomenon": "pronoun", "start": 9, "end": 13, "text": "them", "antecedent": None}]
    part.save()
    page = source(open_page(verification))
    assert 'class="del">Sort</span>' in page
    assert 'class="ins' in page
    assert 'mention from-1">them</span>' in page
    assert "pronoun “them” → no antecedent" in page
    assert "Every cut lies where the user&#x27;s intent changes." in page
    assert page.count('class="plain turn-step"') == 6
    shown = [in_words(str(step)) for step in verification.item.session.steps()]
    assert all(f">{escape(text)}</span>" in page for text in shown)


@pytest.mark.django_db
def test_parts_that_ask_for_no_clause_of_the_source_are_named_at_their_places():
    """Two tasks of three steps and one clause each; the parts begin at every step of the first, and at the second."""
    session = factories.make_session(tasks=2, steps=3)
    said = ("Look around first.", "Please do part 1 of the task.", "Now stop.", "Something else.")
    rewrite = make_rewrite(session, ())
    add_parts(rewrite, said, every=1)
    page = open_page(make_verification(rewrite))
    rows = [(one.text, one.state, [turn.number for turn in one.turns]) for one in page.context["clauses"]]
    assert rows == [
        ("", "", [1]),
        ("Please do part 1 of the task.", "", [2]),
        ("", "", [3]),
        ("Please do part 1 of the task.", "uncovered", []),
        ("", "", [4]),
    ]
    assert [one.begins_task for one in page.context["clauses"]] == [True, False, False, True, False]
    table = source(page).partition('id="clauses"')[2].partition("</table>")[0]
    assert table.count("No clause of the source") == 3
    assert table.count("faulty") == 1


@pytest.mark.slow
@pytest.mark.django_db
def test_only_reviewers_of_the_project_see_it():
    verification = make_verification()
    project = verification.item.session.campaign.project
    assert open_page(verification, factories.make_user("reviewer")).status_code == 404
    assert open_page(verification, factories.make_user("annotator", project)).status_code == 403
    assert open_page(verification, factories.make_user("admin", project)).status_code == 200
    assert open_page(make_verification(make_rewrite(factories.make_session(split="test_task")))).status_code == 403


@pytest.mark.slow
@pytest.mark.django_db
def test_a_verdict_needs_the_lease_and_the_version_that_was_read():
    verification = make_verification()
    good = {"outcome": "accept", "checklist": {}, "defects": [], "version": 0}
    assert judge(verification, **good).json()["code"] == "lease_lost"
    good["token"] = taken(verification)
    other = factories.make_user("reviewer", verification.item.session.campaign.project)
    assert judge(verification, other, **good).json()["code"] == "taken_over"
    assert judge(verification, **good | {"version": 7}).json()["code"] == "stale"
    assert judge(verification, **good | {"outcome": "maybe"}).status_code == 400
    assert judge(verification, **good | {"outcome": "return"}).status_code == 422
    assert not verification.given.exists()
    assert judge(verification, **good).json() == {"next": None}
    assert verification.given.get().outcome == "accept"


@pytest.mark.slow
@pytest.mark.django_db
def test_after_a_verdict_comes_the_next_item():
    campaign = factories.make_campaign()
    first = make_verification(make_rewrite(factories.make_session(campaign)))
    second = make_verification(make_rewrite(factories.make_session(campaign)), user=first.user, state="assigned")
    answer = judge(first, token=taken(first), outcome="accept", version=0)
    assert answer.json() == {"next": reverse("annotate-verify", args=[second.pk])}


@pytest.mark.django_db
def test_a_verification_can_be_given_back():
    verification = make_verification()
    url = reverse("annotate-verify-give-back", args=[verification.pk])
    body = json.dumps({"token": taken(verification)})
    assert client_of(verification.user).post(url, body, content_type="application/json").status_code == 200
    verification.refresh_from_db()
    assert verification.state == "released"


@pytest.mark.slow
@pytest.mark.django_db
def test_the_next_round_shows_what_changed_since_the_own_verdict():
    verification = make_verification()
    subject = verification.item.subject
    verdicts.give(verification, "return", {}, "The second one is odd.", [{"code": "unnatural"}])
    part = subject.parts.order_by("id").last()
    subject.refresh_from_db()
    make_edit(subject, "text", part.first_step_id, part.rewrite, "Now by price.", field="rewrite")
    Part.objects.filter(pk=part.pk).update(rewrite="Now by price.")
    Assignment.objects.filter(pk=subject.pk).update(state="submitted")
    Assignment.objects.filter(pk=verification.pk).update(state="assigned")
    page = open_page(verification).content.decode()
    assert page.count("part is-changed") == 1
    assert "Since your last verdict" in page
    assert '<span class="ins">Now</span>' in page
    assert "The second one is odd." in page


@pytest.mark.slow
@pytest.mark.django_db
def test_a_second_verifier_does_not_read_the_first_ones_verdict_before_judging():
    subject = make_rewrite()
    first, second = make_verification(subject, overlap=2), make_verification(subject)
    verdicts.give(first, "return", {}, "My secret reason.", [])
    assert "My secret reason." not in open_page(second).content.decode()
    assert "My secret reason." in open_page(first).content.decode()
    verdicts.give(second, "accept", {}, "", [])
    assert "My secret reason." in open_page(second).content.decode()


@pytest.mark.slow
@pytest.mark.django_db
def test_other_annotators_versions_stand_beside_with_their_agreement():
    session = factories.make_session(tasks=2, steps=3)
    verification = make_verification(make_rewrite(session))
    other = make_rewrite(session, texts=("Find red shoes.",))
    assert other.item_id == verification.item.subject.item_id
    page = open_page(verification).content.decode()
    assert "cuts 0.0 · words 100.0" in page


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_rewrite_is_returned_and_accepted_without_the_mouse(app_server, page: Page, sign_in):
    verification = make_verification()
    subject = verification.item.subject
    second = subject.parts.order_by("id").last()
    sign_in(verification.user)
    page.goto(app_server.url(f"/annotate/verify/{verification.pk}/"))
    expect(page.frame_locator("#snapshot iframe:not([aria-hidden])").locator("h1")).to_be_visible()
    expect(page.locator("#accept")).to_be_enabled()
    assert set(marked(page)) == {"none"}, "nobody has looked yet: nothing is ticked off"
    for key in ("j", "j", "5"):
        page.keyboard.press(key)
    expect(page.locator("#checklist .wrong")).to_have_count(1)
    assert [mark for mark in marked(page) if mark != "none"] == ['"✗"']
    expect(page.locator(".part[data-current]")).to_have_attribute("data-number", "2")
    page.keyboard.press("a")
    expect(page.locator("#problems")).to_contain_text("take them back")
    page.keyboard.press("r")
    page.keyboard.type("The price is lost.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#status")).to_contain_text("You have judged this round")
    verdict = verification.given.get()
    assert (verdict.outcome, verdict.reason) == ("return", "The price is lost.")
    assert list(verdict.defects.values_list("code", "step")) == [("value-lost", second.first_step_id)]
    Assignment.objects.filter(pk=subject.pk).update(state="submitted")
    Assignment.objects.filter(pk=verification.pk).update(state="assigned")
    page.reload()
    expect(page.get_by_text("Nothing has changed since your last verdict.")).to_be_visible()
    expect(page.locator("#accept")).to_be_enabled()
    expect(page.locator("#clauses .faulty")).to_have_count(2)
    page.keyboard.press("a")
    expect(page.locator("#problems")).to_contain_text(re.compile(r"\d warnings are open"))
    page.keyboard.press("a")  # asked once
    expect(page.locator("#accept")).to_be_disabled()
    expect(page.locator("#status")).to_contain_text("You have judged this round")
    expect(page.locator("#led-on")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(app_server.url("/annotate/"))
    subject.refresh_from_db()
    assert subject.review == "passed"


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_verifier_is_led_on_from_verdict_to_verdict_and_after_the_last_one(app_server, page: Page, sign_in):
    campaign = factories.make_campaign()
    first = make_verification(make_rewrite(factories.make_session(campaign)))
    second = make_verification(make_rewrite(factories.make_session(campaign)), user=first.user, state="assigned")
    sign_in(first.user)
    page.goto(app_server.url(f"/annotate/verify/{first.pk}/"))
    for verification in (first, second):
        page.wait_for_url(app_server.url(f"/annotate/verify/{verification.pk}/"))
        expect(page.locator("#return")).to_be_enabled()
        expect(page.locator("#led-on")).to_have_count(0)
        for key in ("5", "r"):
            page.keyboard.press(key)
        page.keyboard.type("The price is lost.")
        page.keyboard.press("Control+Enter")
    expect(page.locator("#status")).to_contain_text("You have judged this round")
    expect(page.locator("#led-on")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(app_server.url("/annotate/"))
    assert [one.given.get().outcome for one in (first, second)] == ["return", "return"]


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_reason_that_is_too_long_to_paste_is_said_and_not_cut(app_server, page: Page, sign_in):
    verification = make_verification()
    sign_in(verification.user)
    page.goto(app_server.url(f"/annotate/verify/{verification.pk}/"))
    expect(page.locator("#return")).to_be_enabled()
    page.locator("#reason").fill("Mind: ")
    assert pasted(page, 20_000) is False, "the browser must not paste a part of it"
    expect(page.get_by_role("alert").filter(has_text="Not pasted")).to_have_text(
        "Not pasted: it has 20,000 characters, and 4,994 more fit here."
    )
    expect(page.locator("#reason")).to_have_value("Mind: ")
    assert pasted(page, 4_994) is True, "what fits is left to the browser"
    assert pasted(page, 4_995) is False


def marked(page: Page) -> list[str]:
    """The mark beside each entry of the checklist; "none" where there is none."""
    script = "marks => marks.map((mark) => getComputedStyle(mark, '::before').content)"
    return list(page.locator(".check .mark").evaluate_all(script))


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_what_was_marked_outlives_the_tab(app_server, page: Page, sign_in):
    verification = make_verification()
    sign_in(verification.user)
    page.goto(app_server.url(f"/annotate/verify/{verification.pk}/"))
    expect(page.locator("#return")).to_be_enabled()
    page.keyboard.press("1")
    page.keyboard.press("r")
    page.keyboard.type("Half a reason")
    page.reload()
    expect(page.locator("#reason")).to_have_value("Half a reason")
    expect(page.locator("#checklist .wrong .defects")).to_contain_text("whole conversation")

"""Accepting several verifications at once, on the page by keys alone and over REST."""

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from annotations.access.tokens.granting import make_token
from annotations.models import Assignment, BulkAccept, Campaign
from annotations.work.verify import verdicts
from tests import factories
from tests.annotations.test_work_bulk_accepts import green_rewrite, opened
from tests.signed_in import client_of
from tests.web.api_schema import api_schema
from tests.web.reading import source
from tests.web.test_schema import _as_json_schema, check_answer

expect.set_options(timeout=15_000)


def make_green(count: int) -> tuple[Campaign, list[int]]:
    campaign = factories.make_campaign()
    return campaign, [opened(green_rewrite(campaign)) for _ in range(count)]


@pytest.mark.slow
def test_by_rest_one_reads_the_checks_and_accepts_what_is_green_once(db) -> None:
    schema = _as_json_schema(api_schema())
    campaign, items = make_green(3)
    verifier = factories.make_user("reviewer", campaign.project)
    client = client_of(verifier)
    checks = client.get(f"/api/campaigns/{campaign.pk}/checks/")
    check_answer(schema, "campaigns/{}/checks/", checks, 200)
    assert [(row["item"], row["concerns"]) for row in checks.json()] == [(item, []) for item in items]
    body = {
        "campaign": campaign.pk,
        "items": [{"item": row["item"], "version": row["version"]} for row in checks.json()],
    }
    key = {"Idempotency-Key": "once"}
    made = client.post("/api/bulk-accepts/", body, content_type="application/json", headers=key)
    check_answer(schema, "bulk-accepts/", made, 201, "post")
    again = client.post("/api/bulk-accepts/", body, content_type="application/json", headers=key)
    assert (again.status_code, again.json()) == (201, made.json())
    assert BulkAccept.objects.count() == 1
    assert len(made.json()["held_back"]) == 1
    assert (made.json()["accepted"], made.json()["faulty"]) == (2, {"value": None, "low": 0, "high": 2})
    stale = client.post("/api/bulk-accepts/", body, content_type="application/json")
    check_answer(schema, "bulk-accepts/", stale, 409, "post")
    one = client.post("/api/bulk-accepts/", body | {"items": body["items"][:1]}, content_type="application/json")
    check_answer(schema, "bulk-accepts/", one, 422, "post")
    bad = client.post("/api/bulk-accepts/", body | {"items": [{"item": "x"}]}, content_type="application/json")
    assert bad.status_code == 400


@pytest.mark.slow
def test_by_rest_only_verifiers_of_the_project_accept(db) -> None:
    campaign, items = make_green(2)
    body = {"campaign": campaign.pk, "items": [{"item": item, "version": 0} for item in items]}

    def accept(client: Client, **headers: str) -> int:
        return client.post("/api/bulk-accepts/", body, content_type="application/json", headers=headers).status_code

    assert accept(client_of(factories.make_user("reviewer"))) == 400, "of another project it does not exist"
    assert accept(client_of(factories.make_user("annotator", campaign.project))) == 403
    verifier = factories.make_user("reviewer", campaign.project)
    _, reading = make_token(verifier, ["read"], 1)
    assert accept(Client(), Authorization=f"Token {reading}") == 403
    assert not BulkAccept.objects.exists()
    _, writing = make_token(verifier, ["read", "annotate"], 1)
    assert accept(Client(), Authorization=f"Token {writing}") == 201


@pytest.mark.slow
def test_the_page_says_why_it_refuses_and_takes_nothing_for_granted(db) -> None:
    campaign, items = make_green(3)
    client = client_of(factories.make_user("reviewer", campaign.project))
    url = f"/annotate/campaigns/{campaign.pk}/bulk/"
    Assignment.objects.filter(verified_as=items[0]).update(version=4)
    for sent, said in (
        ({}, "Choose two items at least"),
        ({"item": ["x:1", "1:2:3", "9" * 40 + ":0", "1", "-1:0"]}, "Choose two items at least"),
        ({"item": [f"{item}:0" for item in items]}, "it has changed"),
    ):
        assert said in client.post(url, sent, follow=True).content.decode()
    assert not BulkAccept.objects.exists()
    assert client.put(url).status_code == 405


@pytest.mark.slow
def test_a_verifier_is_told_that_an_item_was_held_back(db) -> None:
    campaign, items = make_green(2)
    verifier = factories.make_user("reviewer", campaign.project)
    client = client_of(verifier)
    page = client.post(
        f"/annotate/campaigns/{campaign.pk}/bulk/", {"item": [f"{item}:0" for item in items]}, follow=True
    )
    assert "Accepted 1. Held back for a second look: 1" in page.content.decode()
    assert "waits for a person" in page.content.decode()
    held = BulkAccept.objects.get().held_back.get().item
    own = held.hand(verifier, 0)
    assert 'id="held-back"' in source(client.get(f"/annotate/verify/{own.pk}/"))
    verdicts.give(own, "return", {}, "The size is lost.", [])
    page = source(client.get(f"/annotate/campaigns/{campaign.pk}/bulk/"))
    assert ">returned<" in page
    accepted = Assignment.objects.filter(item__stage="verify", user=verifier).exclude(item=held).get()
    assert 'id="held-back"' not in source(client.get(f"/annotate/verify/{accepted.pk}/"))


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_green_items_are_accepted_by_keys_alone(app_server, page: Page, sign_in) -> None:
    campaign, items = make_green(4)
    verifier = factories.make_user("reviewer", campaign.project)
    sign_in(verifier)
    page.goto(app_server.url(f"/annotate/campaigns/{campaign.pk}/"))
    page.keyboard.press("b")
    expect(page.locator("#ticked")).to_have_text("4")
    page.keyboard.press("X")
    expect(page.locator("#accept")).to_be_disabled()
    page.keyboard.press("X")
    for key in ("j", "j", "x"):
        page.keyboard.press(key)
    expect(page.locator("#ticked")).to_have_text("3")
    page.keyboard.press("a")
    expect(page.get_by_text("Accepted 2. Held back for a second look: 1")).to_be_visible()
    made = BulkAccept.objects.get()
    assert made.size == 3
    chosen = {verdict.verification.item_id for verdict in made.accepted.all()} | {made.held_back.get().item_id}
    assert chosen == {items[0], items[2], items[3]}

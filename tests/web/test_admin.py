"""The admin, table by table: it opens, searches, reads no blobs and asks a constant number of queries."""

import re

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from knox.models import AuthToken
from pghistory.models import Event

from agents.models import Connection
from annotations.models import (
    AccessEvent,
    IdempotencyKey,
    Invite,
    Membership,
    PageDictionary,
    Snapshot,
    TokenGrant,
    TryCount,
    Webhook,
    Website,
)
from annotations.models.corpus.pages import compress
from annotations.models.corpus.tallies import Tally
from evaluation.models import Breakdown, ReviewedRun, ScannedRun, Study
from tests import factories
from tests.signed_in import client_of
from tests.web.world import World, make_world

pytestmark = pytest.mark.django_db
# Events of the history have a page of their own, the audit trail; what is computed is no table for people.
COMPUTED = (Tally, Breakdown, ReviewedRun, ScannedRun)
OURS = [
    model
    for label in ("annotations", "agents", "evaluation")
    for model in apps.get_app_config(label).get_models()
    if not issubclass(model, (Event, *COMPUTED))
]
ACCOUNTS = [apps.get_model(name) for name in ("auth.User", "auth.Group", "knox.AuthToken", "mfa.Authenticator")]
SUPERUSERS_ONLY = {
    *ACCOUNTS,
    AccessEvent,
    Connection,
    IdempotencyKey,
    Invite,
    Membership,
    TokenGrant,
    TryCount,
    Webhook,
}
# They hold gold of test splits, or repeat it, and the admin knows nobody's right to see it.
SHOW_GOLD = {
    *("Conversation", "Turn", "Step", "Target", "Rationale", "Job", "Snapshot", "PageDictionary", "Screenshot"),
    *("SourceFile", "Session", "Part", "Edit", "Proposal", "Verdict", "Defect", "Comment", "Mention", "MemorySnippet"),
    "SentBack",
    "ReviewMention",
    "ScannerAnswer",
    "Dispute",
    "Curation",
    "CurationChoice",
    "Correction",
    "TurnCorrection",
    *(
        "Workflow",
        "Run",
        "TrajectoryStep",
        "StepPicture",
        "Drive",
        "HeldStep",
        "LlmReply",
        "Shard",
        "ReleasedConversation",
        "JudgeVerdict",
        "Review",
        "ReviewQueue",
        "ReviewTask",
        "RiskForecast",
        "RiskLabel",
    ),
}
BLOBS = [
    *('"annotations_snapshot"."data"', '"annotations_screenshot"."data"', '"annotations_pagedictionary"."data"'),
    *('"candidates"', '"embedding"', '"trace"', '"candidate_ids"', '"report"', '"conversation_ids"'),
    '"agents_run"."recipe",',
]


def by_name(model: type[Model]) -> str:
    return model._meta.label_lower


def url_of(model: type[Model], page: str, *arguments: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=arguments)


@pytest.fixture
def superuser() -> User:
    return factories.make_superuser()


@pytest.fixture
def client(superuser: User) -> Client:
    return client_of(superuser)


def fill() -> World:
    """A world, and a row of the nouns that the API does not show."""
    world = make_world()
    user = factories.make_user()
    data = compress(b"words") + world.project.slug.encode()
    dictionary = PageDictionary.objects.create(sha256=f"{world.project.pk:064}", data=data, size=len(data))
    Snapshot.objects.filter(sha256=world.keys["snapshots"]).update(dictionary=dictionary)
    Website.objects.filter(pk=world.keys["websites"]).update(page_dictionary=dictionary)
    Invite.objects.issue(created_by=user, project=world.project, role="reader")
    IdempotencyKey.objects.create(user=user, key="k")
    AuthToken.objects.create(user)
    return world


def test_every_model_has_an_admin_page_with_search() -> None:
    for model in (*OURS, *ACCOUNTS):
        assert admin.site.is_registered(model), model
        assert admin.site.get_model_admin(model).search_fields, model


def queries_of_lists(client: Client) -> dict[str, int]:
    """Model -> how many its list takes. No list reads a blob."""
    counts = {}
    for model in (*OURS, *ACCOUNTS):
        with CaptureQueriesContext(connection) as queries:
            assert client.get(url_of(model, "changelist")).status_code == 200, model
        counts[by_name(model)] = len(queries)
        assert not [blob for blob in BLOBS if any(blob in query["sql"] for query in queries)], model
    return counts


@pytest.mark.slow
def test_lists_open_and_search_with_a_constant_number_of_queries(client: Client) -> None:
    fill()
    before = queries_of_lists(client)
    fill()
    after = queries_of_lists(client)
    assert after == before
    for model in (*OURS, *ACCOUNTS):
        assert client.get(url_of(model, "changelist"), {"q": "a"}).status_code == 200, model


@pytest.mark.slow
def test_rows_open(client: Client) -> None:
    fill()
    for model in (*OURS, *ACCOUNTS):
        row = model._default_manager.first()
        if row is not None:  # groups
            assert client.get(url_of(model, "change", row.pk)).status_code == 200, model


@pytest.mark.parametrize("model", [*OURS, *ACCOUNTS], ids=by_name)
def test_the_form_of_a_new_row_opens_where_people_may_add_one(client: Client, model: type[Model]) -> None:
    may = admin.site.get_model_admin(model).has_add_permission
    response = client.get(url_of(model, "add"))
    request = response.wsgi_request
    assert response.status_code == (200 if may(request) else 403)


def make_staff(*permissions: str) -> User:
    user = factories.make_user(is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return user


@pytest.mark.slow
def test_being_staff_alone_opens_no_table() -> None:
    staff = client_of(make_staff())
    for model in (*OURS, *ACCOUNTS):
        assert staff.get(url_of(model, "changelist"), follow=True).status_code == 403, model


@pytest.mark.slow
def test_staff_open_the_tables_of_their_permissions_and_no_others() -> None:
    staff = client_of(make_staff("view_dataset"))
    opened = {model for model in OURS if staff.get(url_of(model, "changelist")).status_code == 200}
    assert {by_name(model) for model in opened} == {"annotations.dataset"}


@pytest.mark.slow
def test_only_superusers_open_accounts_links_and_gold_whatever_permissions_others_have() -> None:
    staff = factories.make_user(is_staff=True)
    staff.user_permissions.set(Permission.objects.all())
    closed = {m for m in (*OURS, *ACCOUNTS) if client_of(staff).get(url_of(m, "changelist")).status_code == 403}
    assert closed - SUPERUSERS_ONLY == {model for model in OURS if model.__name__ in SHOW_GOLD}
    assert closed >= SUPERUSERS_ONLY


@pytest.mark.slow
def test_pages_and_results_can_be_looked_up_but_not_changed(client: Client) -> None:
    world = fill()
    snapshot = Snapshot.objects.get(sha256=world.keys["snapshots"])
    assert client.post(url_of(Snapshot, "change", snapshot.pk), {"sha256": "0" * 64}).status_code == 403


def test_the_list_of_pages_shows_raw_and_stored_bytes_their_ratio_and_the_totals(client: Client) -> None:
    pages = [factories.make_snapshot(factories.PAGE.format(title="x" * size)) for size in (1000, 50_000)]
    text = client.get(url_of(Snapshot, "changelist")).content.decode()
    raw, stored = (sum(getattr(page, size) for page in pages) for size in ("raw_size", "stored_size"))
    for page in pages:
        assert f"{page.raw_size:,}" in text
        assert f"{page.raw_size / page.stored_size:.1f} ×" in text
    assert f"2 pages, {raw:,} raw bytes, {stored:,} stored bytes" in text
    assert f"{raw / stored:.1f} ×" in text


def test_a_dataset_shows_what_its_pages_cost(client: Client) -> None:
    conversation = factories.make_conversation(turns=1, steps=3)
    text = client.get(url_of(type(conversation.dataset), "change", conversation.dataset.pk)).content.decode()
    sizes = conversation.dataset.page_bytes()
    assert f"{sizes['raw']:,} in 3 pages" in text
    assert f"{sizes['stored']:,} in 3 distinct pages" in text
    assert "conversations: 1, turns: 1, steps: 3" in text


def secrets_in(text: str) -> list[str]:
    return re.findall(r"/invites/([\w-]+)/", text)


def test_an_invitation_is_made_and_its_link_shown_once(client: Client, superuser: User) -> None:
    project = factories.make_project()
    response = client.post(url_of(Invite, "add"), {"project": project.pk, "role": "reviewer", "days": 3})
    assert response.status_code == 200
    assert "no-store" in response["Cache-Control"]
    (secret,) = secrets_in(response.content.decode())
    invite = Invite.objects.find(secret)
    assert (invite.project, invite.role, invite.created_by) == (project, "reviewer", superuser)
    assert not secrets_in(client.get(url_of(Invite, "changelist")).content.decode())
    assert secret not in client.get(url_of(Invite, "change", invite.pk)).content.decode()


@pytest.mark.parametrize("fields", [{}, {"role": "reader"}, {"project": 1}])
def test_a_link_that_leads_nowhere_is_refused(client: Client, fields: dict) -> None:
    response = client.post(url_of(Invite, "add"), fields | {"days": 3})
    assert "Give a user for a password reset" in response.content.decode()
    assert not Invite.objects.exists()


def test_password_reset_links_are_made_for_the_chosen_users(client: Client) -> None:
    users = [factories.make_user() for _ in range(2)]
    body = {"action": "make_reset_links", "_selected_action": [user.pk for user in users]}
    found = [Invite.objects.find(secret) for secret in secrets_in(client.post(url_of(User, "changelist"), body).text)]
    assert {invite.user for invite in found} == set(users)


def evaluate(client: Client, dataset, **fields: object):
    body = {"action": "evaluate", "_selected_action": [dataset.pk]} | fields
    return client.post(url_of(type(dataset), "changelist"), body, follow=True)


@pytest.mark.slow
def test_a_dataset_is_evaluated_from_its_list(client: Client, superuser: User) -> None:
    dataset = factories.make_conversation(split="train").dataset
    page = evaluate(client, dataset).content.decode()
    assert "every split" in page
    assert "grounded" in page
    response = evaluate(client, dataset, evaluate="1", recipe="grounded", split="train", limit="1", preset="")
    study = Study.objects.get()
    assert (study.project, study.created_by) == (dataset.project, superuser)
    assert f'href="/studies/{study.pk}/"' in response.content.decode()


@pytest.mark.slow
def test_a_recipe_that_cannot_run_here_is_refused_with_what_is_missing(client: Client) -> None:
    dataset = factories.make_conversation().dataset
    response = evaluate(client, dataset, evaluate="1", recipe="mindact", split="", limit="", preset="")
    assert "mindact cannot run here: it needs" in response.content.decode()
    assert not Study.objects.exists()


@pytest.mark.slow
def test_staff_evaluate_only_in_projects_in_which_they_may() -> None:
    dataset = factories.make_conversation().dataset
    staff = make_staff("view_dataset", "add_study")
    fields = {"evaluate": "1", "recipe": "grounded", "split": "train", "limit": "", "preset": ""}
    assert "needs a role" in evaluate(client_of(staff), dataset, **fields).content.decode()
    assert not Study.objects.exists()
    Membership.objects.create(project=dataset.project, user=staff, role="admin")
    evaluate(client_of(staff), dataset, **fields)
    assert Study.objects.count() == 1


def test_staff_without_the_permission_are_not_offered_to_evaluate() -> None:
    dataset = factories.make_conversation().dataset
    text = client_of(make_staff("view_dataset")).get(url_of(type(dataset), "changelist")).content.decode()
    assert "Evaluate with" not in text

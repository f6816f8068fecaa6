"""The trail of access: what is written, that nothing changes it, who sees it; and how a membership ends."""

import base64
import json
from datetime import timedelta

import pytest
from allauth.core import context
from allauth.mfa.models import Authenticator
from django.db import DatabaseError, transaction
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from annotations.access.sign_in.forms import PasskeyForm
from annotations.access.tokens.granting import make_token
from annotations.models import AccessEvent, Assignment, Edit, Invite, Membership
from tests import factories
from tests.signed_in import client_of
from tests.web.world import make_world

pytestmark = pytest.mark.django_db
PASSWORD = "a-long-enough-1"


def told(**fields) -> list[str]:
    return list(AccessEvent.objects.filter(**fields).order_by("id").values_list("what", flat=True))


def test_good_and_bad_sign_ins_are_written_with_where_they_came_from() -> None:
    user = factories.make_user(username="ada", password=PASSWORD)
    client = Client(headers={"User-Agent": "Lynx"})
    client.post("/login/", {"username": "ada", "password": "wrong"})
    client.post("/login/", {"username": "ada", "password": PASSWORD})
    client.post("/logout/")
    bad, good, out = AccessEvent.objects.filter(subject="ada", action__in=["sign-in", "sign-out"]).order_by("id")
    assert (bad.ok, good.ok, bad.actor_id, good.actor_id) == (False, True, None, user.pk)
    assert (good.address, good.client, good.door, out.what) == ("127.0.0.1", "Lynx", "page", "signed out")


def test_a_name_that_nobody_has_is_not_kept_because_it_may_be_a_password() -> None:
    Client().post("/login/", {"username": "my secret password", "password": "x"})
    row = AccessEvent.objects.get()
    assert "secret" not in f"{row.what}{row.subject}{row.actor_name}"


def test_a_wrong_passkey_is_written_and_who_it_claims_to_be_is_not_believed() -> None:
    ada = factories.make_user(username="ada")
    claimed = base64.urlsafe_b64encode(str(ada.pk).encode()).decode().rstrip("=")
    for credential in ({"id": "x", "response": {"userHandle": claimed}}, {}):
        Client().post("/login/passkey/", {"credential": json.dumps(credential)})
    rows = AccessEvent.objects.filter(what="wrong passkey")
    assert [(row.action, row.ok, row.subject, row.actor_id) for row in rows] == [("sign-in", False, "", None)]


def test_a_wrong_passkey_after_the_password_is_written_with_its_account() -> None:
    ada = factories.make_user(username="ada", password=PASSWORD)
    Authenticator.objects.create(user=ada, type="webauthn", data={"name": "key", "credential": {}})
    request = RequestFactory().post("/login/code/")
    request.session = {}
    with context.request_context(request):
        assert not PasskeyForm(data={"credential": '{"id": "x"}'}, user=ada).is_valid()
    row = AccessEvent.objects.get(what="wrong passkey")
    assert (row.action, row.ok, row.subject) == ("second-factor", False, "ada")


def test_roles_gold_invitations_and_removals_are_written() -> None:
    project = factories.make_project()
    admin = factories.make_user("admin", project, username="ada")
    member = Membership.objects.get(user=factories.make_user("reader", project, username="mo"))
    client = client_of(admin)
    client.post(reverse("member-role", args=[member.pk]), {"role": "reviewer", "sees_test_gold": "on"})
    client.post(reverse("people-invite", args=[project.slug]), {"role": "reader"})
    client.post(reverse("invite-withdraw", args=[Invite.objects.get().pk]))
    client.post(reverse("member-remove", args=[member.pk]))
    assert told(project_id=project.pk, actor_name="ada") == [
        "became reviewer, was reader",
        "may see gold of test splits",
        "made a link: invitation as reader",
        "withdrew a link: invitation as reader",
        "is no longer reviewer",
    ]


def test_tokens_passwords_and_rights_are_written() -> None:
    user = factories.make_user(username="ada", password=PASSWORD)
    row, _ = make_token(user, ["read"], 1, "nightly")
    row.delete()
    user.is_superuser = True
    user.set_password("another-long-1")
    user.save()
    assert told(subject="ada") == [
        "account made",
        "made token nightly (read)",
        f"token {row.token_key}… revoked or expired",
        "password changed",
        "is superuser",
    ]


@pytest.mark.slow
def test_exports_and_downloads_are_written_once() -> None:
    world = make_world()
    client = client_of(factories.make_user("admin", world.project, username="ada"))
    dataset = world.project.datasets.get()
    client.post("/api/exports/", {"dataset": dataset.name, "format": "jsonl"}, content_type="application/json")
    url = reverse("study-scores", args=[world.keys["studies"], "csv"])
    client.get(url)
    client.head(url)
    assert told(action="export", actor_name="ada") == [f"exported {dataset.name} as jsonl"]
    assert told(action="download", project_id=world.project.pk) == [f"downloaded study-{world.keys['studies']}.csv"]


@pytest.mark.parametrize("change", ["update", "delete"])
def test_the_database_refuses_to_change_the_trail(change: str) -> None:
    factories.make_user()
    rows = AccessEvent.objects.all()
    with pytest.raises(DatabaseError, match="Cannot update or delete"), transaction.atomic():
        rows.update(what="nothing") if change == "update" else rows.delete()
    assert AccessEvent.objects.exists()


def test_only_retention_takes_old_rows() -> None:
    factories.make_user()
    assert AccessEvent.objects.forget_before(timezone.now() - timedelta(days=1)) == 0
    assert AccessEvent.objects.forget_before(timezone.now() + timedelta(days=1)) == 1


def test_people_may_be_deleted_and_stay_in_the_trail() -> None:
    user = factories.make_user("reader", username="mo")
    user.delete()
    assert "account deleted" in told(subject="mo")


def test_admins_see_their_projects_superusers_everything_and_others_nothing() -> None:
    project, other = factories.make_project(), factories.make_project()
    admin, reader = factories.make_user("admin", project), factories.make_user("reader", project)
    factories.make_user("reader", other)
    everything = AccessEvent.objects.count()
    seen = client_of(admin).get("/api/access-events/").json()["results"]
    assert {row["project_id"] for row in seen} == {project.pk}
    assert client_of(reader).get("/api/access-events/").json()["results"] == []
    assert "You administer no project" in client_of(reader).get("/access/").content.decode()
    root = client_of(factories.make_superuser())
    assert len(root.get("/api/access-events/").json()["results"]) > everything


def test_the_page_filters_and_the_export_holds_the_same() -> None:
    project = factories.make_project()
    factories.make_user("reader", project, username="mo")
    client = client_of(factories.make_user("admin", project, username="ada"))
    page = client.get("/access/", {"who": "mo"})
    assert [row.subject for row in page.context["page"]] == ["mo"]
    lines = b"".join(client.get("/access.csv", {"who": "mo"}).streaming_content).decode().splitlines()
    assert len(lines) == 2
    assert "became reader" in lines[1]
    assert b"became reader" in b"".join(client.get("/access.jsonl", {"who": "mo"}).streaming_content)


@pytest.mark.slow
def test_a_removed_member_leaves_unfinished_work_to_others_and_what_they_made() -> None:
    world = make_world()
    written = Assignment.objects.get(pk=world.keys["assignments"])
    user = written.user
    member = Membership.objects.get(project=world.project, user=user)
    begun = factories.make_assignment(factories.make_item(written.item.session, stage="decompose"), user)
    edits = Edit.objects.filter(assignment__user=user).count()
    headers = {"Authorization": f"Token {make_token(user, ['read'], 1)[1]}"}
    assert Client().get(f"/api/datasets/{world.keys['datasets']}/", headers=headers).status_code == 200
    response = client_of(factories.make_user("admin", world.project)).post(
        reverse("member-remove", args=[member.pk]), follow=True
    )
    assert "1 item went back to the queue" in response.content.decode()
    begun.refresh_from_db()
    written.refresh_from_db()
    assert (begun.state, written.state) == ("released", "submitted")
    assert Edit.objects.filter(assignment__user=user).count() == edits
    assert Client().get(f"/api/datasets/{world.keys['datasets']}/", headers=headers).status_code == 404


def test_the_only_admin_cannot_be_removed() -> None:
    member = Membership.objects.get(user=factories.make_user("admin"))
    client_of(member.user).post(reverse("member-remove", args=[member.pk]))
    assert Membership.objects.filter(pk=member.pk).exists()

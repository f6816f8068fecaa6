"""Signing in, invitations, password resets, API tokens, people."""

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from knox.models import AuthToken

from annotations.models import Invite, Membership
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db
PASSWORD = "a-long-enough-1"
NEW = {"username": "newcomer", "password1": PASSWORD, "password2": PASSWORD}


def issue(**fields) -> str:
    return Invite.objects.issue(**fields)[1]


def test_a_visitor_is_sent_to_the_login_page_and_back() -> None:
    factories.make_user("admin", username="ada", password=PASSWORD)
    client = Client()
    assert client.get("/datasets/").url == "/login/?next=/datasets/"
    response = client.post("/login/?next=/datasets/", {"username": "ada", "password": PASSWORD, "next": "/datasets/"})
    assert response.url == "/datasets/"


def test_a_wrong_password_is_told_and_the_name_is_kept() -> None:
    factories.make_user(username="ada", password=PASSWORD)
    page = Client().post("/login/", {"username": "ada", "password": "wrong"}).content.decode()
    assert "correct username and password" in page
    assert 'value="ada"' in page


def test_signing_out_needs_a_post() -> None:
    client = client_of(factories.make_user())
    assert client.get("/logout/").status_code == 405
    client.post("/logout/")
    assert "_auth_user_id" not in client.session


@pytest.mark.slow
def test_an_invitation_makes_an_account_with_its_role_and_signs_it_in() -> None:
    project = factories.make_project()
    client = Client()
    url = f"/invites/{issue(project=project, role='reviewer', sees_test_gold=True)}/"
    assert client.post(url, NEW).url == "/"
    member = Membership.objects.get(user__username="newcomer")
    assert (member.project, member.role, member.sees_test_gold) == (project, "reviewer", True)
    assert not member.user.is_staff
    assert client.get("/").status_code == 200


def test_an_invitation_works_once() -> None:
    url = f"/invites/{issue(project=factories.make_project(), role='reader')}/"
    Client().post(url, NEW)
    assert Client().get(url).status_code == 410
    assert Client().post(url, NEW | {"username": "second"}).status_code == 410
    assert not Membership.objects.filter(user__username="second").exists()


def test_an_invitation_that_has_run_out_is_refused() -> None:
    invite, secret = Invite.objects.issue(project=factories.make_project(), role="reader")
    Invite.objects.filter(pk=invite.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert Client().get(f"/invites/{secret}/").status_code == 410


def test_a_form_with_a_mistake_does_not_use_the_invitation_up() -> None:
    secret = issue(project=factories.make_project(), role="reader")
    page = Client().post(f"/invites/{secret}/", NEW | {"password2": "other"}).content.decode()
    assert 'value="newcomer"' in page
    assert Invite.objects.find(secret) is not None


def test_somebody_with_an_account_joins_a_project_without_a_new_one() -> None:
    user, project = factories.make_user("reader"), factories.make_project()
    client_of(user).post(f"/invites/{issue(project=project, role='annotator')}/")
    assert Membership.objects.get(user=user, project=project).role == "annotator"


def test_the_first_account_administers_the_whole_site() -> None:
    Client().post(f"/invites/{issue(makes_superuser=True)}/", NEW)
    assert get_user_model().objects.get(username="newcomer").is_superuser


def test_a_reset_sets_the_password_and_revokes_tokens() -> None:
    user = factories.make_user("reader", username="ada", password="forgotten-secret")
    AuthToken.objects.create(user)
    Client().post(f"/invites/{issue(user=user)}/", {"new_password1": PASSWORD, "new_password2": PASSWORD})
    assert Client().login(username="ada", password=PASSWORD)
    assert not AuthToken.objects.filter(user=user).exists()
    assert user.memberships.count() == 1


def test_a_new_token_is_shown_once_and_works() -> None:
    client = client_of(factories.make_user("reader"))
    secret = client.post("/tokens/", {"days": "30", "scopes": ["read"]}).context["secret"]
    assert Client().get("/api/me/", headers={"Authorization": f"Token {secret}"}).status_code == 200
    assert secret not in client.get("/tokens/").content.decode()


def test_only_the_owner_revokes_a_token() -> None:
    owner = factories.make_user("reader")
    token, _ = AuthToken.objects.create(owner)
    url = reverse("token-revoke", args=[token.digest])
    client_of(factories.make_user("reader")).post(url)
    assert AuthToken.objects.filter(pk=token.pk).exists()
    client_of(owner).post(url)
    assert not AuthToken.objects.filter(pk=token.pk).exists()


def test_an_admin_sees_the_members_of_own_projects_only() -> None:
    project = factories.make_project()
    admin = factories.make_user("admin", project)
    factories.make_user("reader", project, username="inside")
    factories.make_user("reader", username="outside")
    page = client_of(admin).get("/people/").content.decode()
    assert "inside" in page
    assert "outside" not in page


@pytest.mark.parametrize("role", ["admin", "annotator", "reviewer", "reader"])
def test_pages_of_admins_are_linked_for_those_who_administer_a_project(role: str) -> None:
    project = factories.make_project()
    factories.make_user("annotator", project)
    page = client_of(factories.make_user(role, project)).get("/").content.decode()
    for route in ("people", "annotate-webhooks", "annotate-audit", "access"):
        assert (f'href="{reverse(route)}"' in page) is (role == "admin"), route


@pytest.mark.parametrize("role", ["annotator", "reviewer", "reader"])
def test_other_roles_can_neither_invite_nor_change_roles(role: str) -> None:
    project = factories.make_project()
    member = Membership.objects.get(user=factories.make_user(role, project))
    client = client_of(member.user)
    assert client.post(reverse("people-invite", args=[project.slug]), {"role": "admin"}).status_code == 404
    assert client.post(reverse("member-role", args=[member.pk]), {"role": "admin"}).status_code == 404
    assert client.post(reverse("member-reset", args=[member.pk])).status_code == 404


def test_an_invitation_link_from_the_page_works(settings) -> None:
    """It is at the site's own address, whatever Host the request names."""
    project = factories.make_project()
    client = client_of(factories.make_user("admin", project))
    settings.ALLOWED_HOSTS = ["*"]
    url = reverse("people-invite", args=[project.slug])
    link = client.post(url, {"role": "reviewer"}, headers={"Host": "evil.example"}).context["link"]
    assert link.startswith(f"{settings.APP_ORIGIN}/invites/")
    Client().post(link.removeprefix(settings.APP_ORIGIN), NEW)
    assert Membership.objects.get(user__username="newcomer").role == "reviewer"


def test_a_withdrawn_invitation_stops_working() -> None:
    project = factories.make_project()
    invite, secret = Invite.objects.issue(project=project, role="reader")
    client_of(factories.make_user("admin", project)).post(reverse("invite-withdraw", args=[invite.pk]))
    assert Client().get(f"/invites/{secret}/").status_code == 410


def test_the_only_admin_of_a_project_stays_admin() -> None:
    member = Membership.objects.get(user=factories.make_user("admin"))
    client_of(member.user).post(reverse("member-role", args=[member.pk]), {"role": "reader"})
    member.refresh_from_db()
    assert member.role == "admin"


def test_a_role_change_takes_effect() -> None:
    project = factories.make_project()
    member = Membership.objects.get(user=factories.make_user("reader", project))
    values = {"role": "reviewer", "sees_test_gold": "on"}
    client_of(factories.make_user("admin", project)).post(reverse("member-role", args=[member.pk]), values)
    member.refresh_from_db()
    assert (member.role, member.sees_test_gold) == ("reviewer", True)


def test_a_project_admin_cannot_take_over_an_account_that_others_trust() -> None:
    """A reset link gives the account away, so a superuser or a member of a foreign project is out of reach."""
    project = factories.make_project()
    admin = client_of(factories.make_user("admin", project))
    root = factories.make_superuser()
    elsewhere = factories.make_user("admin")
    for user in (root, elsewhere):
        member = Membership.objects.create(project=project, user=user, role="reader")
        admin.post(reverse("member-reset", args=[member.pk]))
        assert not Invite.objects.filter(user=user).exists()


def test_a_project_admin_makes_a_reset_link_for_an_own_member() -> None:
    project = factories.make_project()
    member = Membership.objects.get(user=factories.make_user("reader", project))
    response = client_of(factories.make_user("admin", project)).post(reverse("member-reset", args=[member.pk]))
    assert Invite.objects.find(response.context["link"].split("/")[-2]).user == member.user


def link_of(answer) -> str:
    """The path of the one-time link that a page shows."""
    return "/invites/" + answer.context["link"].split("/")[-2] + "/"


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["removed", "demoted", "closed", "deleted"])
def test_an_invitation_ends_with_the_right_to_invite(loss: str) -> None:
    """Or an admin who is sent away keeps a door open, as an admin, for a week."""
    project = factories.make_project()
    inviting, staying = factories.make_user("admin", project), factories.make_user("admin", project)
    values = {"role": "admin"}
    url, other = (
        link_of(client_of(one).post(reverse("people-invite", args=[project.slug]), values))
        for one in (inviting, staying)
    )
    member = Membership.objects.get(user=inviting)
    if loss == "removed":
        member.delete()
    elif loss == "demoted":
        member.become("reader", sees_test_gold=False)
    elif loss == "closed":
        get_user_model().objects.filter(pk=inviting.pk).update(is_active=False)
    else:
        inviting.delete()
    assert Client().get(url).status_code == Client().post(url, NEW).status_code == 410
    assert not Membership.objects.filter(user__username="newcomer").exists()
    assert Client().post(other, NEW).status_code == 302, "who may still invite has links that work"


@pytest.mark.parametrize("since", ["superuser", "staff", "member elsewhere", "nothing"])
def test_a_reset_link_gives_no_account_away_that_others_trust_since(since: str) -> None:
    project = factories.make_project()
    user = factories.make_user("reader", project)
    url = link_of(
        client_of(factories.make_user("admin", project)).post(
            reverse("member-reset", args=[Membership.objects.get(user=user).pk])
        )
    )
    if since == "member elsewhere":
        Membership.objects.create(project=factories.make_project(), user=user, role="admin")
    elif since != "nothing":
        get_user_model().objects.filter(pk=user.pk).update(**{f"is_{since}": True})
    answer = Client().post(url, {"new_password1": PASSWORD, "new_password2": PASSWORD})
    assert answer.status_code == (302 if since == "nothing" else 410)
    user.refresh_from_db()
    assert user.check_password(PASSWORD) == (since == "nothing")


@pytest.mark.slow
def test_a_new_password_ends_older_links_to_set_one() -> None:
    """Two links were made, one of them fell into wrong hands: after the other one was used it opens nothing."""
    user, other = factories.make_user(), factories.make_user()
    first, second, foreign = issue(user=user), issue(user=user), issue(user=other)
    Client().post(f"/invites/{second}/", {"new_password1": PASSWORD, "new_password2": PASSWORD})
    assert Client().get(f"/invites/{first}/").status_code == 410
    assert Client().get(f"/invites/{foreign}/").status_code == 200
    user.refresh_from_db()
    third = issue(user=user)
    user.set_password("another-long-one-2")
    user.save()  # as the page of one's account does, and the administration
    assert Client().get(f"/invites/{third}/").status_code == 410


def test_the_only_admin_of_a_project_stays_admin_by_a_link_too() -> None:
    project = factories.make_project()
    admin = factories.make_user("admin", project)
    client_of(admin).post(f"/invites/{issue(project=project, role='reader')}/")
    assert Membership.objects.get(user=admin).role == "admin"
    factories.make_user("admin", project)
    client_of(admin).post(f"/invites/{issue(project=project, role='reader')}/")
    assert Membership.objects.get(user=admin).role == "reader"

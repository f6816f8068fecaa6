"""Signing in through an organisation, against a real provider on loopback: who comes in, and that nobody takes over."""

import json
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
import requests
from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth import get_user_model
from django.test import Client

from annotations.models import AccessEvent, Invite, Membership
from tests import factories
from tests.web.oidc_provider import KEY, OTHER_KEY, Provider, public, serving

pytestmark = pytest.mark.django_db
User = get_user_model()
PERSON = {"sub": "42", "email": "mo@example.edu", "email_verified": True, "preferred_username": "mo"}
PASSWORD = "a-long-enough-1"


@pytest.fixture(scope="module")
def _server() -> Iterator[Provider]:
    with serving() as provider:
        yield provider


@pytest.fixture
def provider(_server: Provider, settings) -> Provider:
    vars(_server).update(vars(Provider(_server.origin, dict(PERSON))))
    settings.OIDC_APPS = _server.settings()
    settings.OIDC_ALLOWED_DOMAINS = set()
    return _server


def come(client: Client, query: str = ""):
    """The whole way: to the provider and back."""
    away = client.post(f"/login/with/oidc/{query}")
    back = requests.get(away.url, allow_redirects=False, timeout=10).headers["Location"]
    parts = urlsplit(back)
    return client.get(f"{parts.path}?{parts.query}")


def is_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_the_sign_in_page_offers_it_only_where_it_is_set_up(provider, settings) -> None:
    assert "Sign in with Example University" in Client().get("/login/").content.decode()
    settings.OIDC_APPS = []
    assert "Example University" not in Client().get("/login/").content.decode()
    assert Client().post("/login/with/oidc/").status_code == 404


def test_every_page_that_offers_it_goes_there(provider) -> None:
    """As a browser would: where the form on the page says."""
    member = Client()
    _, secret = Invite.objects.issue(project=factories.make_project(), role="annotator")
    member.force_login(factories.make_user(username="ada"))
    for client, page, query in (
        (Client(), "/login/", ""),
        (Client(), f"/invites/{secret}/", ""),
        (member, "/account/", "?process=connect"),
    ):
        shown = client.get(page).content.decode()
        actions = re.findall(r'<form[^>]*action="([^"]*)"', shown)
        assert f"/login/with/oidc/{query}" in actions
        assert "" not in actions


def test_whoever_is_not_invited_is_not_let_in(provider) -> None:
    client = Client()
    answer = come(client)
    assert "nobody has invited you" in answer.content.decode()
    assert not is_in(client)
    assert not User.objects.exists()


@pytest.mark.slow
def test_an_invitation_link_lets_in_once(provider) -> None:
    project = factories.make_project()
    _, secret = Invite.objects.issue(project=project, role="reviewer")
    first, second = Client(), Client()
    for client in (first, second):
        assert "Join with Example University" in client.get(f"/invites/{secret}/").content.decode()
    come(first)
    assert is_in(first)
    member = Membership.objects.get(user__username="mo")
    assert (member.project, member.role) == (project, "reviewer")
    assert not member.user.has_usable_password()
    provider.claims["sub"] = "43"
    come(second)
    assert not is_in(second)


@pytest.mark.slow
def test_an_invited_address_lets_in_if_the_provider_has_verified_it(provider) -> None:
    Invite.objects.issue(project=factories.make_project(), role="reader", email="Mo@example.edu")
    provider.claims["email_verified"] = False
    unverified = Client()
    come(unverified)
    assert not is_in(unverified)
    provider.claims["email_verified"] = True
    verified = Client()
    come(verified)
    assert is_in(verified)


@pytest.mark.slow
def test_an_admin_invites_an_address_on_the_page(provider) -> None:
    project = factories.make_project()
    admin = Client()
    admin.force_login(factories.make_user("admin", project))
    assert 'name="email"' in admin.get("/people/").content.decode()
    admin.post(f"/people/{project.slug}/invite/", {"role": "reader", "email": "mo@example.edu"})
    client = Client()
    come(client)
    assert Membership.objects.filter(project=project, role="reader", user__email="mo@example.edu").exists()


@pytest.mark.slow
def test_an_allowed_domain_lets_in_without_any_project(provider, settings) -> None:
    settings.OIDC_ALLOWED_DOMAINS = {"example.edu"}
    for address in ("mo@example.edu.evil.example", "example.edu", "mo@evil.example"):
        provider.claims["email"] = address
        stranger = Client()
        come(stranger)
        assert not is_in(stranger), address
    provider.claims["email"] = "mo@example.edu"
    client = Client()
    come(client)
    assert is_in(client)
    assert not Membership.objects.exists()
    again = Client()
    come(again)
    assert is_in(again)
    assert User.objects.count() == 1


def test_an_address_never_finds_an_account_that_exists(provider, settings) -> None:
    """Neither does a name: whoever may write them into the provider would take the account over."""
    settings.OIDC_ALLOWED_DOMAINS = {"example.edu"}
    owner = factories.make_user("admin", username="mo", email="mo@example.edu", password=PASSWORD)
    client = Client()
    come(client)
    assert int(client.session["_auth_user_id"]) != owner.pk
    assert not SocialAccount.objects.filter(user=owner).exists()


@pytest.mark.slow
def test_somebody_signed_in_links_and_unlinks_it(provider) -> None:
    owner = factories.make_user(username="ada", password=PASSWORD)
    client = Client()
    client.force_login(owner)
    client.post("/account/confirm/", {"password": PASSWORD})
    come(client, "?process=connect")
    linked = SocialAccount.objects.get(user=owner)
    fresh = Client()
    come(fresh)
    assert int(fresh.session["_auth_user_id"]) == owner.pk
    client.post(f"/account/identities/{linked.pk}/unlink/")
    assert not SocialAccount.objects.exists()
    assert set(AccessEvent.objects.filter(action="identity").values_list("what", flat=True)) >= {"unlinked oidc"}


@pytest.mark.slow
def test_an_identity_of_one_account_cannot_be_linked_to_another(provider, settings) -> None:
    settings.OIDC_ALLOWED_DOMAINS = {"example.edu"}
    come(Client())
    thief = factories.make_user(username="eve", password=PASSWORD)
    client = Client()
    client.force_login(thief)
    client.post("/account/confirm/", {"password": PASSWORD})
    come(client, "?process=connect")
    assert not SocialAccount.objects.filter(user=thief).exists()


@pytest.mark.slow
def test_a_second_factor_is_asked_for_here_too(provider, settings) -> None:
    settings.OIDC_ALLOWED_DOMAINS = {"example.edu"}
    come(Client())
    TOTP.activate(User.objects.get(), "JBSWY3DPEHPK3PXP")
    client = Client()
    assert come(client).url == "/login/second/"
    assert not is_in(client)


def test_a_token_signed_by_another_key_is_refused(provider, settings) -> None:
    settings.OIDC_ALLOWED_DOMAINS = {"example.edu"}
    provider.signs_with = OTHER_KEY
    client = Client()
    assert "not completed" in come(client).content.decode()
    assert not is_in(client)


def test_a_provider_with_one_key_for_signatures_need_not_name_it(provider, settings) -> None:
    settings.OIDC_ALLOWED_DOMAINS = {"example.edu"}
    provider.names_key, provider.more_keys = False, [public(OTHER_KEY) | {"use": "enc"}]
    client = Client()
    come(client)
    assert is_in(client)


def test_a_token_that_names_none_of_two_keys_is_refused(provider, settings) -> None:
    settings.OIDC_ALLOWED_DOMAINS = {"example.edu"}
    provider.names_key, provider.more_keys = False, [public(OTHER_KEY) | {"use": "sig"}]
    client = Client()
    assert "not completed" in come(client).content.decode()
    assert not is_in(client)


@pytest.mark.parametrize(("algorithm", "key"), [("HS256", json.dumps(public(KEY))), ("none", "")])
def test_a_token_that_anybody_could_sign_is_refused(provider, settings, algorithm: str, key: str) -> None:
    settings.OIDC_ALLOWED_DOMAINS = {"example.edu"}
    provider.algorithm, provider.signs_with = algorithm, key
    client = Client()
    assert "not completed" in come(client).content.decode()
    assert not is_in(client)


@pytest.mark.parametrize(("seconds", "comes_in"), [(30, True), (-90, True), (600, False), (-600, False)])
def test_the_clock_of_the_provider_may_be_a_minute_wrong(provider, settings, seconds: int, comes_in: bool) -> None:
    settings.OIDC_ALLOWED_DOMAINS = {"example.edu"}
    provider.seconds_ahead = seconds
    client = Client()
    come(client)
    assert is_in(client) == comes_in


def test_a_provider_that_contradicts_itself_is_refused(provider, settings) -> None:
    settings.OIDC_ALLOWED_DOMAINS = {"example.edu"}
    provider.contradicts = True
    client = Client()
    assert "contradicts itself" in come(client).content.decode()
    assert not is_in(client)


def test_an_answer_that_nobody_asked_for_signs_nobody_in(provider, settings) -> None:
    settings.OIDC_ALLOWED_DOMAINS = {"example.edu"}
    away = Client().post("/login/with/oidc/")
    back = urlsplit(requests.get(away.url, allow_redirects=False, timeout=10).headers["Location"])
    victim = Client()
    victim.get(f"{back.path}?{back.query}")
    assert not is_in(victim)


def test_a_provider_that_does_not_answer_is_told(provider, settings) -> None:
    settings.OIDC_APPS[0]["settings"]["server_url"] = "http://127.0.0.1:1"
    answer = Client().post("/login/with/oidc/")
    assert answer.status_code == 502
    assert "does not answer" in answer.content.decode()


def test_a_link_alone_begins_nothing(provider) -> None:
    assert Client().get("/login/with/oidc/").status_code == 200

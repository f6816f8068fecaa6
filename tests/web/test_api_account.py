"""Tokens over the API."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from knox.models import AuthToken

from tests import factories

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery staple"


@pytest.fixture
def user():
    return factories.make_user("reader", username="mo", password=PASSWORD)


def login(client: Client, **fields):
    return client.post("/api/auth/login/", fields, content_type="application/json")


def test_a_password_is_exchanged_for_a_token_that_expires_as_asked(user) -> None:
    response = login(Client(), username="mo", password=PASSWORD, days=7)
    assert response.status_code == 200
    days = (AuthToken.objects.get(user=user).expiry - timezone.now()) / timedelta(days=1)
    assert 6.9 < days < 7.1
    me = Client().get("/api/me/", headers={"Authorization": f"Token {response.json()['token']}"}).json()
    assert me["username"] == "mo"
    assert me["memberships"][0]["role"] == "reader"
    assert me["memberships"][0]["abilities"] == []


def test_the_token_is_stored_only_as_a_digest(user) -> None:
    token = login(Client(), username="mo", password=PASSWORD).json()["token"]
    row = AuthToken.objects.get()
    assert token not in {row.digest, row.token_key}


@pytest.mark.parametrize("name", ["mo", "nobody"])
def test_a_wrong_password_is_answered_401_whether_or_not_the_user_exists(user, name: str) -> None:
    response = login(Client(), username=name, password="wrong")
    assert response.status_code == 401
    assert response.json() == {"detail": "Wrong username or password."}


def test_a_closed_account_gets_no_token(user) -> None:
    user.is_active = False
    user.save()
    assert login(Client(), username="mo", password=PASSWORD).status_code == 401


def test_a_token_that_has_expired_is_refused(user) -> None:
    token = login(Client(), username="mo", password=PASSWORD).json()["token"]
    AuthToken.objects.update(expiry=timezone.now() - timedelta(seconds=1))
    assert Client().get("/api/me/", headers={"Authorization": f"Token {token}"}).status_code == 401


def test_a_token_is_revoked_by_logging_out(user) -> None:
    headers = {"Authorization": f"Token {login(Client(), username='mo', password=PASSWORD).json()['token']}"}
    assert Client().post("/api/auth/logout/", headers=headers).status_code == 204
    assert Client().get("/api/me/", headers=headers).status_code == 401


def test_a_user_has_a_limited_number_of_tokens(user) -> None:
    for _ in range(20):
        AuthToken.objects.create(user, expiry=timedelta(days=1))
    assert login(Client(), username="mo", password=PASSWORD).status_code == 403


def test_a_token_request_writes_without_a_csrf_token(user) -> None:
    user.memberships.update(role="admin")
    headers = {"Authorization": f"Token {login(Client(), username='mo', password=PASSWORD).json()['token']}"}
    client = Client(enforce_csrf_checks=True)
    assert client.post("/api/exports/", {}, content_type="application/json", headers=headers).status_code == 400

"""One-time codes, recovery codes and when administrators must have a second factor; real codes, no stand-ins."""

import re
import time

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value, yield_hotp_counters_from_time
from allauth.mfa.utils import decrypt
from django.core.management import call_command
from django.test import Client
from django.urls import get_resolver, reverse

from annotations.access.tries import throttle
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db
PASSWORD = "a-long-enough-1"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def code_of(secret: str = SECRET) -> str:
    """What an authenticator app shows now, and for some seconds more."""
    if (left := 30 - time.time() % 30) < 5:
        time.sleep(left)
    return format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time()))))


@pytest.fixture
def ada():
    return factories.make_user("admin", username="ada", password=PASSWORD)


@pytest.fixture
def protected(ada):
    TOTP.activate(ada, SECRET)
    return ada


def first_half(client: Client) -> None:
    response = client.post("/login/?next=/datasets/", {"username": "ada", "password": PASSWORD, "next": "/datasets/"})
    assert response.url.startswith("/login/second/")
    assert "_auth_user_id" not in client.session


@pytest.mark.slow
def test_codes_are_set_up_on_the_account_page_and_asked_for_from_then_on(ada) -> None:
    client = Client()
    client.post("/login/", {"username": "ada", "password": PASSWORD})
    client.post("/account/confirm/", {"password": PASSWORD})
    secret = client.get("/account/codes/").context["form"].secret
    page = client.post("/account/codes/", {"code": code_of(secret)}, follow=True)
    assert page.request["PATH_INFO"] == "/account/recovery-codes/"
    stored = Authenticator.objects.get(type="totp").data["secret"]
    assert secret not in stored
    assert decrypt(stored) == secret
    first_half(Client())


def test_password_and_code_sign_in_together(protected) -> None:
    client = Client()
    first_half(client)
    assert client.post("/login/second/", {"code": code_of()}).url == "/datasets/"
    assert "_auth_user_id" in client.session


def test_a_code_works_once(protected) -> None:
    code = code_of()
    first, second = Client(), Client()
    first_half(first)
    first.post("/login/second/", {"code": code})
    first_half(second)
    assert second.post("/login/second/", {"code": code}).status_code == 200
    assert "_auth_user_id" not in second.session


@pytest.mark.slow
def test_wrong_codes_are_throttled_with_the_same_counts_as_passwords(protected) -> None:
    client = Client()
    first_half(client)
    right = code_of()  # may wait for seconds, in which the account would open again
    codes = [client.post("/login/second/", {"code": "000000"}).status_code for _ in range(throttle.ACCOUNT.free)]
    assert codes == [200] * throttle.ACCOUNT.free
    refused = client.post("/login/second/", {"code": right})
    assert refused.status_code == 429
    assert refused["Retry-After"]
    assert "Too many tries" in refused.content.decode()
    assert Client().post("/login/", {"username": "ada", "password": PASSWORD}).status_code == 429


@pytest.mark.slow
def test_a_recovery_code_signs_in_once(ada) -> None:
    client = Client()
    client.post("/login/", {"username": "ada", "password": PASSWORD})
    client.post("/account/confirm/", {"password": PASSWORD})
    secret = client.get("/account/codes/").context["form"].secret
    page = client.post("/account/codes/", {"code": code_of(secret)}, follow=True).content.decode()
    spare = re.search(r"<pre[^>]*>(\S+)", page).group(1)
    for expected in (True, False):
        client = Client()
        first_half(client)
        client.post("/login/second/", {"code": spare})
        assert ("_auth_user_id" in client.session) == expected


def test_the_api_asks_for_the_code_too(protected) -> None:
    body = {"username": "ada", "password": PASSWORD}
    answers = [
        Client().post("/api/auth/login/", body | extra, content_type="application/json")
        for extra in ({}, {"code": "000000"}, {"code": code_of()})
    ]
    assert [answer.status_code for answer in answers] == [401, 401, 200]


def test_a_reset_link_does_not_go_round_the_second_factor(protected) -> None:
    from annotations.models import Invite

    client = Client()
    _, secret = Invite.objects.issue(user=protected)
    form = {"new_password1": "another-long-1", "new_password2": "another-long-1"}
    assert client.post(f"/invites/{secret}/", form).url.startswith("/login/second/")
    assert "_auth_user_id" not in client.session


def test_changing_who_can_sign_in_asks_who_it_is_once_more(ada) -> None:
    client = client_of(ada)  # a session that never said a password
    for name in ("mfa_activate_totp", "mfa_add_webauthn", "mfa_generate_recovery_codes"):
        assert client.get(reverse(name)).url.startswith("/account/confirm/"), name
    client.post("/account/confirm/", {"password": PASSWORD})
    assert client.get(reverse("mfa_activate_totp")).status_code == 200


def test_ones_own_password_is_changed_and_other_sessions_end(ada) -> None:
    here, there = Client(), Client()
    for client in (here, there):
        client.post("/login/", {"username": "ada", "password": PASSWORD})
    form = {"oldpassword": PASSWORD, "password1": "another-long-1", "password2": "another-long-1"}
    assert here.post("/account/password/", form).status_code == 302
    assert here.get("/account/").status_code == 200
    assert there.get("/account/").status_code == 302


@pytest.mark.slow
def test_sessions_are_listed_and_ended_everywhere(ada) -> None:
    here, there = Client(headers={"User-Agent": "Lynx"}), Client(headers={"User-Agent": "Mosaic"})
    for client in (here, there):
        client.post("/login/", {"username": "ada", "password": PASSWORD})
    page = here.get("/account/").content.decode()
    assert "Mosaic" in page
    assert "this one" in page
    for strange in ("x", "0", "9" * 5000):
        here.post("/account/sessions/end/", {"session": strange})
        assert there.get("/account/").status_code == 200, "what names no session ends none"
    here.post("/account/sessions/end/")
    assert here.get("/account/").status_code == 200
    assert there.get("/account/").status_code == 302


def test_a_passkey_of_somebody_else_does_not_exist(ada) -> None:
    other = Authenticator.objects.create(user=factories.make_user(), type="webauthn", data={"name": "key"})
    client = client_of(ada)
    client.post("/account/confirm/", {"password": PASSWORD})
    assert client.post(reverse("mfa_remove_webauthn", args=[other.pk])).status_code == 404


@pytest.mark.parametrize(
    "junk", ["", "{}", "[]", "1", '{"response": {}}', '{"id": "x", "response": {"userHandle": 1}}']
)
def test_junk_for_a_passkey_is_refused_calmly(ada, junk: str) -> None:
    client = Client()
    client.get("/login/passkey/", headers={"X-Requested-With": "XMLHttpRequest"})
    assert client.post("/login/passkey/", {"credential": junk}).status_code == 302
    assert "_auth_user_id" not in client.session


def test_no_second_factor_is_asked_for_by_default(ada) -> None:
    assert client_of(ada).get("/datasets/").status_code == 200


@pytest.mark.parametrize("make", [lambda: factories.make_user("admin"), factories.make_superuser])
def test_administrators_without_a_second_factor_get_no_further_than_their_account(settings, make) -> None:
    settings.REQUIRE_MFA_FOR_ADMINS = True
    client = client_of(make())
    for url in ("/", "/datasets/", "/people/", "/admin/", "/tokens/"):
        assert client.get(url).url == "/account/", url
    assert "need a second factor" in client.get("/account/").content.decode()
    refused = client.get("/api/datasets/")
    assert refused.status_code == 403
    assert "second factor" in refused.json()["detail"]


def test_with_a_second_factor_and_for_others_all_is_open(settings, protected) -> None:
    settings.REQUIRE_MFA_FOR_ADMINS = True
    assert client_of(protected).get("/people/").status_code == 200
    assert client_of(factories.make_user("annotator")).get("/datasets/").status_code == 200


def test_nobody_signs_up_and_no_page_of_the_library_is_open() -> None:
    """Each route of the library that we serve has a page of ours; signing up has none at all."""
    names = {name for name in get_resolver().reverse_dict if isinstance(name, str)}
    assert not names & {"account_signup", "account_reset_password", "account_email", "mfa_signup_webauthn"}
    for path in ("/signup/", "/accounts/signup/", "/accounts/login/", "/account/signup/", "/login/signup/"):
        assert client_of(factories.make_user()).get(path).status_code == 404, path


def test_the_settings_of_accounts_are_checked() -> None:
    call_command("check", "--fail-level", "WARNING", "--tag", "compatibility")


@pytest.mark.parametrize(("seconds", "taken"), [(30, True), (120, False)])
def test_a_code_is_taken_a_little_late_and_no_later(protected, seconds, taken) -> None:
    client = Client()
    first_half(client)
    code = format_hotp_value(hotp_value(SECRET, int(time.time() - seconds) // 30))
    client.post("/login/second/", {"code": code})
    assert ("_auth_user_id" in client.session) == taken

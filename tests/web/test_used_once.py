"""One-time links and codes work once: also for two who come at once, and for a code that is typed in another way."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, sleep

import psycopg
import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client

from annotations.models import Invite, Membership
from tests import factories
from tests.app_server import database_url

PASSWORD = "a-long-enough-1"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def at_once(secret: str, forms: list[dict[str, str]], client: Callable[[], Client] = Client) -> list[int]:
    """The answers to these forms for one link, sorted. The row is held until each of them is about to use it up."""

    def send(form: dict[str, str]) -> int:
        try:
            return client().post(f"/invites/{secret}/", form).status_code
        finally:
            connection.close()

    address = database_url(connection.settings_dict["NAME"])
    with (
        ThreadPoolExecutor(len(forms)) as pool,
        psycopg.connect(address, autocommit=True) as watcher,
        psycopg.connect(address) as holder,
    ):
        holder.execute("SELECT 1 FROM annotations_invite FOR UPDATE")
        answers = [pool.submit(send, form) for form in forms]
        deadline = monotonic() + 60
        while watcher.execute(WAITING).fetchone() != (len(forms),):
            assert monotonic() < deadline, "the requests never came as far as the link"
            sleep(0.05)
        holder.commit()
        return sorted(answer.result(60) for answer in answers)


def account(name: str) -> dict[str, str]:
    return {"username": name, "password1": PASSWORD, "password2": PASSWORD}


@pytest.mark.django_db(transaction=True)
def test_an_invitation_makes_one_account_of_two_who_open_it_at_once() -> None:
    project = factories.make_project()
    admin = factories.make_user("admin", project)
    _, secret = Invite.objects.issue(created_by=admin, project=project, role="admin")
    assert at_once(secret, [account("first"), account("second")]) == [302, 410]
    assert User.objects.filter(username__in=("first", "second")).count() == 1


@pytest.mark.django_db(transaction=True)
def test_the_first_link_of_a_site_makes_one_administrator() -> None:
    _, secret = Invite.objects.issue(makes_superuser=True)
    assert at_once(secret, [account("first"), account("second")]) == [302, 410]
    assert User.objects.filter(is_superuser=True).count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_link_to_set_a_password_sets_one() -> None:
    project = factories.make_project()
    admin, ada = factories.make_user("admin", project), factories.make_user("annotator", project)
    _, secret = Invite.objects.issue(created_by=admin, project=project, user=ada)
    new = ["another-long-1", "another-long-2"]
    forms = [{"new_password1": password, "new_password2": password} for password in new]
    assert at_once(secret, forms) == [302, 410]
    ada.refresh_from_db()
    assert sum(ada.check_password(password) for password in new) == 1


@pytest.mark.django_db(transaction=True)
def test_two_people_do_not_join_by_one_invitation() -> None:
    project = factories.make_project()
    admin = factories.make_user("admin", project)
    _, secret = Invite.objects.issue(created_by=admin, project=project, role="reader")
    clients = []
    for name in ("first", "second"):
        client = Client()
        client.force_login(factories.make_user("reader", username=name))
        clients.append(client)
    assert at_once(secret, [{}, {}], clients.pop) == [302, 410]
    assert Membership.objects.filter(project=project, role="reader").count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("typed", ["{0}-{1}", "{0} {1}", "-{0}{1}", "{0}{1}."])
def test_a_code_works_once_however_it_is_typed(typed: str) -> None:
    """As somebody would who has read it over a shoulder, once the library has forgotten that it was used: it remembers
    a code for 30 s, and takes it for up to 90."""
    ada = factories.make_user("admin", username="ada", password=PASSWORD)
    TOTP.activate(ada, SECRET)
    code = format_hotp_value(hotp_value(SECRET, list(yield_hotp_counters_from_time())[-1]))
    came_in = []
    for written in (code, typed.format(code[:3], code[3:])):
        client = Client()
        client.post("/login/", {"username": "ada", "password": PASSWORD})
        client.post("/login/second/", {"code": written})
        came_in.append("_auth_user_id" in client.session)
        cache.delete(TOTP(Authenticator.objects.get(user=ada))._get_used_cache_key(code))
    assert came_in == [True, False]

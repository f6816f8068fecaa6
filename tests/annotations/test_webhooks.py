"""Events and webhooks: who is told what, signed, once it is certain, and again until it arrives."""

import json
import socket
import time
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from annotations.models import Delivery, Webhook
from annotations.tasks import deliver_webhooks
from annotations.tell import events, webhooks
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


def test_an_event_reaches_the_active_webhooks_that_want_it():
    project = factories.make_project()
    wanted = [[], ["item.passed", "item.returned"], ["release.created"]]
    hooks = [Webhook.objects.create(project=project, url="https://a.example/", secret="s", events=e) for e in wanted]
    Webhook.objects.create(project=project, url="https://a.example/", secret="s", is_active=False)
    Webhook.objects.create(project=factories.make_project(), url="https://a.example/", secret="s")
    assert events.emit(project, "item.passed", {"session": 1}) == 2
    rows = Delivery.objects.order_by("id")
    assert [row.webhook for row in rows] == hooks[:2]
    assert len({row.payload["id"] for row in rows}) == 1
    assert {"event": "item.passed", "project": project.slug, "data": {"session": 1}}.items() <= rows[0].payload.items()


def test_an_event_that_is_rolled_back_is_never_told():
    hook = Webhook.objects.create(project=factories.make_project(), url="https://a.example/", secret="s")
    with transaction.atomic():
        assert events.emit(hook.project, "item.passed", {}) == 1
        transaction.set_rollback(True)
    assert not Delivery.objects.exists()


def test_an_unknown_event_is_a_mistake():
    with pytest.raises(ValueError, match="unknown event"):
        events.emit(factories.make_project(), "item.exploded", {})


class Receiver(ThreadingHTTPServer):
    """A real server that keeps what it is told, and answers as the test wants."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[tuple[str, dict, bytes]] = []
        self.answer, self.pause = 200, 0.0

    def url(self, host: str = "localhost", path: str = "/told?x=1") -> str:
        return f"http://{host}:{self.server_address[1]}{path}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, dict(self.headers), body))
        time.sleep(self.server.pause)
        self.send_response(self.server.answer)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *args) -> None:
        pass


@pytest.fixture
def receiver(settings) -> Iterator[Receiver]:
    settings.WEBHOOKS_HOSTS = ["localhost", "hooks.example"]
    settings.WEBHOOKS_ALLOW_PRIVATE = True
    server = Receiver()
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def hook_to(url: str, **fields) -> Webhook:
    fields = {"project": factories.make_project(), "secret": "s3cret"} | fields
    return Webhook.objects.create(url=url, **fields)


def told(hook: Webhook) -> Delivery:
    events.emit(hook.project, "item.passed", {"session": "s–1"})
    return hook.deliveries.get()


def test_a_delivery_is_signed_over_its_time_and_body(receiver):
    delivery = told(hook_to(receiver.url()))
    deliver_webhooks()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts, delivery.last_error) == ("sent", 1, "")
    ((path, headers, body),) = receiver.requests
    assert path == "/told?x=1"
    assert json.loads(body) == delivery.payload
    assert headers["WebNav-Event"] == "item.passed"
    assert headers["WebNav-Event-Id"] == delivery.payload["id"]
    stamp, signature = (part.partition("=")[2] for part in headers["WebNav-Signature"].split(","))
    assert abs(int(stamp) - time.time()) < 60
    assert signature == webhooks.sign("s3cret", int(stamp), body)
    assert signature != webhooks.sign("s3cret", int(stamp) + 1, body)
    assert signature != webhooks.sign("other", int(stamp), body)
    deliver_webhooks()
    assert len(receiver.requests) == 1


def test_the_signature_is_the_documented_one():
    # printf '1700000000.{}' | openssl dgst -sha256 -hmac key
    expected = "9d713ed406bb7076d4123f0dc2c39d2df5c654ed4b0cd56b52c8b4c940bd63ae"
    assert webhooks.sign("key", 1700000000, b"{}") == expected


def test_what_is_not_taken_is_sent_again_later_and_in_the_end_given_up(receiver):
    receiver.answer = 503
    delivery = told(hook_to(receiver.url()))
    for attempt, wait in enumerate(webhooks.BACKOFF, 1):
        assert webhooks.deliver_due() == 1
        assert webhooks.deliver_due() == 0  # not before its time
        delivery.refresh_from_db()
        assert (delivery.state, delivery.attempts, delivery.last_error) == ("waiting", attempt, "answered 503")
        assert timedelta() < wait - (delivery.next_at - timezone.now()) < timedelta(seconds=30)
        Delivery.objects.update(next_at=timezone.now())
    assert webhooks.deliver_due() == 1
    delivery.refresh_from_db()
    assert delivery.state == "failed"
    Delivery.objects.update(next_at=timezone.now())
    assert webhooks.deliver_due() == 0
    receiver.answer = 204
    delivery.send_again()
    assert webhooks.deliver_due() == 1
    delivery.refresh_from_db()
    assert delivery.state == "sent"
    assert len({json.loads(body)["id"] for _, _, body in receiver.requests}) == 1


def test_redirects_are_not_followed(receiver):
    receiver.answer = 302
    delivery = told(hook_to(receiver.url()))
    webhooks.deliver_due()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.last_error) == ("waiting", "answered 302")
    assert [path for path, _, _ in receiver.requests] == ["/told?x=1"]


@pytest.mark.timed
def test_a_slow_receiver_is_cut_off(receiver, monkeypatch):
    monkeypatch.setattr(webhooks, "TIME_LIMIT", 0.3)
    receiver.pause = 2
    delivery = told(hook_to(receiver.url()))
    begun = time.monotonic()
    webhooks.deliver_due()
    assert time.monotonic() - begun < 1.5
    delivery.refresh_from_db()
    assert delivery.state == "waiting"
    assert delivery.last_error


def test_a_paused_webhook_is_told_when_it_goes_on(receiver):
    hook = hook_to(receiver.url())
    told(hook)
    Webhook.objects.update(is_active=False)
    assert webhooks.deliver_due() == 0
    Webhook.objects.update(is_active=True)
    assert webhooks.deliver_due() == 1


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "10.1.2.3",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "::1",
        "fe80::1",
        "fd00::1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
    ],
)
def test_private_addresses_are_refused_where_they_are_reached(host, settings):
    settings.WEBHOOKS_ALLOW_PRIVATE = False
    with pytest.raises(webhooks.NotAllowed, match="not a public address"):
        webhooks.resolve(host, 443)


def test_nothing_is_sent_to_a_private_address(receiver, settings):
    settings.WEBHOOKS_ALLOW_PRIVATE = False
    delivery = told(hook_to(receiver.url()))
    webhooks.deliver_due()
    delivery.refresh_from_db()
    assert delivery.last_error == "localhost is not a public address."
    assert receiver.requests == []


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "ftp://example.org/",
        "https://",
        "https://user:pw@example.org/",
        "file:///etc/passwd",
        "https://[::1",
        "https://example.org:99999/",
    ],
)
def test_only_https_addresses_without_passwords_are_taken(url):
    with pytest.raises(webhooks.NotAllowed):
        webhooks.check_url(url)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "10.0.0.8", "169.254.169.254", "[::1]", "[fd00::1]"]
)
def test_an_address_that_is_not_public_is_refused_when_the_webhook_is_made(host, settings):
    """Not only when it is told something: who makes it would wait for what never comes."""
    settings.WEBHOOKS_ALLOW_PRIVATE = False
    admin = factories.make_user("admin")
    made = reverse("annotate-webhook-add", args=[admin.memberships.get().project.slug])
    answer = client_of(admin).post(made, {"url": f"https://{host}/hook", "events": ["item.passed"]})
    assert answer.status_code == 400
    assert "is not a public address" in answer.content.decode()
    assert not Webhook.objects.exists()


@pytest.mark.parametrize(("host", "allowed"), [("93.184.216.34", False), ("hooks.example", False), ("127.0.0.1", True)])
def test_names_public_addresses_and_what_the_site_allows_are_taken(host, allowed, settings):
    settings.WEBHOOKS_ALLOW_PRIVATE = allowed
    assert webhooks.check_url(f"https://{host}/hook") == (host, 443, "/hook", True)


def addresses(*found: str) -> list[tuple]:
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in found]


def test_a_name_with_one_private_address_is_refused(settings, monkeypatch):
    settings.WEBHOOKS_ALLOW_PRIVATE = False
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: addresses("93.184.216.34", "127.0.0.1"))
    with pytest.raises(webhooks.NotAllowed):
        webhooks.resolve("hooks.example", 443)


def test_the_next_address_of_a_name_is_tried_where_the_first_takes_no_connection(receiver, monkeypatch):
    """As "localhost" and most names: first an address of version 6, where nobody listens."""
    real = socket.getaddrinfo
    both = {"localhost": addresses("127.0.0.2", "127.0.0.1")}
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *rest, **kw: both.get(host) or real(host, *rest, **kw))
    delivery = told(hook_to(receiver.url()))
    webhooks.deliver_due()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.last_error) == ("sent", "")


def test_a_name_is_resolved_once_and_the_connection_goes_there(receiver, monkeypatch):
    """A name server that answers differently the second time gains nothing."""
    real, asked = socket.getaddrinfo, []

    def rebinding(host, *args, **kwargs):
        if host != "hooks.example":
            return real(host, *args, **kwargs)
        asked.append(host)
        return addresses("127.0.0.1" if len(asked) == 1 else "10.0.0.1")

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    delivery = told(hook_to(receiver.url("hooks.example")))
    webhooks.deliver_due()
    delivery.refresh_from_db()
    assert (delivery.state, asked) == ("sent", ["hooks.example"])
    assert receiver.requests[0][1]["Host"].startswith("hooks.example:")


def test_an_admin_adds_a_webhook_and_sees_its_secret_once(settings):
    admin = factories.make_user("admin")
    project = admin.memberships.get().project
    client = client_of(admin)
    fields = {"url": "https://hooks.example/a", "events": ["item.passed"]}
    answer = client.post(reverse("annotate-webhook-add", args=[project.slug]), fields)
    hook = Webhook.objects.get()
    assert hook.secret in answer.content.decode()
    assert (hook.events, hook.created_by) == (["item.passed"], admin)
    assert hook.secret not in client.get(reverse("annotate-webhooks")).content.decode()
    before = hook.secret
    client.post(reverse("annotate-webhook-secret", args=[hook.pk]))
    hook.refresh_from_db()
    assert hook.secret != before
    refused = client.post(reverse("annotate-webhook-add", args=[project.slug]), {"url": "http://hooks.example/"})
    assert refused.status_code == 400
    assert "Only https addresses" in refused.content.decode()


def test_the_log_shows_deliveries_and_sends_one_again():
    admin = factories.make_user("admin")
    hook = hook_to("https://hooks.example/", project=admin.memberships.get().project)
    delivery = told(hook)
    Delivery.objects.update(state="failed", attempts=7, last_error="answered 500")
    client = client_of(admin)
    assert "answered 500" in client.get(reverse("annotate-webhook", args=[hook.pk])).content.decode()
    client.post(reverse("annotate-delivery-again", args=[delivery.pk]))
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == ("waiting", 0)
    client.post(reverse("annotate-webhook-pause", args=[hook.pk]))
    hook.refresh_from_db()
    assert not hook.is_active
    client.post(reverse("annotate-webhook-remove", args=[hook.pk]))
    assert not Delivery.objects.exists()


@pytest.mark.parametrize("role", ["annotator", "reviewer", "reader", "admin"])
def test_webhooks_of_others_do_not_exist(role):
    """For admins of other projects, and for members that do not administer this one."""
    hook = hook_to("https://hooks.example/")
    user = factories.make_user(role, None if role == "admin" else hook.project)
    client, delivery = client_of(user), told(hook)
    assert client.get(reverse("annotate-webhook", args=[hook.pk])).status_code == 404
    assert "hooks.example" not in client.get(reverse("annotate-webhooks")).content.decode()
    for name in ("secret", "pause", "remove"):
        assert client.post(reverse(f"annotate-webhook-{name}", args=[hook.pk])).status_code == 404
    assert client.post(reverse("annotate-delivery-again", args=[delivery.pk])).status_code == 404
    added = client.post(reverse("annotate-webhook-add", args=[hook.project.slug]), {"url": "https://a.example/"})
    assert added.status_code == 404

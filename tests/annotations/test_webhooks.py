"""Events and webhooks: who is told what, signed, once it is certain, and again until it arrives."""

import pytest
from django.db import transaction

from annotations.models import Delivery, Webhook
from annotations.work import events
from tests import factories

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

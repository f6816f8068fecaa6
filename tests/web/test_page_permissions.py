"""Every page of the app against every role: foreign objects do not exist (404), missing abilities are refused (403).

The API has the same tests in test_permissions.py; the pages of signed-in people without an object in their address
have nothing foreign to show, and their own tests.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.db import transaction
from django.http import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from agents.models import Trajectory
from annotations.models import Correction, Invite, Release, Session, Step, TurnCorrection, Webhook
from evaluation.models import Study
from evaluation.reviews.choosing import QueueDemand, make_queue
from evaluation.scores.scanning import RunScan
from tests import factories
from tests.quick import first_is_quick
from tests.signed_in import client_of
from tests.web.world import World, make_world

pytestmark = pytest.mark.django_db
ROLES = ("admin", "annotator", "reviewer", "reader")
# For everybody, signed in or not, or about nobody's data: secrets in the address, the user's own tokens, recipes.
OPEN = {
    "snapshot-page",
    "shared-replay",  # tests/web/test_replay_file.py
    "annotate-moved",  # says where the page is now, which asks who may see it
    "invite",
    "token-revoke",
    "mfa_remove_webauthn",
    "identity-unlink",
    "openid_connect_login",
    "openid_connect_callback",
    "recipe",
    "paper",  # of what its reader may see: tests/evaluation/test_papers.py
    "recipe-derive",
    "recipe-prepare",
    "connection",  # of the installation, for superusers: tests/agents/test_connections.py
    "connection-test",
    "connection-delete",
}
READ, ADMINS, ANNOTATORS, REVIEWERS = set(ROLES), {"admin"}, {"admin", "annotator"}, {"admin", "reviewer"}
EXPORTERS = {"admin", "reviewer"}
REFUSED = {403, 404, 409}
# Nothing is deleted, the job has made no file, and one release has none to be compared with.
NOTHING_THERE = {
    "annotate-campaign-restore",
    "annotate-session-restore",
    "job-file",
    "release-diff",
    "release-diff-json",
}
OWNER: set[str] = set()  # whoever the item belongs to, and nobody else

BODY = {
    "base": 0,
    "edits": [],
    "version": 0,
    "outcome": "accept",
    "checklist": {},
}  # what JSON routes cannot do without


@dataclass(frozen=True)
class Page:
    """A route: the noun of its object, how it is asked for, who may; `more` are further parts of its address."""

    noun: str
    may: set[str]
    method: str = "get"
    more: tuple[tuple[str, str | int], ...] = ()


def post(noun: str, may: set[str], **more: str | int) -> Page:
    return Page(noun, may, "post", tuple(more.items()))


def get(noun: str, may: set[str] = READ, **more: str | int) -> Page:
    return Page(noun, may, "get", tuple(more.items()))


PAGES = {
    "people-invite": post("project slug", ADMINS),
    "member-role": post("memberships", ADMINS),
    "member-reset": post("memberships", ADMINS),
    "member-remove": post("memberships", ADMINS),
    "invite-withdraw": post("invites", ADMINS),
    "dataset": get("dataset name"),
    "dataset-export": post("dataset name", EXPORTERS),
    "conversation": get("conversations"),
    "compare-conversation": get("conversations"),
    "step": get("steps"),
    "step-tree": get("steps"),
    "step-changes": get("steps"),
    "step-rationale": post("steps", ANNOTATORS),
    "correction-ask": post("steps", ANNOTATORS | REVIEWERS),
    "correction": get("corrections"),
    "turn-correction-ask": post("steps", ANNOTATORS | REVIEWERS),
    "conversation-flag": post("conversations", ANNOTATORS | REVIEWERS),
    "turn-correction": get("turn corrections"),
    "job": get("jobs"),
    "job-state": get("jobs"),
    "job-cancel": post("jobs", EXPORTERS),
    "job-retry": post("jobs", EXPORTERS),
    "job-file": get("jobs", EXPORTERS),
    "job-errors": get("jobs", kind="csv"),
    "annotate-queue-give-back": post("assignments", OWNER),
    "annotate-campaign": get("campaigns"),
    "annotate-campaign-edit": get("campaigns", ADMINS),
    "annotate-campaign-close": post("campaigns", ADMINS),
    "annotate-campaign-delete": post("campaigns", ADMINS),
    "annotate-campaign-restore": post("campaigns", ADMINS),
    "annotate-guidelines": get("campaigns"),
    "annotate-assign": get("campaigns", ADMINS),
    "annotate-campaign-work": get("campaigns", REVIEWERS),
    "annotate-campaign-places": get("campaigns", REVIEWERS),
    "annotate-campaign-proposals": get("campaigns", REVIEWERS),
    "annotate-take-back": post("campaigns", ADMINS),
    "annotate-session-restore": post("sessions", ADMINS),
    "annotate-organise": get("campaigns", ADMINS),
    "annotate-organise-change": post("campaigns", ADMINS),
    "annotate-organise-propose": post("campaigns", ADMINS),
    "annotate-organise-peek": get("campaigns", ADMINS),
    "annotate-open-work": post("campaigns", ADMINS),
    "annotate-item": get("assignments"),
    "annotate-document": get("assignments"),
    "annotate-edits": post("assignments", OWNER),
    "annotate-undo": post("assignments", OWNER),
    "annotate-redo": post("assignments", OWNER),
    "annotate-lease": post("assignments", READ),
    "annotate-take": post("assignments", OWNER),
    "annotate-submit": post("assignments", OWNER),
    "annotate-give-back": post("assignments", OWNER),
    "annotate-send-back": post("assignments", OWNER),
    "annotate-history": get("assignments"),
    "annotate-titles": get("assignments"),
    "annotate-step-frame": get("assignments", step_pk="steps"),
    "annotate-step-tree": get("assignments", step_pk="steps"),
    "annotate-verify": get("verifications", REVIEWERS),
    "annotate-verify-judge": post("verifications", OWNER),
    "annotate-verify-give-back": post("verifications", OWNER),
    "annotate-bulk": get("campaigns", REVIEWERS),
    "annotate-dispute": get("disputes", REVIEWERS),
    "annotate-curate": get("assignments", REVIEWERS, other="other versions"),
    "annotate-agreement": get("campaigns", REVIEWERS),
    "annotate-comparisons": get("campaigns", REVIEWERS),
    "annotate-make-gold": post("sessions", ADMINS),
    "annotate-feedback": get("assignments", OWNER),
    "annotate-comments": get("sessions"),
    "annotate-comment-change": post("comments", ANNOTATORS | REVIEWERS, what="resolve"),
    "annotate-propose": post("assignments", OWNER),
    "annotate-audit-csv": get("project slug", ADMINS),
    "annotate-audit-jsonl": get("project slug", ADMINS),
    "annotate-webhook-add": post("project slug", ADMINS),
    "annotate-webhook": get("webhooks", ADMINS),
    "annotate-webhook-secret": post("webhooks", ADMINS),
    "annotate-webhook-pause": post("webhooks", ADMINS),
    "annotate-webhook-remove": post("webhooks", ADMINS),
    "annotate-delivery-again": post("deliveries", ADMINS),
    "releases": get("dataset name"),
    "release-new": get("dataset name", ADMINS),
    "release-redact": post("dataset name", ADMINS),
    "release-diff": get("dataset name"),
    "release-diff-json": get("dataset name"),
    "release": get("dataset name", version="1.0"),
    "release-export": post("dataset name", EXPORTERS, version="1.0"),
    "release-datasheet": get("dataset name", version="1.0"),
    "prompt-pack": get("prompt-packs"),
    "prompt-pack-edit": get("prompt-packs", ADMINS),
    "prompt-preview": get("steps"),
    "model": get("model name"),
    "model-curve": get("model name"),
    "model-state": get("model name"),
    "model-delete": post("model name", ADMINS),
    "run": get("runs"),
    "run-state": get("runs"),
    "trajectory": get("trajectories"),
    "trajectory-reviews": post("trajectories", EXPORTERS),
    "trajectory-ask": post("trajectories", EXPORTERS),
    "converse-again": post("trajectories", OWNER),
    "question-withdraw": post("questions", OWNER),
    "question-seen": post("questions", OWNER),
    "trajectory-step": get("trajectories", seq=0),
    "trajectory-step-view": get("trajectories", seq=0),
    "trajectory-step-tree": get("trajectories", seq=0),
    "trajectory-step-changes": get("trajectories", seq=0),
    "trajectory-step-place": get("trajectories", seq=0),
    "trajectory-step-change-marks": get("trajectories", seq=0),
    "dataset-workflows": get("dataset name"),
    "dataset-lessons": get("dataset name"),
    "dataset-lessons-file": get("dataset name", EXPORTERS, form="sft"),
    "dataset-workflow-new": get("dataset name", ANNOTATORS),
    "dataset-memory": get("dataset name"),
    "dataset-memory-start": post("dataset name", ADMINS, kind="embed"),
    "dataset-workflow": get("workflows"),
    "dataset-workflow-delete": post("workflows", ANNOTATORS),
    "study": get("studies"),
    "study-state": get("studies"),
    "study-plots": get("studies"),
    "study-tasks": get("studies"),
    "study-tasks-csv": get("studies"),
    "study-judges": get("studies"),
    "study-judges-csv": get("studies"),
    "study-judging": get("studies", ADMINS),
    "study-explaining": get("studies", ADMINS),
    "review-reasons": get("project slug", EXPORTERS),
    "review-queue": get("review queue"),
    "review-queue-next": get("review queue", EXPORTERS),
    "held-step-decide": post("held-steps", EXPORTERS),
    "trajectory-file": get("trajectories", EXPORTERS),
    "trajectory-share": post("trajectories", EXPORTERS),
    "trajectory-drive": post("trajectories", EXPORTERS),
    "trajectory-drive-window": get("trajectories"),
    "guard-rules": get("project slug"),
    "guard-look": post("project slug", EXPORTERS),
    "guard-label": get("project slug", EXPORTERS),
    "guard-report": get("project slug"),
    "guard-report-csv": get("project slug"),
    "study-plots-csv": get("studies"),
    "study-cancel": post("studies", ADMINS),
    "study-resume": post("studies", ADMINS),
    "study-budget": post("studies", ADMINS),
    "study-scores": get("studies", kind="csv"),
    "study-report": get("studies", kind="md"),
    "study-failures": get("studies"),
}


def routes(resolver: URLResolver) -> Iterator[str]:
    """Names of all routes whose address names an object; those of the admin and the API have tests of their own."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLPattern):
            if pattern.pattern.converters or "<" in str(pattern.pattern):
                yield pattern.name
        elif pattern.namespace not in ("admin", "api"):
            yield from routes(pattern)


@pytest.fixture(scope="module")
def world(rows_of_the_file: None) -> World:
    return make_world_of_pages()


def make_world_of_pages() -> World:
    """A world that has an object for every page."""
    world = make_world()
    project = world.project
    RunScan(Trajectory.objects.get(pk=world.keys["trajectories"]).run).store()
    hook = Webhook.objects.create(project=project, url="https://example.org/hook", secret="s" * 32)
    invite, _ = Invite.objects.issue(project=project, role="reader")
    verdict = Session.objects.get(pk=world.keys["sessions"]).items.get(stage="verify").assignments.get()
    dataset, admin = Release.objects.get(pk=world.keys["releases"]).dataset, factories.make_user()
    world.keys.update(
        {
            "invites": invite.pk,
            "webhooks": hook.pk,
            "corrections": Correction.objects.ask(Step.objects.get(pk=world.keys["steps"]), admin, "Wrong.").pk,
            "turn corrections": TurnCorrection.objects.ask(
                Step.objects.get(pk=world.keys["steps"]).turn, admin, "Wrong."
            ).pk,
            "deliveries": hook.deliveries.create(event="item.passed", payload={}).pk,
            "verifications": verdict.pk,
            "review queue": make_queue(
                None, Study.objects.get(pk=world.keys["studies"]), QueueDemand("random", 1, 1)
            ).pk,
            "drive": factories.make_drive(Trajectory.objects.get(pk=world.keys["trajectories"])).pk,
            "project slug": project.slug,
            "dataset name": dataset.name,
            "model name": dataset.trained_models.get().name if hasattr(dataset, "trained_models") else "",
        }
    )
    return world


def address(name: str, world: World) -> str:
    page = PAGES[name]
    argument = {"project slug": "slug", "dataset name": "name", "model name": "name"}.get(page.noun, "pk")
    more = {key: world.keys.get(value, value) for key, value in page.more}
    return reverse(name, kwargs={argument: world.keys[page.noun], **more})


def ask(client: Client, name: str, world: World) -> HttpResponseBase:
    """The answer; whatever the request has done is taken back, so that the next one finds the same rows."""
    with transaction.atomic():
        url = address(name, world)
        if PAGES[name].method == "get":
            answer = client.get(url)
        else:
            answer = client.post(url, BODY, content_type="application/json")
        transaction.set_rollback(True)
    return answer


def test_every_route_with_an_object_is_in_these_tests() -> None:
    """A new route must be added to PAGES, and with it to the tests of this file."""
    assert set(routes(get_resolver())) - OPEN == set(PAGES)


@pytest.mark.slow
@first_is_quick("role", ROLES)
def test_objects_of_another_project_do_not_exist(role: str, world: World) -> None:
    client = client_of(factories.make_user(role))
    found = {name: ask(client, name, world).status_code for name in PAGES}
    assert {name: status for name, status in found.items() if status != 404} == {}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete"])
def test_by_no_method_is_anything_told_of_them(method: str, world: World) -> None:
    """Neither by one that a page does not answer: 404 as of nothing, or 405 whatever the object is."""
    client, found = client_of(factories.make_user("admin")), {}
    urls = {name: address(name, world) for name in PAGES} | {url: url for url in (*world.details(), *world.reads())}
    for name, url in urls.items():
        with transaction.atomic():
            found[name] = client.generic(method.upper(), url, json.dumps(BODY), "application/json").status_code
            transaction.set_rollback(True)
    assert {name: status for name, status in found.items() if status not in (404, 405)} == {}


@pytest.mark.slow
@first_is_quick("role", ROLES)
def test_a_role_gets_what_it_may_and_is_refused_the_rest(role: str, world: World) -> None:
    client = client_of(factories.make_user(role, world.project, sees_test_gold=True))
    answers = {name: ask(client, name, world).status_code for name in PAGES}
    let_in = {name for name, page in PAGES.items() if role in page.may}
    # What somebody may not do is forbidden, or there is nothing of theirs to do it with.
    assert {name: status for name, status in answers.items() if name not in let_in and status not in REFUSED} == {}
    # Bad input and wrong states are answered as such: that is past the door.
    found = {name: answers[name] for name in let_in if answers[name] in {403, 404, 405} or answers[name] >= 500}
    assert {name: status for name, status in found.items() if status != 404 or name not in NOTHING_THERE} == {}


@pytest.mark.slow
def test_somebody_who_is_not_signed_in_is_sent_to_sign_in_or_told_so(world: World) -> None:
    for name in PAGES:
        answer = ask(Client(), name, world)
        assert answer.status_code == 401 or (answer.status_code == 302 and "/login/" in answer["Location"]), name

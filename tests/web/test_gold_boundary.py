"""Non-interference: two worlds that differ only in the gold of a test split answer everything byte for byte alike to
those who may not see it, whatever route they take; to an admin they do not.

Every route of the URL resolver and of the API router is walked. A new route without arguments in `arguments` fails here
until it has some. `tests/web/test_gold_sockets.py` does the same for WebSockets.
"""

import re
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.db import models
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from annotations.access import rules
from annotations.datasets import WRITERS
from annotations.jobs import running
from annotations.models import Job, Screenshot, Snapshot, Step
from annotations.models.corpus.pages import digest
from tests import factories
from tests.web.gold_worlds import (
    GOLD,
    ROLES,
    STRANGERS,
    GoldWorld,
    all_pages,
    counted,
    differing,
    open_gold,
    with_strangers,
)

pytestmark = pytest.mark.django_db
# Views of pages, by the name of their route; every other page is asked once, without a query.
QUERIES = {
    "step": ("?tab=raw", "?tab=tree", "?tab=accessibility", "?tab=changes", "?of=cleaned"),
    "conversation": ("?tab=raw",),
    "dataset": ("?q=alpha", "?q=bravo", "?split=test_task"),
    "guard-report": ("?by=people",),
    "step-tree": ("?node=2", "?node=2&from=1"),
    "run": ("?order=worst", "?find=alpha", "?find=bravo"),
    "study": ("?preset=faithful",),
    "study-failures": ("?reason=near", "?scanner=sibling", "?scanner=reason+m-1+00000000"),
    "study-plots": ("?preset=faithful",),
    "study-judges": ("?said=success", "?disagrees=true"),
    "study-judges-csv": ("?said=success",),
    "paper": ("?dataset=700001", "?preset=corrected"),
    "compare": ("?runs=700001,700002",),
    "compare-conversation": ("?runs=700001", "?runs=700001&step=1"),
    "reviews": ("?verdict=agent_wrong", "?reviewer=nobody"),
    "corrections": ("?state=open", "?state=done"),
    "reviews-csv": ("?verdict=agent_wrong",),
    "study-plots-csv": ("?preset=faithful",),
    "release-diff": ("?from=1.0&to=1.1",),
    "release-diff-json": ("?from=1.0&to=1.1",),
    "dataset-workflows": ("?q=alpha", "?q=bravo"),
    "job-errors": ("",),
    "prompt-pack": ("?against=webnav",),
    "prompt-preview": ("?recipe=synapse", "?pack=700001"),
    "api:step-list": ("?ordering=value", "?operation=TYPE", "?search=alpha"),
    "api:rationale-list": ("?source=human",),
    "annotate-step-tree": ("",),
}
# Not walked, with the reason.
LEFT_OUT = {
    "logout": "ends the session of the walk",
    "admin:logout": "ends the session of the walk",
    "healthz": "says what runs, and how fast",
    "metrics": "says what runs, and how fast",
    "snapshot-page": "followed wherever a page names one",
    "shared-replay": "made for splits without hidden gold alone: test_replay_file.py",
    "admin:": "catches what no other route of the admin takes",
}
OWN_ACCOUNT = ("account", "mfa_", "socialaccount_", "sessions-")  # of whoever asks: they know no dataset
NONCE = re.compile(rb'nonce="[^"]+"')
CHANGING_HEADERS = ("Content-Security-Policy", "Expires", "X-Request-ID")  # a nonce, a time, a number
MOST = 5  # rows of a kind that are asked for: all of the hidden conversation's, and one more
FRAME = re.compile(rb'/snapshots/[^"#\\\s]+')
Answer = tuple[int, bytes, str]


def routes(resolver: URLResolver, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Every route that there is, by its full name."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from routes(pattern, prefix + (f"{pattern.namespace}:" if pattern.namespace else ""))
        else:
            yield prefix + (pattern.name or ""), pattern


def arguments(world: GoldWorld) -> dict[str, list[dict[str, Any]]]:
    """Route -> the arguments that it is asked with. Pages and images are those of either world."""

    def keys(*names: str) -> list[dict[str, Any]]:
        found = []
        for name in names:
            model = next(m for m in _models() if m.__name__ == name)
            found += [{"pk": pk} for pk in model._default_manager.order_by("pk").values_list("pk", flat=True)[:MOST]]
        return found

    def each(given: list[dict[str, Any]], **values: list[Any]) -> list[dict[str, Any]]:
        for name, options in values.items():
            given = [one | {name: option} for one in given for option in options]
        return given

    dataset = [{"name": world.dataset.name}]
    work = keys("Assignment")
    steps = [step.pk for step in Step.objects.filter(turn__conversation=world.hidden)]
    shots = [factories.PNG + text for text in (b"first", *(gold.encode() for gold in GOLD))]
    live = [factories.PNG + f"live {gold}".encode() for gold in GOLD]
    found = {
        "api:run-metrics-csv": keys("Run"),
        "api:run-trajectories": keys("Run"),
        "api:run-metrics": keys("Run"),
        "api:study-metrics-csv": keys("Study"),
        "api:recipe-detail": [{"pk": "grounded"}],
        "api:recipe-prepare": [{"pk": "grounded"}],
        "api:connection-detail": [{"name": "any"}],
        "api:connection-test": [{"name": "any"}],
        "api:held-step-html": keys("HeldStep"),
        "api:snapshot-detail": [{"sha256": digest(page.encode())} for page in all_pages()],
        "api:snapshot-html": [{"sha256": digest(page.encode())} for page in all_pages()],
        "api:screenshot-detail": [{"sha256": digest(shot)} for shot in shots],
        "api:screenshot-image": [{"sha256": digest(shot)} for shot in shots],
        "api:trajectory-step": each(keys("Trajectory"), seq=[0, 1, 3]),
        "api:trajectory-screenshot": each(keys("Trajectory"), sha256=[digest(shot) for shot in live]),
        "invite": [{"secret": "nothing"}],
        "token-revoke": [{"digest": "nothing"}],
        "openid_connect_login": [{"provider_id": "nobody"}],
        "openid_connect_callback": [{"provider_id": "nobody"}],
        "identity-unlink": [{"pk": 1}],
        "member-remove": keys("Membership"),
        "api:accessevent-detail": keys("AccessEvent") or [{"pk": 1}],
        "people-invite": [{"slug": world.project.slug}],
        "member-role": keys("Membership"),
        "member-reset": keys("Membership"),
        "invite-withdraw": [{"pk": 1}],
        "dataset": dataset,
        "dataset-export": dataset,
        "conversation": keys("Conversation"),
        "compare-conversation": keys("Conversation"),
        "step": keys("Step"),
        "step-tree": keys("Step"),
        "step-changes": keys("Step"),
        "step-rationale": keys("Step"),
        "correction-ask": keys("Step"),
        "correction": keys("Correction"),
        "turn-correction-ask": keys("Step"),
        "conversation-flag": keys("Conversation"),
        "turn-correction": keys("TurnCorrection"),
        "annotate-dispute": keys("Dispute"),
        "annotate-curate": each(work, other=[one["pk"] for one in work]),
        "job": keys("Job"),
        "job-state": keys("Job"),
        "job-cancel": keys("Job"),
        "job-retry": keys("Job"),
        "job-file": keys("Job"),
        "job-errors": each(keys("Job"), kind=["csv", "json"]),
        "annotate-step-frame": each(work[:1], step_pk=steps),
        "annotate-step-tree": each(work[:1], step_pk=steps),
        "annotate-comment-change": each(keys("Comment"), what=["seen", "resolve"]),
        "annotate-audit-jsonl": [{"slug": world.project.slug}],
        "annotate-audit-csv": [{"slug": world.project.slug}],
        "annotate-webhook-add": [{"slug": world.project.slug}],
        "annotate-delivery-again": [{"pk": 1}],
        "annotate-moved": [{"noun": "assignments", "pk": 1, "what": "pages"}],
        "releases": dataset,
        "release-new": dataset,
        "release-redact": dataset,
        "release-diff": dataset,
        "release-diff-json": dataset,
        "release": each(dataset, version=["1.0", "1.1"]),
        "release-export": each(dataset, version=["1.1"]),
        "release-datasheet": each(dataset, version=["1.0", "1.1"]),
        "recipe": [{"name": "grounded"}],
        "paper": [{"slug": "self-map-2"}, {"slug": "wma-4"}],
        "recipe-derive": [{"name": "grounded"}],
        "recipe-prepare": [{"name": "grounded"}],
        "prompt-pack": keys("PromptPack"),
        "prompt-pack-edit": keys("PromptPack"),
        "prompt-preview": keys("Step"),
        "connection": [{"name": "any"}],
        "connection-test": [{"name": "any"}],
        "connection-delete": [{"name": "any"}],
        "model": [{"name": "trained"}],
        "model-curve": [{"name": "trained"}],
        "model-delete": [{"name": "trained"}],
        "model-state": [{"name": "trained"}],
        "run": keys("Run"),
        "run-state": keys("Run"),
        "trajectory": keys("Trajectory"),
        "trajectory-reviews": keys("Trajectory"),
        "trajectory-ask": keys("Trajectory"),
        "converse-again": keys("Trajectory"),
        "review-queue": keys("ReviewQueue"),
        "review-queue-next": keys("ReviewQueue"),
        "review-reasons": [{"slug": world.project.slug}],
        "held-step-decide": keys("HeldStep"),
        "question-withdraw": keys("ReviewTask"),
        "question-seen": keys("ReviewTask"),
        "trajectory-file": keys("Trajectory"),
        "trajectory-share": keys("Trajectory"),
        "trajectory-drive": keys("Trajectory"),
        "trajectory-drive-window": keys("Trajectory"),
        "guard-rules": [{"slug": world.project.slug}],
        "guard-look": [{"slug": world.project.slug}],
        "guard-label": [{"slug": world.project.slug}],
        "guard-report": [{"slug": world.project.slug}],
        "guard-report-csv": [{"slug": world.project.slug}],
        "trajectory-step": each(keys("Trajectory"), seq=[0, 1, 3]),
        "trajectory-step-view": each(keys("Trajectory"), seq=[0, 1, 2, 3]),
        "trajectory-step-tree": each(keys("Trajectory"), seq=[0, 1]),
        "trajectory-step-changes": each(keys("Trajectory"), seq=[0, 1]),
        "trajectory-step-place": each(keys("Trajectory"), seq=[0, 1]),
        "trajectory-step-change-marks": each(keys("Trajectory"), seq=[0, 1]),
        "dataset-workflows": dataset,
        "dataset-lessons": dataset,
        "dataset-lessons-file": each(dataset, form=["sft", "dpo", "process"]),
        "api:dataset-lessons": [{"pk": world.dataset.pk}],
        "api:dataset-lessons-file": [{"pk": world.dataset.pk}],
        "dataset-workflow-new": dataset,
        "dataset-memory": dataset,
        "dataset-memory-start": each(dataset, kind=["embed", "refine"]),
        "dataset-workflow": keys("Workflow"),
        "dataset-workflow-delete": keys("Workflow"),
        "study-scores": each(keys("Study"), kind=["csv", "json"]),
        "study-report": each(keys("Study"), kind=["json", "csv", "md", "tex"]),
    }
    for name, _ in routes(get_resolver()):
        stem = name.removeprefix("annotate-").partition("-")[0]
        if name.startswith("annotate-") and name not in found:
            sessions = name in ("annotate-session-restore", "annotate-make-gold", "annotate-comments")
            campaigns = ("organise", "open", "guidelines", "assign", "take", "agreement", "bulk")
            of_campaign = stem in ("campaign", *campaigns) and name != "annotate-take"
            found[name] = keys("Session") if sessions else keys("Campaign") if of_campaign else work
        elif name.startswith("study") and name not in found:
            found[name] = keys("Study")
        elif (noun := re.fullmatch(r"api:([a-z]+)-[a-z-]+", name)) and name not in found:
            model = next((m.__name__ for m in _models() if m.__name__.lower() == noun[1]), "")
            if model:
                found[name] = keys(model)
    return found


def _models() -> list[type[models.Model]]:

    return [
        model for name in ("annotations", "agents", "evaluation") for model in apps.get_app_config(name).get_models()
    ]


def urls(world: GoldWorld, *, with_admin: bool = False) -> list[str]:
    """Every address to ask, the same ones in both worlds; finding those of the admin takes hundreds of queries."""
    known, found = arguments(world), []
    for name, pattern in routes(get_resolver()):
        if name in LEFT_OUT or name.startswith(OWN_ACCOUNT) or (name.startswith("admin:") and not with_admin):
            continue
        wanted = set(pattern.pattern.converters) | set(pattern.pattern.regex.groupindex)
        if name.startswith("admin:") and wanted:
            found += [reverse(name, args=[key]) for key in _admin_keys(name)]
            continue
        given = known.get(name) if wanted else [{}]
        assert given, f"the route {name} has no arguments in `arguments`: it is not walked"
        addresses = [reverse(name, kwargs=one) for one in given]
        found += [address + query for address in addresses for query in ("", *QUERIES.get(name, ()))]
    return found


def _admin_keys(name: str) -> list[Any]:
    if name == "admin:app_list":
        return ["annotations", "agents", "evaluation"]
    if name in ("admin:auth_user_password_change", "admin:view_on_site"):
        return []
    model = next(m for m in admin.site._registry if name.startswith(f"admin:{m._meta.app_label}_{m._meta.model_name}_"))
    return list(model._default_manager.order_by("pk").values_list("pk", flat=True)[:2])


def answer(response: Any) -> Answer:
    content = b"".join(response.streaming_content) if response.streaming else response.content
    content = NONCE.sub(b"", content)
    told = [header for header in response.headers.items() if header[0] not in CHANGING_HEADERS]
    return response.status_code, content, repr(sorted(told))


def client_of(world: GoldWorld, role: str) -> Client:
    client, person = Client(raise_request_exception=False), with_strangers(world)[role]
    if person is not None:
        client.force_login(person)
    return client


def walk(world: GoldWorld, role: str, *, only: str = "", changing: bool = True) -> dict[str, Answer]:
    """What every address (`only`: those that begin so) answers to a role: read first, then asked to change something.
    Only staff are asked about the admin: everybody else is sent away from all of it."""
    client = client_of(world, role)
    found: dict[str, Answer] = {}
    addresses = [url for url in dict.fromkeys(urls(world, with_admin=role == "staff")) if re.match(only, url)]
    for url in addresses:
        found[f"GET {url}"] = answer(client.get(url))
        for frame in FRAME.findall(found[f"GET {url}"][1]):
            found[f"GET {frame.decode()}"] = answer(client.get(frame.decode()))
    for url in addresses if changing else ():
        if "?" not in url and not url.startswith(("/admin/", "/login", "/api/auth/")):
            found[f"POST {url}"] = answer(client.post(url, {}, content_type="application/json"))
    return found


def exports(world: GoldWorld, role: str) -> dict[str, Any]:
    """What the exports hold that somebody may start, in every format, of the dataset and of a release."""
    found: dict[str, Any] = {}
    for format_name in WRITERS:
        for release in ("", "1.1"):
            job = running.start_export(
                user=world.people[role], dataset=world.dataset, format=format_name, release=release
            )
            running.run(Job.objects.claim(job.pk))
            job.refresh_from_db()
            name = f"{format_name} {release}"
            found[name] = (job.state, job.last_error, job.report)
            if job.state == Job.State.DONE:
                with zipfile.ZipFile(job.path) as archive:
                    found |= {f"{name} {member}": archive.read(member) for member in archive.namelist()}
    return found


def assert_alike(one: dict[str, Answer], other: dict[str, Answer]) -> None:
    found = differing(one, other)
    assert not found, "\n".join([f"{len(found)} answers differ", *found[:10]])
    assert sum(answer[0] == 200 for answer in one.values()) > 150
    assert [url for url, answer in one.items() if answer[0] >= 500] == []


@pytest.mark.slow
def test_nothing_that_a_reader_without_gold_can_read_tells_the_worlds_apart(in_both_worlds) -> None:
    assert_alike(*in_both_worlds(lambda world: walk(world, "reader", changing=False)))


@pytest.mark.slow
@pytest.mark.parametrize("role", ROLES)
def test_nothing_that_anybody_without_gold_can_ask_tells_the_worlds_apart(in_both_worlds, role: str) -> None:
    assert_alike(*in_both_worlds(lambda world: walk(world, role)))


@pytest.mark.slow
@pytest.mark.parametrize("role", STRANGERS)
def test_nothing_that_strangers_can_ask_tells_the_worlds_apart(in_both_worlds, role: str) -> None:
    one, other = in_both_worlds(lambda world: walk(world, role))
    assert differing(one, other) == []
    assert len(one) > 400


TOLD = (  # where an admin sees the gold
    *("/steps/700001/", "/api/steps/700001/", "/api/steps/700001/candidates/", "/api/rationales/"),
    *("/trajectories/700001/steps/0/view/", "/api/trajectories/700001/steps/0/", "/jobs/700001/errors.csv"),
    *("/api/memory-snippets/", "/api/jobs/700001/", "/api/runs/700001/trajectories.jsonl", "/runs/700001/"),
    *("/steps/700002/?tab=raw", "/steps/700002/tree/?node=2", "/datasets/worlds/releases/diff.json?from=1.0&to=1.1"),
)


@pytest.mark.slow
def test_an_admin_is_told_the_gold(in_both_worlds) -> None:
    """The opposite: the walk sees differences where there are some."""
    only = f"({'|'.join(map(re.escape, TOLD))})$"
    one, other = in_both_worlds(lambda world: walk(world, "admin", only=only, changing=False))
    different = {url for url in one.keys() & other.keys() if one[url] != other[url]}
    assert {f"GET {url}" for url in TOLD} - different == set()


@pytest.mark.slow
def test_every_route_is_walked_with_the_same_addresses_in_both_worlds(in_both_worlds) -> None:
    one, other = in_both_worlds(lambda world: urls(world, with_admin=True))
    assert one == other
    assert len(one) > 400


@pytest.mark.slow
def test_the_worlds_are_full(in_both_worlds) -> None:
    one, other = in_both_worlds(counted)
    assert one == other
    assert one["pages"] > 15
    assert (one["results"], one["snippets"]) == (8, 4)


@pytest.mark.slow
def test_no_export_of_somebody_without_gold_tells_the_worlds_apart(in_both_worlds) -> None:
    one, other = in_both_worlds(lambda world: exports(world, "reviewer"))
    assert differing(one, other) == []
    assert {state for state, *_ in (one[f"{name} "] for name in WRITERS)} >= {"done"}
    assert not [name for name, content in one.items() if isinstance(content, bytes) and b"hidden" in content]


@pytest.mark.slow
def test_exports_of_an_admin_do(in_both_worlds) -> None:
    one, other = in_both_worlds(lambda world: exports(world, "admin"))
    assert any(name.startswith("mt-mind2web  worlds/test_task/worlds.json") for name in differing(one, other))


def test_whoever_is_given_the_right_sees_what_was_hidden(in_both_worlds) -> None:
    def seen(world: GoldWorld) -> bytes:
        open_gold(world, "reader")
        client = Client()
        client.force_login(world.people["reader"])
        return client.get(reverse("conversation", args=[world.hidden.pk])).content

    assert [gold.encode() in content for gold, content in zip(GOLD, in_both_worlds(seen), strict=True)] == [True, True]


def test_pages_that_were_never_searched_for_marks_are_hidden_with_the_gold() -> None:
    step = factories.make_step(factories.make_turn(factories.make_conversation(0, split="test_task"), steps=0))
    page = Snapshot.objects.get(pk=step.snapshot_id)
    reader = factories.make_user("reader", step.turn.conversation.dataset.project)
    assert rules.visible(reader, Snapshot.objects.all()).filter(pk=page.pk).exists()
    Step.objects.filter(pk=step.pk).update(marks=None)
    assert not rules.visible(reader, Snapshot.objects.all()).filter(pk=page.pk).exists()
    assert not rules.visible(reader, Screenshot.objects.all()).exists()

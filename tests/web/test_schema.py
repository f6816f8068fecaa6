"""The OpenAPI schema: complete, without warnings, and true of what the API answers."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from jsonschema import Draft202012Validator

from annotations.access.api_rules import JobThrottle
from tests import factories
from tests.signed_in import client_of
from tests.web.api_schema import api_schema
from tests.web.world import LISTS, READS, STARTS, World, make_world


@pytest.mark.slow
def test_the_schema_is_valid_and_made_without_a_warning() -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", "/dev/null", stdout=StringIO())


@pytest.mark.slow
@pytest.mark.django_db
def test_the_schema_is_served_to_members() -> None:
    response = client_of(factories.make_user("reader")).get("/api/schema/")
    assert response.status_code == 200
    assert response.json()["info"]["title"] == "WebNav API"


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return _as_json_schema(api_schema())


def _as_json_schema(node: Any) -> Any:
    """OpenAPI 3.0 as a strict JSON schema: what it says by `true` in standard words, and no properties but those
    named."""
    if isinstance(node, list):
        return [_as_json_schema(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: _as_json_schema(value) for key, value in node.items()}
    for most in ("Minimum", "Maximum"):
        if node.get(f"exclusive{most}") is True:
            node[f"exclusive{most}"] = node.pop(most.lower())
    if "properties" in node:
        node.setdefault("additionalProperties", False)
    return {"anyOf": [node, {"type": "null"}]} if node.pop("nullable", False) is True else node


def check(schema: dict[str, Any], client: Client, url: str, route: str, status: int = 200) -> None:
    """What is answered at `url`, with this status, is what the schema says of `route`."""
    check_answer(schema, route, client.get(url), status)


def check_answer(schema: dict[str, Any], route: str, answer: Any, status: int, method: str = "get") -> None:
    path = next(path for path in schema["paths"] if _shape(path) == f"/api/{route}")
    assert answer.status_code == status, (route, answer.content[:200])
    content = schema["paths"][path][method]["responses"][str(status)]["content"]
    if "application/json" in content:
        said = content["application/json"]["schema"] | {"components": schema["components"]}
        problems = list(Draft202012Validator(said).iter_errors(answer.json()))
        assert not problems, (route, [(list(problem.path), problem.message) for problem in problems])


def _shape(path: str) -> str:
    parts = path.replace("{seq}", "0").split("/")
    return "/".join("{}" if part.startswith("{") else part for part in parts)


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("split", ["train", "test_task"])
def test_answers_are_what_the_schema_says(schema: dict[str, Any], split: str) -> None:
    """On a test split gold is hidden and null, which the schema must allow."""
    world: World = make_world(split)
    client = client_of(factories.make_user("reader", world.project))
    hidden = {
        "rationales",
        "corrections",
        "turn-corrections",
        "memory-snippets",
        "assignments",
        "proposals",
        "verdicts",
        "comments",
        "reviews",
        "review-queues",
        "questions",
        "disputes",
        "curations",
        "judge-verdicts",
        "held-steps",
    }
    for noun in LISTS:
        check(schema, client, f"/api/{noun}/", f"{noun}/")
        if split == "train" or noun not in hidden:
            check(schema, client, f"/api/{noun}/{world.keys[noun]}/", f"{noun}/{{}}/")
    for route in READS:
        if route != "jobs/{}/file/":
            closed = (split != "train" and route.startswith("review-queues")) or route.endswith("lessons.jsonl")
            missing = split != "train" and route.startswith(("curations", "held-steps"))
            check(schema, client, world.fill(route), route, 403 if closed else 404 if missing else 200)
    reviewer, project = client_of(factories.make_user("reviewer", world.project)), world.project.slug
    check(schema, reviewer, f"/api/reviews/reasons/?project={project}", "reviews/reasons/")
    for route in ("campaigns/{}/quality/", "campaigns/{}/work/"):
        check(schema, reviewer, world.fill(route), route)
    check(schema, reviewer, world.fill("datasets/{}/lessons.jsonl"), "datasets/{}/lessons.jsonl")
    if split == "train":
        check(schema, reviewer, world.fill("review-queues/{}/next/"), "review-queues/{}/next/")
    for noun in ("me", "recipes", "home"):
        check(schema, client, f"/api/{noun}/", f"{noun}/")
    check(schema, client, "/api/recipes/mindact/prepare/", "recipes/{}/prepare/")
    check(schema, client, "/api/recipes/none/prepare/", "recipes/{}/prepare/", 404)
    check(schema, client, "/api/runs/compare/?runs=1", "runs/compare/", 400)


@pytest.mark.slow
@pytest.mark.django_db
def test_refusals_are_what_the_schema_says(schema: dict[str, Any]) -> None:
    world: World = make_world("train")
    reader = client_of(factories.make_user("reader", world.project))
    for noun in LISTS:
        check(schema, reader, f"/api/{noun}/?page_size=abc", f"{noun}/", 400)
        check(schema, reader, f"/api/{noun}/999999/", f"{noun}/{{}}/", 404)
        check(schema, Client(), f"/api/{noun}/", f"{noun}/", 401)
    for route in READS:
        check(schema, reader, "/api/" + route.format(999999), route, 404)
    for noun in STARTS:
        reads_first = noun.startswith("studies") or noun.endswith("forecast")  # whose project the body names
        check_answer(schema, f"{noun}/", _post(reader, noun, {}), 400 if reads_first else 403, "post")


@pytest.mark.slow
@pytest.mark.django_db
def test_refused_starts_are_what_the_schema_says(schema: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    world: World = make_world("train")
    admin = client_of(factories.make_user("admin", world.project))
    exported = {"dataset": world.project.datasets.get().name, "format": "jsonl"}
    check_answer(schema, "exports/", _post(admin, "exports", exported, "key"), 202, "post")
    check_answer(schema, "exports/", _post(admin, "exports", exported | {"format": "mind2web"}, "key"), 422, "post")
    check_answer(schema, "exports/", _post(admin, "exports", {"format": 7}), 400, "post")
    monkeypatch.setattr(JobThrottle, "THROTTLE_RATES", {"jobs": "1/hour"})
    check_answer(schema, "exports/", _post(admin, "exports", exported), 429, "post")
    monkeypatch.undo()
    check_answer(schema, "studies/", _post(admin, "studies", {"budget": {"token": 5}}), 400, "post")
    check_answer(schema, "auth/login/", _post(Client(), "auth/login", {"username": "a", "password": "b"}), 401, "post")


def _post(client: Client, noun: str, body: dict[str, Any], key: str = "") -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return client.post(f"/api/{noun}/", body, content_type="application/json", headers=headers)

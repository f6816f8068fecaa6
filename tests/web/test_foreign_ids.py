"""Ids of another project in what a request says, not in its address: each reads like one that there is not.

Every field and parameter of the API whose name is that of a thing is asked with the row of another world and with one
of none, by somebody who may do everything in a project of their own.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from annotations.models import Dataset
from tests import factories
from tests.signed_in import client_of
from tests.web.api_schema import api_schema
from tests.web.world import LISTS, World, make_world

pytestmark = pytest.mark.django_db
NOBODY = 2_000_000_011
NO_NAME = "never-there"
# What fields call the things of LISTS, where it is not the noun of their route itself.
CALLED = {
    "project": "projects",
    "dataset": "datasets",
    "website": "websites",
    "conversation": "conversations",
    "turn": "turns",
    "step": "steps",
    "trajectory": "trajectories",
    "study": "studies",
    "run": "runs",
    "runs": "runs",
    "campaign": "campaigns",
    "session": "sessions",
    "item": "items",
    "items": "items",
    "assignment": "assignments",
    "queue": "review-queues",
    "release": "releases",
    "model": "models",
    "subject": "assignments",
    "exemplar": "exemplars",
    "workflow": "workflows",
    "job": "jobs",
    "source_task": "source-tasks",
    "parent": "comments",
    "correction": "corrections",
    "snapshot": "snapshots",
}


@dataclass(frozen=True)
class Place:
    """A field of a body, or a parameter, that names a thing."""

    method: str
    path: str  # with "{…}" for a row of one's own, as a foreign row in the address is none: test_permissions.py
    name: str
    kind: str  # "integer", "string", "array"

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.name}"


def places() -> Iterator[Place]:
    schema = api_schema()
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            if "{" in path and path.split("/")[2] not in LISTS:
                continue
            for given in operation.get("parameters", []):
                if given["in"] == "query" and _called(given["name"]):
                    yield Place(method, path, given["name"], _type(given["schema"], schema))
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            for name, field in _resolved(body, schema).get("properties", {}).items():
                if _called(name):
                    yield Place(method, path, name, _type(field, schema))


def _called(name: str) -> str:
    return CALLED.get(name.split("__")[0].removesuffix("_id"), "")


def _resolved(field: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in field:
        return _resolved(schema["components"]["schemas"][field["$ref"].rsplit("/", 1)[1]], schema)
    return field


def _type(field: dict[str, Any], schema: dict[str, Any]) -> str:
    found = _resolved(field, schema).get("type", "string")
    return found[0] if isinstance(found, list) else found


@pytest.fixture(scope="module")
def world(rows_of_the_file: None) -> World:
    return make_world()


@pytest.fixture(scope="module")
def own(rows_of_the_file: None) -> World:
    return make_world()


def named(world: World, place: Place) -> list[tuple[Any, Any]]:
    """The row of the other world as the field may name it, beside one that there is not."""
    noun = _called(place.name)
    key = world.keys[noun]
    names = {"projects": world.project.slug, "datasets": Dataset.objects.get(pk=world.keys["datasets"]).name}
    ways: list[tuple[Any, Any]] = [(key, NOBODY)] if isinstance(key, int) else [(key, "0" * len(str(key)))]
    if noun in names:
        ways.append((names[noun], NO_NAME))
    return [([mine], [none]) if place.kind == "array" else (mine, none) for mine, none in ways]


def asked(client: Client, own: World, place: Place, value: Any) -> tuple[int, str]:
    """The answer, without what was asked for. Nothing that it does stays."""
    path = (
        re.sub(r"{\w+}", str(own.keys[place.path.split("/")[2]]), place.path, count=1)
        if "{" in place.path
        else place.path
    )
    with transaction.atomic():
        if place.method == "get":
            answer = client.get(path, {place.name: value})
        else:
            answer = client.generic(place.method.upper(), path, json.dumps({place.name: value}), "application/json")
        said = b"".join(answer.streaming_content) if answer.streaming else answer.content
        transaction.set_rollback(True)
    told = said.decode()
    for one in value if isinstance(value, list) else [value]:
        told = re.sub(rf"(?<![\w,])(?<!runs=){re.escape(str(one))}(?![\w,])", "ID", told)
    return answer.status_code, told


@pytest.mark.slow
@pytest.mark.parametrize("role", ["admin", "annotator", "reader"])
def test_what_a_request_names_of_another_project_is_what_there_is_not(world: World, own: World, role: str) -> None:
    client, found = client_of(factories.make_user(role, own.project)), list(places())
    assert len(found) > 40
    assert any("{" in place.path for place in found)
    told = {
        str(place): (foreign, none)
        for place in found
        for mine, nothing in named(world, place)
        if (foreign := asked(client, own, place, mine)) != (none := asked(client, own, place, nothing))
    }
    assert sorted(told) == [], told


@pytest.mark.slow
def test_who_belongs_to_it_is_told_otherwise(world: World, own: World) -> None:
    """The opposite: most of these answers do depend on the row, for its own people."""
    client = client_of(factories.make_user("admin", world.project))
    ways = [(place, mine, none) for place in places() for mine, none in named(world, place)]
    differ = {
        str(place)
        for place, mine, none in ways
        if asked(client, world, place, mine) != asked(client, world, place, none)
    }
    assert len(differ) > 30, differ

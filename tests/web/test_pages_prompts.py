"""Pages of prompt packs: the list, one with what it changes, the editor, and what a recipe asks about a step."""

import re
from html import unescape

import pytest
from django.test import Client

from agents.cookbook.checking import vary
from agents.models import PromptPack, Run
from agents.packs.comparing import COMPARED, compared
from agents.packs.preview import AskedPrompt, StepPreview, preview
from agents.prompts.catalogue import TEXTS
from agents.prompts.packs import Pack, webnav
from agents.recipes.literature import RECIPES
from agents.recipes.schemas import recipe_schema
from agents.stages.registry import texts_of
from annotations.models import Dataset, Split, Step
from tests import factories
from tests.web.test_permissions import client_of

pytestmark = pytest.mark.django_db
LIVE = {"synapse-miniwob"}  # asks with exemplar sets that people import: live/test_program_agents
ASKING = [name for name, recipe in RECIPES.items() if recipe.data == "any" and texts_of(recipe) and name not in LIVE]


@pytest.fixture
def dataset() -> Dataset:
    dataset = factories.make_dataset()
    for split in (Split.TRAIN, Split.TRAIN, Split.TEST_TASK):
        factories.make_conversation(turns=3, steps=2, split=split, dataset=dataset)
    factories.make_workflow(dataset, name="open", description="Given that you are on a page, this opens a form.")
    return dataset


@pytest.fixture
def admin(dataset) -> Client:
    return client_of(factories.make_user("admin", dataset.project))


def said(client: Client, url: str) -> str:
    answer = client.get(url)
    assert answer.status_code == 200, answer
    return unescape(answer.content.decode())


def form_of(row: PromptPack, **changes: str) -> dict[str, str]:
    """What the editor sends, with the line breaks of forms."""
    texts = {name: text.replace("\n", "\r\n") for name, text in ({**row.texts, **changes}).items()}
    return {"version": str(row.version), "note": "other words", **texts}


def last_step(dataset: Dataset, split: str = Split.TRAIN) -> Step:
    steps = Step.objects.filter(turn__conversation__dataset=dataset, turn__conversation__split=split)
    return steps.order_by("turn__conversation", "-turn__index", "-index").first()


def test_the_list_shows_the_packaged_pack_and_the_newest_of_each_other(dataset, admin) -> None:
    factories.make_prompt_pack(dataset.project, "own")
    factories.make_prompt_pack(
        dataset.project, "own", page_header="Now:", rewrite="{{website}}{{earlier}}{{instruction}}"
    )
    factories.make_prompt_pack(factories.make_project(), "foreign")
    page = said(admin, "/prompts/")
    assert 'href="/prompts/webnav/"' in page
    assert "own@2" in page
    assert "own@1" not in page
    assert re.search(r"Differs from webnav in 2\s+texts:", page)
    assert "foreign" not in page
    assert 'href="/prompts/"' in said(admin, "/recipes/")


def test_the_packaged_pack_shows_every_text(admin) -> None:
    page = said(admin, "/prompts/webnav/")
    assert all(f'id="{name}"' in page for name in TEXTS)
    assert "A person talks to an agent that uses the website {{website}}" in page
    assert "/edit/" not in page


def test_a_pack_shows_word_by_word_what_it_changes(dataset, admin) -> None:
    row = factories.make_prompt_pack(
        dataset.project, "own", page_header=webnav().words("page_header").replace("simplified", "<b>plain</b>")
    )
    page = admin.get(f"/prompts/{row.pk}/").content.decode()
    assert '<span class="del">simplified</span>' in page
    assert '<span class="ins">&lt;b&gt;plain&lt;/b&gt;</span>' in page
    assert re.search(r"1 text differs\s+from", page)
    assert "Says the same as" in said(admin, f"/prompts/{factories.make_prompt_pack(dataset.project).pk}/")


def test_versions_can_be_compared(dataset, admin) -> None:
    first = factories.make_prompt_pack(dataset.project, "own", page_header="One.")
    second = factories.make_prompt_pack(dataset.project, "own", page_header="Two.")
    page = said(admin, f"/prompts/{second.pk}/?against={first}")
    assert re.search(r"from\s+<b>own@1</b>", page)
    assert '<span class="del">One</span>' in page
    assert f'href="/prompts/{first.pk}/"' in page
    assert "Compare with" in page
    assert admin.get(f"/prompts/{second.pk}/?against=nothing@7").status_code == 200


def test_a_text_that_one_of_two_packs_has_is_shown_as_such_and_long_ones_are_not_compared() -> None:
    long = "word " * COMPARED
    one, other = Pack("a", 1, {"page_header": "x", "page_none": long}), Pack("b", 1, {"rewrite": "y", "page_none": "z"})
    found = {text.name: text for text in compared(one, other)}
    assert (found["page_header"].before, found["rewrite"].text) == (None, None)
    assert found["page_none"].differs
    assert not found["page_none"].is_compared
    assert all(not text.differs for text in compared(one, None))


def test_a_copy_is_made_and_edited_into_the_next_version(dataset, admin) -> None:
    answer = admin.post("/prompts/new/?of=webnav", {"name": "own", "project": dataset.project.pk})
    row = PromptPack.objects.get()
    assert answer["Location"] == f"/prompts/{row.pk}/edit/"
    assert (str(row), row.base, row.base_sha256, row.sha256) == ("own@1", "webnav", webnav().sha256, webnav().sha256)
    page = said(admin, f"/prompts/{row.pk}/edit/")
    assert all(f'name="{name}"' in page for name in TEXTS)
    assert "Filled in: {{earlier}}, {{instruction}}, {{website}}." in page
    answer = admin.post(f"/prompts/{row.pk}/edit/", form_of(row, page_header="\n  Now:\n"))
    edited = PromptPack.objects.exclude(pk=row.pk).get()
    assert answer["Location"] == f"/prompts/{edited.pk}/"
    assert (str(edited), edited.base, edited.note) == ("own@2", "webnav", "other words")
    assert edited.texts == row.texts | {"page_header": "\n  Now:\n"}, "words stay to the character"
    row.refresh_from_db()
    assert row.sha256 == webnav().sha256, "a version never changes"


def test_a_text_can_be_left_out_and_is_then_none_of_the_pack(dataset, admin) -> None:
    row = factories.make_prompt_pack(dataset.project, "own")
    admin.post(f"/prompts/{row.pk}/edit/", form_of(row, objective=""))
    assert "objective" not in PromptPack.objects.get(version=2).texts
    step = last_step(dataset)
    page = said(admin, f"/prompts/steps/{step.pk}/?pack={PromptPack.objects.get(version=2).pk}&recipe=mims")
    assert "the prompt pack own@2 has no text 'objective', which mims needs to recall." in page


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rewrite": "Say it again."}, "{{earlier}}, {{instruction}}, {{website}} must stand in it."),
        ({"page_header": "{{task}}"}, "nothing is filled in for {{task}}."),
        ({"objective": "@@ nobody\nx"}, "line 1 is no mark"),
        ({"objective": f"@@ user\nx\n@@ tools\n{'[' * 90_000}"}, "the tools are no JSON"),
        ({}, "Change at least one text"),
        ({"version": "7"}, "Somebody has saved own@1 meanwhile"),
    ],
)
def test_what_is_wrong_with_a_text_is_said_beside_it(changes, message, dataset, admin) -> None:
    row = factories.make_prompt_pack(dataset.project, "own")
    answer = admin.post(f"/prompts/{row.pk}/edit/", form_of(row) | changes)
    assert answer.status_code == 200
    assert message in unescape(answer.content.decode())
    assert PromptPack.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("webnav", "comes with the site"),
        ("own", "has a pack own already"),
        ("Own", "Use small letters"),
        ("a@2", "Use small letters"),
        ("a" * 61, "at most 60"),
    ],
)
def test_a_copy_needs_a_name_of_its_own(name, message, dataset, admin) -> None:
    factories.make_prompt_pack(dataset.project, "own")
    answer = admin.post("/prompts/new/", {"name": name, "project": dataset.project.pk})
    assert message in unescape(answer.content.decode())
    assert PromptPack.objects.count() == 1


def test_packs_are_changed_by_admins_and_exist_for_members_only(dataset) -> None:
    row = factories.make_prompt_pack(dataset.project, "own")
    reader = client_of(factories.make_user("reader", dataset.project))
    assert "Now:" not in said(reader, f"/prompts/{row.pk}/")
    assert reader.get(f"/prompts/{row.pk}/edit/").status_code == 403
    assert reader.get("/prompts/new/").status_code == 403
    stranger = client_of(factories.make_user("admin", factories.make_project()))
    assert stranger.get(f"/prompts/{row.pk}/").status_code == 404
    assert stranger.get(f"/prompts/new/?of={row.pk}").status_code == 404
    assert stranger.get("/prompts/new/?of=../x").status_code == 404


@pytest.mark.parametrize("name", ASKING)
def test_a_preview_asks_what_the_recipe_asks_in_the_words_of_the_pack(name, dataset) -> None:
    texts = {key: text if TEXTS[key].form != "words" else f"<{key}> {text}" for key, text in webnav().texts.items()}
    found = preview(RECIPES[name], Pack("own", 1, texts), last_step(dataset))
    assert (planned(found)[0].what, found.error) == ("to act", "")
    asked = "\n".join(message.content for one in found.asked for message in one.messages)
    for key in texts_of(RECIPES[name]):
        if TEXTS[key].form == "words" and key not in ("rationale_none", "workflow_summary"):
            assert f"<{key}>" in asked, key
    assert all(one.messages[-1].role == "user" for one in planned(found))


@pytest.mark.parametrize(
    ("name", "changes", "count"),
    [
        ("wma", {}, 2),  # what each action leads to, and its value
        ("wma", {"imagine.depth": "2"}, 4),  # also the next action, and where that leads
        ("wma", {"imagine.kind": "value_only"}, 1),
        ("wma", {"imagine.kind": "trained", "imagine.model": "not-loaded"}, 2),
        ("wma", {"imagine.value": "progress", "imagine.value_model": "not-loaded"}, 2),
        ("wma", {"imagine.kind": "retrieval", "imagine.value": "embedded"}, 0),  # past transitions ask nobody
        ("cot", {}, 0),
    ],
)
def test_a_preview_shows_what_imagines_too(name, changes, count, dataset) -> None:
    recipe = vary(RECIPES[name], changes)
    _, *imagined = planned(preview(recipe, webnav(), last_step(dataset)))
    assert [one.what for one in imagined] == ["to imagine"] * count
    texts = "\n".join(message.content for one in imagined for message in one.messages)
    assert ("CLICK" in texts) == bool(count)


def planned(found: StepPreview) -> list[AskedPrompt]:
    """The prompts from that of the planner on."""
    return [one for one in found.asked if one.what in ("to act", "to imagine")]


@pytest.mark.slow
def test_the_page_shows_the_questions_with_their_roles(dataset, admin) -> None:
    row = factories.make_prompt_pack(dataset.project, "own", trajectory_system="Go <on>.")
    step = last_step(dataset)
    page = admin.get(f"/prompts/steps/{step.pk}/?pack={row.pk}&recipe=synapse").content.decode()
    assert "Go &lt;on&gt;." in page
    assert re.search(r"<h3>system</h3>\s*<pre tabindex=\"0\">Go", page)
    assert "Asked to act" in page
    plain = said(admin, f"/prompts/steps/{step.pk}/?recipe=mims")
    assert "Asked to recall" in plain
    assert "You guide a person through a website." in plain
    assert "grounded</option>" not in plain
    assert said(admin, f"/prompts/steps/{step.pk}/?recipe=nothing")
    assert f'href="/prompts/steps/{step.pk}/?pack=' in said(admin, f"/prompts/{row.pk}/")


@pytest.mark.slow
def test_a_step_whose_gold_is_hidden_is_not_previewed(dataset) -> None:
    hidden, shown = last_step(dataset, Split.TEST_TASK), last_step(dataset)
    reader = client_of(factories.make_user("reader", dataset.project))
    assert reader.get(f"/prompts/steps/{shown.pk}/").status_code == 200
    assert reader.get(f"/prompts/steps/{hidden.pk}/").status_code == 403
    seeing = client_of(factories.make_user("reader", dataset.project, sees_test_gold=True))
    assert seeing.get(f"/prompts/steps/{hidden.pk}/").status_code == 200
    stranger = client_of(factories.make_user("admin", factories.make_project()))
    assert stranger.get(f"/prompts/steps/{shown.pk}/").status_code == 404


def test_a_page_that_cannot_be_read_is_said(dataset, admin) -> None:
    step = last_step(dataset)
    Step.objects.filter(pk=step.pk).update(snapshot=None)
    assert "There is no prompt for the action: " in said(admin, f"/prompts/steps/{step.pk}/?recipe=self-map")
    assert not Run.objects.exists()


@pytest.mark.slow
def test_a_recipe_is_derived_with_a_pack_of_its_project_only(dataset, admin) -> None:
    from tests.web.test_pages_recipes import form_data

    factories.make_prompt_pack(dataset.project, "own")
    data = form_data("self-map", dataset.project, name="a")
    bad = admin.post("/recipes/self-map/derive/", data | {"prompts.pack": "other"})
    assert "there is no prompt pack other in" in unescape(bad.content.decode())
    good = admin.post("/recipes/self-map/derive/", data | {"prompts.pack": "own"})
    assert good.status_code == 302, good.content.decode()[-3000:]
    assert "In the words of the prompt pack own." in said(admin, "/recipes/a/")


def test_the_api_lists_versions_and_gives_texts_of_one(dataset) -> None:
    row = factories.make_prompt_pack(dataset.project, "own", page_header="Now:")
    reader = client_of(factories.make_user("reader", dataset.project))
    (listed,) = reader.get("/api/prompt-packs/").json()["results"]
    assert (listed["name"], listed["version"], listed["sha256"]) == ("own", 1, row.sha256)
    assert "texts" not in listed
    assert reader.get(f"/api/prompt-packs/{row.pk}/").json()["texts"]["page_header"] == "Now:"
    assert recipe_schema()["properties"]["prompts"]["properties"]["pack"]["default"] == "webnav"

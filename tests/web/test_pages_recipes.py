"""Recipes on pages, in commands and in studies: the list, one recipe, and deriving a new one."""

import html
import io
import json
import re

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.cookbook import saved, sentences
from agents.cookbook.starters import missing
from agents.models import ExemplarSet, SavedRecipe
from agents.recipes import published
from agents.recipes.literature import RECIPES
from agents.training.prepare import preparing
from agents.types import STAGES
from annotations.models import Project
from tests import factories
from tests.signed_in import client_of
from tests.web.reading import source
from tests.web.test_pages_studies import add_scores, make_study

pytestmark = pytest.mark.django_db


def page(client: Client, url: str) -> str:
    return html.unescape(source(client.get(url)))


def text(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def make_recipe(project=None, **fields) -> SavedRecipe:
    fields = {"name": "wide", "parent": "grounded", "changes": {"rank.top_k": "77"}} | fields
    return SavedRecipe.objects.create(project=project or factories.make_project(), **fields)


def form_data(parent: str, project, **changes) -> dict:
    """What a browser sends: every field as it was shown, but for `changes` (dots written as __)."""
    recipe = saved.get(parent)
    data = {name: value for name, value in sentences.flat(recipe).items() if value is not False}
    data |= {"name": "wide", "description": "More of everything.", "project": project.pk, "preset": ""}
    return data | {key.replace("__", "."): value for key, value in changes.items()}


def test_the_list_groups_recipes_and_says_what_each_needs() -> None:
    said = page(client_of(factories.make_user("reader")), "/recipes/")
    for name, recipe in RECIPES.items():
        assert f'href="/recipes/{name}/"' in said
        for need in missing(recipe):
            assert need in said
    assert "Comes with WebNav" in said
    assert said.index("Synapse (2024)") < said.index('href="/recipes/synapse/"')
    assert "the others say what they need" in said


def test_where_all_recipes_can_run_no_others_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved, "listed", lambda user: [RECIPES["grounded"]])
    said = " ".join(page(client_of(factories.make_user("reader")), "/recipes/").split())
    assert "1 of 1 can run here now." in said
    assert "the others" not in said


@pytest.mark.slow
@pytest.mark.parametrize("url", ["/", "/recipes/", "/studies/new/", "/api/recipes/"])
def test_more_recipes_ask_the_database_no_more_often(url: str) -> None:
    project = factories.make_project()
    client, asked = client_of(factories.make_user("admin", project)), []
    client.get(url)
    for more in (0, 8):
        for number in range(more):
            make_recipe(project, name=f"wide-{number}")
        with CaptureQueriesContext(connection) as queries:
            assert client.get(url).status_code == 200
        asked.append([query["sql"] for query in queries])
    assert len(asked[1]) == len(asked[0]), asked[1][len(asked[0]) :]
    names = url == "/studies/new/"  # offered there, beside the one that answers by default
    assert sum('"agents_connection"' in sql for sql in asked[1]) <= 1 + names
    assert sum('"annotations_worker"' in sql for sql in asked[1]) <= 4, "one for each name of weights"


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_has_its_stages_settings_and_quirks_in_words(name: str) -> None:
    recipe = RECIPES[name]
    said = text(page(client_of(factories.make_user("reader")), f"/recipes/{name}/"))
    for stage in sentences.stages(recipe):
        assert stage.sentence in said
        for setting in stage.settings:
            value = f"{int(setting.value):,}" if setting.value.isdecimal() else setting.value
            assert f"{setting.name} {value} " in said
    for quirk in sentences.quirks(recipe):
        assert f"{quirk.name} {quirk.what} {'on' if quirk.on else 'off'} on off" in said
    for need in missing(recipe):
        assert need in said
    for cell in published.of_recipe(name):
        assert cell.label in said
        assert f"{100 * cell.value:.2f}".rstrip("0").rstrip(".") in said


@pytest.mark.slow
def test_a_recipe_shows_what_it_has_reached_here_beside_its_relatives() -> None:
    study, own = make_study(recipe_name="grounded")
    other = factories.make_run(
        own.dataset, recipe_name="grounded-world-model", split="train", state="done", recipe=own.recipe
    )
    elsewhere = factories.make_run(
        own.dataset, recipe_name="grounded-world-model", split="train", state="done", data_sha256="b" * 64
    )
    add_scores(own, turn_success=0.4)
    add_scores(other, turn_success=0.6)
    add_scores(elsewhere, turn_success=0.1)
    client = client_of(factories.make_user("reader", study.project))
    said = page(client, "/recipes/grounded/")
    reached, beside = (
        said.partition(f'id="{name}"')[2].partition("</section>")[0] for name in ("scores-here", "variants-here")
    )
    assert 'aria-label="40.0, from 30.0 to 50.0"' in reached
    assert f'href="/runs/{own.pk}/"' in reached
    rows = [text(row) for row in re.findall(r"<tr>(.*?)</tr>", beside, re.DOTALL)[1:]]
    assert [row.split(" ")[:2] for row in rows] == [["grounded-world-model", "60.0"], ["grounded", "40.0"]]
    assert 'id="scores-here"' not in page(client, "/recipes/synapse/")
    assert 'id="scores-here"' not in page(client_of(factories.make_user("reader")), "/recipes/grounded/")


def test_a_recipe_shows_what_the_model_read_at_a_step_to_those_who_may_see_its_gold() -> None:
    study, run = make_study(recipe_name="mindact", split="test_task")
    admin = client_of(factories.make_user("admin", study.project, sees_test_gold=True))
    assert 'id="read"' not in page(admin, "/recipes/mindact/"), "no model was asked"
    step = run.steps.order_by("pk").first()
    prompt = [{"role": "user", "content": "Task: find <b>action</b> films"}]
    run.steps.filter(pk=step.pk).update(calls=3, trace={"compose": {"prompt": prompt}})
    shown = page(admin, "/recipes/mindact/").partition('id="read"')[2].partition("</section>")[0]
    assert "What it read in 3 calls" in text(shown)
    assert "[content] Task: find <b>action</b> films" in shown
    assert f'href="/trajectories/{step.trajectory_id}/steps/{step.seq}/"' in shown
    reader = client_of(factories.make_user("reader", study.project))
    assert 'id="read"' not in page(reader, "/recipes/mindact/"), "what is asked of a test split is hidden with its gold"


@pytest.mark.slow
def test_a_recipe_shows_what_it_has_reached_on_each_dataset_the_best_first() -> None:
    study, own = make_study(recipe_name="grounded")
    again = factories.make_run(own.dataset, recipe_name="grounded", split="train", state="done", recipe=own.recipe)
    worse = factories.make_run(
        factories.make_dataset(project=study.project), recipe_name="grounded", split="train", state="done"
    )
    live = factories.make_dataset(project=study.project, live={"environment": "miniwob", "steps": 2, "seconds": 9})
    episodes = factories.make_run(live, recipe_name="grounded", split="train", state="done")
    for run, value in ((own, 0.9), (again, 0.4), (worse, 0.0), (episodes, 0.7)):
        add_scores(run, turn_success=value)
    said = page(client_of(factories.make_user("reader", study.project)), "/recipes/grounded/")
    shown = [part.partition("</section>")[0] for part in said.split('id="scores-here')[1:]]
    assert [re.findall(r'aria-label="(\S+), from', part) for part in shown] == [["40.0"], ["0.0"]], (
        "the last run of each"
    )
    for part, run in zip(shown, (again, worse), strict=True):
        assert f"turn success rate on {run.dataset}" in text(part)


def test_a_paper_number_stands_beside_ours_with_what_it_was_measured_on() -> None:
    study, own = make_study(recipe_name="self-map", split="test_task")
    printed = next(one for one in published.of_recipe("self-map") if one.metric == "turn_success")
    add_scores(own, turn_success=printed.value + 0.3)
    said = page(client_of(factories.make_user("reader", study.project)), "/recipes/self-map/")
    shown = said.partition('id="scores-here"')[2].partition("</section>")[0]
    assert printed.split == "test_task"
    assert f"paper {100 * printed.value:.1f}" in shown
    assert f"{printed.label}, on MT-Mind2Web: other data" in text(shown)
    (mark,) = re.findall(r'class="paper" transform="translate\((\S+) 11\)"', shown)
    low = re.findall(r'<line x1="(\S+)" x2="\S+" y1="11"', shown)[0]
    assert 0 < float(mark) < float(low), "it lies on the axis, below our interval"
    other, again = make_study(recipe_name="self-map", split="train")
    add_scores(again, turn_success=0.5)
    assert (
        "paper"
        not in page(client_of(factories.make_user("reader", other.project)), "/recipes/self-map/")
        .partition('id="scores-here"')[2]
        .partition("</section>")[0]
    ), "no paper has such a split"


def test_a_recipe_whose_workflows_are_not_written_is_not_said_to_be_ready(monkeypatch) -> None:
    monkeypatch.setattr(
        "agents.training.prepare.preparing._training", lambda starter, dataset: None
    )  # rankers are here
    monkeypatch.setattr("agents.recipe_pages.page.starters.told_of", lambda recipes: [([], []) for _ in recipes])
    conversation = factories.make_conversation(split="train")
    reader = client_of(factories.make_user("reader", conversation.dataset.project))
    shown = page(reader, "/recipes/")

    def said(name: str) -> str:
        """In the cell after the recipe's name."""
        return text(shown.partition(f'href="/recipes/{name}/"')[2].split("</td>")[1])

    assert said("awm") == "not yet needs workflows, which an admin can prepare"
    assert said("synapse") == "ready"


@pytest.mark.slow
def test_our_exemplar_sets_stand_in_until_a_project_of_the_reader_has_those_of_the_authors(monkeypatch) -> None:
    for name in ("LLM_BASE_URL", "LLM_MODEL", "LLM_EMBEDDED"):
        monkeypatch.delenv(name, raising=False)
    project, other = factories.make_project(), factories.make_project()
    reader = client_of(factories.make_user("reader", project))
    here = {"source": "synapse", "position": 0, "body": {}, "keys": [], "read_from": "a clone"}

    def row() -> str:
        return text(page(reader, "/recipes/").partition('href="/recipes/synapse-miniwob/"')[2].partition("</tr>")[0])

    def told() -> dict:
        return reader.get("/api/recipes/synapse-miniwob/").json()

    ExemplarSet.objects.create(project=other, name="press", **here)
    assert "11 exemplar sets of ours, not 48" in row()
    assert "in the place of the 48 of its authors" in page(reader, "/recipes/synapse-miniwob/")
    assert [one["stage"] for one in told()["stands_in"]].count("recall") == 1
    assert (told()["can_run"], told()["missing"]) == (True, [])
    ExemplarSet.objects.create(project=project, name="press", **here)
    assert "exemplar sets of ours" not in row()
    assert "recall" not in [one["stage"] for one in told()["stands_in"]]


def test_differences_from_the_parent_are_marked_with_its_value() -> None:
    said = page(client_of(factories.make_user("reader")), "/recipes/synapse/")
    rows = re.findall(r'<tr class="differs">(.*?)</tr>', said)
    assert [text(row).split(" ")[:3] for row in rows] == [
        ["recall.exemplars", "semantic", "none"],
        ["recall.exemplar_k", "3", "0"],
    ]
    assert said.count("<del>") == 2
    assert 'class="stage changed" id="recall"' in said
    assert 'href="/recipes/bare/"' in said


def test_a_recipe_is_drawn_with_what_flows_between_its_stages() -> None:
    said = page(client_of(factories.make_user("reader")), "/recipes/synapse/")
    boxes = re.findall(r'<li class="(box[^"]*)">(.*?)</li>', said)
    assert [text(box).split(" ")[0] for _, box in boxes] == list(STAGES)
    assert [classes for classes, _ in boxes] == ["box"] * 2 + ["box varied"] + ["box"] * 3 + ["box off", "box"]
    assert "instead of nothing" in boxes[2][1]
    assert "3 exemplars" in boxes[2][1]


@pytest.mark.slow
def test_a_recipe_leads_to_its_runs_here_that_one_may_see() -> None:
    run = factories.make_run(state="done", recipe_name="grounded", split="test_task")
    factories.make_run(run.dataset, state="failed", recipe_name="grounded")
    factories.make_run(run.dataset, state="done", recipe_name="mindact")
    shown = source(client_of(factories.make_user("reader", run.dataset.project)).get("/recipes/grounded/"))
    listed = shown.partition('id="runs-here"')[2].partition("</section>")[0]
    assert re.findall(r"/runs/(\d+)/", listed) == [str(run.pk)]
    assert f"{run.dataset} · test_task" in listed
    assert "runs-here" not in source(client_of(factories.make_user("reader")).get("/recipes/grounded/"))


def test_a_recipe_leads_to_those_that_vary_it() -> None:
    said = page(client_of(factories.make_user("reader")), "/recipes/self-map/")
    for name in ("self-map-mcq", "self-map-full-state", "self-map-no-rationale", "self-map-chronological"):
        assert f'href="/recipes/{name}/"' in said


def test_an_unknown_recipe_does_not_exist() -> None:
    assert client_of(factories.make_user("reader")).get("/recipes/nothing/").status_code == 404


def test_only_what_was_changed_is_stored_under_the_new_name() -> None:
    project = factories.make_project()
    user = factories.make_user("admin", project)
    data = form_data(
        "mindact", project, rank__top_k="77", recall__memory="none", quirks__q8_empty_reply_crashes="false"
    )
    response = client_of(user).post("/recipes/mindact/derive/", data)
    assert response.status_code == 302, text(response.content.decode())
    row = SavedRecipe.objects.get()
    assert (response["Location"], row.parent, row.created_by) == ("/recipes/wide/", "mindact", user)
    assert row.changes == {"rank.top_k": "77", "recall.memory": "none", "quirks.q8_empty_reply_crashes": "false"}
    recipe = saved.get("wide")
    assert (recipe.rank.top_k, recipe.recall.memory, recipe.quirks.q8_empty_reply_crashes) == (77, "none", False)
    assert recipe.rank.base == RECIPES["mindact"].rank.base != ""
    said = text(page(client_of(user), "/recipes/wide/"))
    assert "Derived here · varies mindact" in said
    assert "rank.top_k 77 50 elements kept" in said


def test_a_preset_sets_every_quirk_and_single_ones_may_differ_from_it() -> None:
    project = factories.make_project()
    client = client_of(factories.make_user("admin", project))
    data = form_data("mindact", project, preset="corrected", quirks__q7_single_candidate_fails="true")
    assert client.post("/recipes/mindact/derive/", data).status_code == 302
    recipe = saved.get("wide")
    on = [quirk.name for quirk in sentences.quirks(recipe) if quirk.on]
    assert (recipe.preset, on) == ("corrected", ["q7_single_candidate_fails"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "Change at least one setting"),
        ({"name": "mindact", "rank__top_k": 3}, "There is a recipe mindact already."),
        ({"name": "two words", "rank__top_k": 3}, "Enter a valid"),
        ({"rank__top_k": 0}, "rank.top_k must be at least 1, got 0"),
        ({"rank__kind": "bogus"}, "Select a valid choice"),
        ({"recall__weight": "nan"}, "Enter a number"),
        ({"batch_size": 5000}, "batch_size must lie in 1..1024, got 5000"),
        ({"compose__shots": 3}, "compose.shots would change nothing in wide: it needs plan.kind=multichoice"),
        ({"recall__memory": "fixed"}, "recall.memory=fixed would change nothing in wide: it needs a prompt that shows"),
    ],
)
def test_a_wrong_value_is_named_and_nothing_is_stored(changes, message) -> None:
    project = factories.make_project()
    client = client_of(factories.make_user("admin", project))
    response = client.post("/recipes/grounded/derive/", form_data("grounded", project, **changes))
    assert response.status_code == 200
    assert message in text(html.unescape(response.content.decode()))
    assert not SavedRecipe.objects.exists()


def test_deriving_needs_a_role_that_may_evaluate() -> None:
    assert client_of(factories.make_user("annotator")).get("/recipes/grounded/derive/").status_code == 403
    mine, other = factories.make_project(), factories.make_project()
    client = client_of(factories.make_user("admin", mine))
    response = client.post("/recipes/grounded/derive/", form_data("grounded", other, rank__top_k=3))
    assert "Select a valid choice" in response.content.decode()
    assert not SavedRecipe.objects.exists()


def test_saved_recipes_exist_for_members_of_their_project_only() -> None:
    row = make_recipe()
    member, stranger = factories.make_user("reader", row.project), factories.make_user("admin")
    assert "wide" in page(client_of(member), "/recipes/")
    assert client_of(member).get("/api/recipes/wide/").json()["recipe"]["rank"]["top_k"] == 77
    for url in ("/recipes/wide/", "/recipes/wide/derive/", "/api/recipes/wide/"):
        assert client_of(stranger).get(url).status_code == 404
    assert '"/recipes/wide/"' not in page(client_of(stranger), "/recipes/")
    with pytest.raises(ValueError, match="there is no recipe 'wide'"):
        saved.get("wide", stranger)


def test_recipes_can_be_derived_from_derived_ones() -> None:
    project = factories.make_project()
    make_recipe(project)
    make_recipe(project, name="wider", parent="wide", changes={"recall.k": "9"})
    recipe = saved.get("wider")
    assert (recipe.rank.top_k, recipe.recall.k, recipe.parent) == (77, 9, "wide")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"changes": {"rank.gone": "1"}}, "there is no setting 'rank.gone'"),
        ({"parent": "gone"}, "its parent 'gone' does not exist any more"),
        ({"parent": "wide"}, "its parent 'wide' does not exist any more"),
    ],
)
def test_a_saved_recipe_that_cannot_be_read_is_listed_with_the_reason(fields, reason) -> None:
    row = make_recipe(**fields)
    said = page(client_of(factories.make_user("reader", row.project)), "/recipes/")
    assert f"its settings to be corrected: {reason}" in said
    with pytest.raises(ValueError, match=reason):
        saved.get("wide")


def printed(*arguments: str) -> str:
    out = io.StringIO()
    call_command("recipes", *arguments, stdout=out)
    return out.getvalue()


@pytest.mark.slow
def test_the_command_lists_what_the_page_lists() -> None:
    make_recipe()
    said = printed()
    for name, recipe in [*RECIPES.items(), ("wide", saved.get("wide"))]:
        line = next(line for line in said.splitlines() if line.split()[:1] == [name])
        ((lacking, _),) = preparing.told_of([recipe], Project.objects.all())
        assert line.endswith("; ".join(lacking) if lacking else "can run")
    rows = json.loads(printed("--json"))
    assert [row["name"] for row in rows] == [*RECIPES, "wide"]
    assert rows[0]["can_run"] == (not rows[0]["missing"])


def test_the_command_describes_one_recipe_as_its_page_does() -> None:
    said = printed("synapse")
    assert "recall.exemplars = semantic   (in bare: none)" in said
    assert "on  q18_gold_in_top_k: " in said
    (cell,) = [
        c
        for c in published.of_recipe("synapse")
        if (c.source, c.split, c.metric) == ("MIMS", "test_task", "step_success")
    ]
    assert f"{100 * cell.value:.2f}  step_success, test_task (MIMS, Table 4.3: Synapse)" in said
    with pytest.raises(CommandError, match="there is no recipe 'nothing'"):
        printed("nothing")

"""Preparing recipes: small stand-ins for weights that nobody has trained here, made from the data at hand."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils.html import strip_tags

from agents.cookbook import checking, deviations, saved, starters
from agents.llm.embedded import SMOLLM2
from agents.memory.jobs import start_induction
from agents.models import SavedRecipe, TrainedModel
from agents.recipes import literature
from agents.recipes.declaring import values_of
from agents.recipes.literature import RECIPES
from agents.stages.rank.cross_encoder import CrossEncoderRanker
from agents.training.kinds.ranking import CrossEncoderTask
from agents.training.prepare import ahead, preparing
from agents.training.prepare.preparing import Preparing
from agents.training.samples.pairs import Pairs
from agents.training.settings import CrossEncoderSettings
from annotations.models import Dataset, Job, Split
from annotations.sample.project import parts
from evaluation.studies import running
from tests import factories
from tests.signed_in import client_of
from tests.tiny_models import tiny_cross_encoder
from tests.web.reading import source

pytestmark = pytest.mark.django_db
STARTERS = ("starter-cross-encoder", "starter-cross-encoder-weblinx", "starter-dual-encoder-weblinx")


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine where nothing is set and nothing was trained."""
    for name in ("LLM_BASE_URL", "LLM_MODEL", "LLM_EMBEDDED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path))


def have(root: Path, *names: str) -> None:
    for name in names:
        (root / name).mkdir()
        (root / name / "config.json").write_text("{}")


def make_dataset(**fields: Any) -> Dataset:
    conversation = factories.make_conversation(split=Split.TRAIN)
    Dataset.objects.filter(pk=conversation.dataset_id).update(**fields)
    return Dataset.objects.get(pk=conversation.dataset_id)


def test_with_three_small_rankers_every_recipe_that_is_built_can_run(tmp_path: Path) -> None:
    ready = {name for name, recipe in RECIPES.items() if not starters.missing(recipe)}
    assert ready == {
        "grounded",
        "grounded-world-model",
        "dmr-minilm",
        "weblinx-flan-t5",
        "weblinx-flan-t5-w10",
        "synapse-miniwob",
    }
    have(tmp_path, *STARTERS)
    lacking = {name for name, recipe in RECIPES.items() if starters.missing(recipe)}
    assert lacking == set()


@pytest.mark.parametrize("shown", ["image", "text+image"])
@pytest.mark.parametrize("name", ["bare", "mindact-icl", "wma", "synapse-miniwob"])
def test_screenshots_are_shown_to_no_model_that_reads_none(
    name: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    have(tmp_path, *STARTERS)
    recipe = checking.vary(RECIPES[name], {"observe.observation": shown})
    named = checking.vary(recipe, {"plan.model": SMOLLM2})
    said = (
        f"a model that reads images, for observe.observation={shown}: {SMOLLM2} reads none; set plan.model to one of "
        "an endpoint, or observe.observation=text"
    )
    assert starters.missing(recipe) == starters.missing(named) == [said]
    assert starters.missing(RECIPES[name]) == []
    monkeypatch.setenv("LLM_BASE_URL", "http://localhost:1")
    monkeypatch.setenv("LLM_MODEL", "some-model")
    assert starters.missing(recipe) == []
    assert starters.missing(named) == [said]


def test_no_live_goal_is_begun_with_screenshots_for_a_model_that_reads_none() -> None:
    goals = factories.make_dataset(live={"environment": "miniwob", "steps": 5, "seconds": 9})
    factories.make_conversation(dataset=goals, split=Split.TEST_TASK)
    seen = {"observe.observation": "image"}
    with pytest.raises(ValueError, match=r"^synapse-miniwob cannot run yet: it needs a model that reads images, for"):
        running.create_study(
            user=None, dataset=goals, recipes=["synapse-miniwob"], splits=[""], overrides=seen, publish=False
        )


def test_where_the_embedded_model_stands_in_past_transitions_imagine(tmp_path: Path) -> None:
    have(tmp_path, *STARTERS)
    filled = starters.with_starters(literature.get("wma"))
    assert (filled.imagine.kind, filled.imagine.value, filled.plan.samples) == ("retrieval", "embedded", 4)
    assert any("past transitions" in one.words for one in starters.stands_in(literature.get("wma")))
    assert starters.with_starters(literature.get("cot")).imagine.kind == "majority"


def test_a_run_is_planned_with_what_stands_in_for_its_weights_and_says_so(tmp_path: Path) -> None:
    have(tmp_path, *STARTERS)
    published = literature.get("mindact")
    filled = starters.with_starters(published)
    assert (filled.rank.model, filled.plan.model) == ("starter-cross-encoder", SMOLLM2)
    assert (filled.plan.backend, filled.plan.constrained) == ("endpoint", True)
    shown = (filled.rank.top_k, filled.batch_size, filled.compose.max_tokens, filled.compose.context_tokens)
    assert shown == (10, 8, 768, 3_072)  # what it reads within some seconds
    words = [one.words for one in starters.stands_in(published)]
    assert "it is shown 10 elements of a page in the place of 50" in words
    assert any("microsoft/deberta-v3-base" in said for said in words)
    assert any("google/flan-t5-base" in said for said in words)
    told = [{one.key for one in deviations.of_recipe(recipe)} for recipe in (filled, published)]
    assert told[0] - told[1] == {"ranking-stands-in", "planner-stands-in"}


def test_nothing_stands_in_for_weights_that_are_named(tmp_path: Path) -> None:
    have(tmp_path, *STARTERS, "mine")
    named = literature.override(literature.get("mindact"), {"rank.model": "mine", "plan.model": "mine"})
    assert starters.with_starters(named) == named
    assert starters.stands_in(named) == []


def test_where_the_embedded_model_is_forbidden_it_stands_in_for_nothing(tmp_path: Path, monkeypatch) -> None:
    have(tmp_path, *STARTERS)
    monkeypatch.setenv("LLM_EMBEDDED", "off")
    assert starters.missing(literature.get("mindact"))[0].startswith("plan.model: train one")
    assert starters.missing(literature.get("synapse")) == ["an LLM endpoint: set LLM_BASE_URL and LLM_MODEL"]


def test_an_endpoint_answers_what_asks_one_and_the_small_model_only_for_weights(tmp_path: Path, monkeypatch) -> None:
    have(tmp_path, *STARTERS)
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("LLM_MODEL", "gpt")
    assert starters.with_starters(literature.get("synapse")).plan.model == ""
    assert starters.with_starters(literature.get("mindact")).plan.model == SMOLLM2


STANDING_IN: list[tuple[str, str, str]] = [
    ("mindact", "rank.top_k", "30"),
    ("mindact", "compose.piece_tokens", "400"),
    ("mindact", "plan.constrained", "false"),
    ("mindact", "batch_size", "64"),
    ("bare", "compose.context_tokens", "8000"),
    ("wma", "plan.samples", "10"),
    ("wma", "imagine.depth", "2"),
    ("wma", "imagine.value_samples", "3"),
    ("wma", "imagine.page_tokens", "600"),
]


@pytest.mark.parametrize(("name", "setting", "value"), STANDING_IN)
def test_what_somebody_has_set_counts_beside_what_stands_in(
    tmp_path: Path, name: str, setting: str, value: str
) -> None:
    have(tmp_path, *STARTERS)
    given = running.as_it_runs(literature.get(name), {setting: value}, "corrected")
    assert given.plan.model == SMOLLM2
    assert str(values_of(given)[setting]).lower() == value
    assert setting in checking.read_by(given)
    if str(values_of(literature.get(name))[setting]).lower() == value:
        return  # a saved recipe does not change it
    SavedRecipe.objects.create(
        project=factories.make_project(), name="mine", parent=name, changes={setting: value, "preset": "corrected"}
    )
    assert values_of(running.as_it_runs(saved.get("mine"), {}, None)) == values_of(given), "as in a saved recipe"


def test_what_stands_in_without_reading_a_setting_refuses_it_by_name(tmp_path: Path) -> None:
    have(tmp_path, *STARTERS)
    said = r"compose\.layout would change nothing in \w+: it needs plan\.backend=local.*stands in here for the planner"
    with pytest.raises(ValueError, match=said):
        running.as_it_runs(literature.get("mindact"), {"compose.layout": "task"}, None)
    SavedRecipe.objects.create(
        project=factories.make_project(), name="mine", parent="mindact", changes={"compose.layout": "task"}
    )
    with pytest.raises(ValueError, match=said):
        running.as_it_runs(saved.get("mine"), {}, None)


@pytest.mark.parametrize(("setting", "command"), [("rank.base", "train_ranker"), ("plan.base", "train_planner")])
def test_nothing_stands_in_for_weights_to_be_trained_from_another_base(
    tmp_path: Path, setting: str, command: str
) -> None:
    have(tmp_path, *STARTERS)
    given = running.as_it_runs(literature.get("self-map"), {setting: "some/weights"}, None)
    assert values_of(given)[setting.replace("base", "model")] == ""
    said = f"from some/weights (manage.py {command} DATASET --recipe self-map --set {setting}=some/weights --name NAME)"
    assert said in " ".join(starters.missing(given))
    (other,) = {"rank.model", "plan.model"} - {setting.replace("base", "model")}
    assert values_of(given)[other], "the other one still has a model that stands in"
    SavedRecipe.objects.create(
        project=factories.make_project(), name="mine", parent="self-map", changes={setting: "some/weights"}
    )
    assert f"--recipe mine --set {setting}=some/weights" in " ".join(starters.missing(saved.get("mine")))


def test_weights_of_ones_own_are_asked_for_where_they_are_meant(tmp_path: Path) -> None:
    have(tmp_path, *STARTERS)
    given = running.as_it_runs(literature.get("synapse"), {"plan.backend": "local"}, None)
    assert (given.plan.backend, given.plan.model) == ("local", "")


def test_all_recipes_need_four_things_each_made_once(tmp_path: Path) -> None:
    first, weblinx = make_dataset(), make_dataset(source_format="weblinx")
    datasets = preparing.datasets_for(None)
    assert datasets == {"any": first, "weblinx": weblinx}
    offer = Preparing(datasets).offer(*RECIPES.values())
    assert {part.key for part in offer.parts} == {*STARTERS, f"workflows of {first.name}"}
    assert offer.seconds == sum(part.seconds for part in offer.parts) > 60
    have(tmp_path, *STARTERS)
    factories.make_workflow(first)
    assert Preparing(datasets).offer(*RECIPES.values()).parts == ()


def test_a_fresh_installation_makes_by_itself_what_is_cheap(tmp_path: Path, monkeypatch) -> None:
    dataset = make_dataset()
    factories.make_conversation(split=Split.TRAIN)  # of another project
    said: list[str] = []
    preparing.make_cheap(dataset.project, said.append)
    preparing.make_cheap(dataset.project, said.append)
    jobs = Job.objects.order_by("pk")
    assert [(job.kind, job.dataset) for job in jobs] == [(Job.Kind.TRAIN, dataset), (Job.Kind.INDUCE, dataset)]
    assert len(said) == 2
    assert said[0].startswith("train the ranker starter-cross-encoder from all-MiniLM-L6-v2")
    Job.objects.all().delete()
    TrainedModel.objects.all().delete()
    monkeypatch.setattr(ahead, "SITE_SECONDS", preparing.CHEAP_SECONDS)
    preparing.make_cheap(dataset.project, said.append)
    assert [job.kind for job in Job.objects.all()] == [Job.Kind.TRAIN]


def test_what_most_recipes_wait_for_is_queued_first_and_the_rest_by_how_many_lack_it(tmp_path: Path) -> None:
    weblinx = make_dataset(source_format="weblinx")
    other = Dataset.objects.create(name="other", project=weblinx.project)
    factories.make_conversation(dataset=other, split=Split.TRAIN)
    said: list[str] = []
    preparing.make_cheap(weblinx.project, said.append)
    jobs = Job.objects.order_by("pk")
    made = [job.trained_models.get().name if job.kind == Job.Kind.TRAIN else job.kind for job in jobs]
    assert made == ["starter-cross-encoder", Job.Kind.INDUCE, STARTERS[2], STARTERS[1]]


def test_a_second_start_finds_the_job_and_a_failed_one_makes_way() -> None:
    make_dataset()
    recipe = literature.get("mindact")

    def start() -> Job:
        (part,) = Preparing(preparing.datasets_for(None)).parts(recipe)
        return preparing.start(part, user=None, publish=False)

    job = start()
    assert (start().pk, TrainedModel.objects.get().name) == (job.pk, "starter-cross-encoder")
    Job.objects.filter(pk=job.pk).update(state=Job.State.FAILED)
    TrainedModel.objects.update(curve=[{"step": 1}])  # it had begun
    again = start()
    assert again.pk != job.pk
    assert TrainedModel.objects.get().job_id == again.pk


def test_a_starter_keeps_the_first_layers_of_its_base(tmp_path: Path) -> None:
    base = tiny_cross_encoder(tmp_path / "base", ["a page"], layers=2)
    changes = preparing.SETTINGS["cross_encoder"]
    assert CrossEncoderSettings(**changes).layers == 3
    (tmp_path / "pairs").write_text("")
    task = CrossEncoderTask(str(base), CrossEncoderSettings(**changes | {"layers": 1}), Pairs(tmp_path / "pairs"))
    task.save(tmp_path / "made")
    kept = {folder: CrossEncoderRanker(folder)._model.state_dict() for folder in (base, tmp_path / "made")}
    before, after = kept.values()
    deeper = {name for name in before if ".layer.1." in name}
    assert before.keys() - after.keys() == deeper != set()
    assert all((after[name] == before[name]).all() for name in after)


def test_only_datasets_of_ones_own_projects_are_used() -> None:
    dataset = make_dataset()
    factories.make_conversation(split=Split.TRAIN)  # of another project
    admin, reader = (factories.make_user(role, dataset.project) for role in ("admin", "reader"))
    assert preparing.datasets_for(admin) == {"any": dataset}
    assert preparing.datasets_for(reader) == {}


def told(*command: str, **options: Any) -> dict[str, Any]:
    out = io.StringIO()
    call_command("prepare", *command, json=True, stdout=out, stderr=io.StringIO(), **options)
    return json.loads(out.getvalue().splitlines()[-1])


@pytest.mark.slow
def test_the_command_says_first_what_it_would_make_and_makes_nothing_for_an_estimate() -> None:
    dataset = make_dataset()
    said = told(all=True, estimate=True)
    assert [part["part"] for part in said["parts"]] == ["starter-cross-encoder", f"workflows of {dataset.name}"]
    assert {row["name"]: row["missing"] for row in said["recipes"]}["grounded"] == []
    assert not Job.objects.exists()


@pytest.mark.parametrize("command", [{"all": False}, {"recipes": ["mindact"], "all": True}, {"recipes": ["no-such"]}])
def test_the_command_refuses_what_it_cannot_mean(command: dict[str, Any]) -> None:
    with pytest.raises(CommandError):
        told(*command.pop("recipes", ()), **command)


@pytest.mark.slow
def test_an_admin_prepares_a_recipe_by_its_button_and_sees_it_being_prepared(client) -> None:
    dataset = make_dataset()
    client.force_login(factories.make_user("admin", dataset.project))
    page = client.get("/recipes/mindact/").content.decode()
    assert "train the ranker starter-cross-encoder from all-MiniLM-L6-v2" in page
    assert client.post("/recipes/mindact/prepare/").status_code == 302
    job = Job.objects.get(kind=Job.Kind.TRAIN)
    for address in ("/recipes/mindact/", "/recipes/"):
        assert f'href="/jobs/{job.pk}/"' in client.get(address).content.decode()
    client.post("/prepare-recipes/")
    kinds = Job.objects.order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == [Job.Kind.TRAIN, Job.Kind.INDUCE]


@pytest.mark.slow
def test_what_stands_in_is_said_in_the_list_in_the_drawing_and_over_rest(client, tmp_path: Path) -> None:
    have(tmp_path, *STARTERS)
    client.force_login(factories.make_user("admin", make_dataset().project))
    row = source(client.get("/recipes/")).partition("/recipes/mindact/")[2].partition("</tr>")[0]
    drawn = source(client.get("/recipes/mindact/")).partition('class="drawing"')[2].partition("</ol>")[0]
    for words in ("a small MiniLM, trained here", "10 elements, not 50", "the embedded model, untrained"):
        assert words in row
        assert words in drawn
    said = client.get("/api/recipes/mindact/").json()["stands_in"]
    assert [one["stage"] for one in said] == ["rank", "plan", "rank"]
    assert said[0]["brief"] == "a small MiniLM, trained here"
    assert client.get("/api/recipes/grounded/").json()["stands_in"] == []


@pytest.mark.slow
def test_who_may_not_train_sees_what_is_being_prepared_where_they_belong() -> None:
    dataset = make_dataset()
    annotator, other = (client_of(factories.make_user("annotator", one)) for one in (dataset.project, None))
    assert "being prepared" not in annotator.get("/recipes/").content.decode()
    preparing.make_cheap(dataset.project, [].append)
    for path in ("/recipes/", "/recipes/mindact/"):
        shown = source(annotator.get(path))
        assert "waits for its turn, then about 32 s" in shown
        assert "/jobs/" not in shown.partition("<main")[2]
        assert "waits for its turn" not in source(other.get(path))
    Job.objects.update(state="running")
    assert "being prepared, about 32 s left" in source(annotator.get("/recipes/"))


@pytest.mark.slow
def test_the_time_that_is_told_counts_down_and_follows_the_pace_of_the_work() -> None:
    dataset = make_dataset()
    admin = client_of(factories.make_user("admin", dataset.project))
    preparing.make_cheap(dataset.project, [].append)
    model = Job.objects.order_by("pk").first()
    told = []
    for progress in ({}, {"done": 1, "total": 4, "unit": "steps"}, {"done": 3, "total": 4, "unit": "steps"}):
        Job.objects.filter(pk=model.pk).update(state="running", progress=progress)
        told.append(admin.get("/api/recipes/mindact/prepare/").json()["running_seconds"])
    assert told == [32, 24, 8]
    Job.objects.filter(pk=model.pk).update(progress={"done": 2, "total": 4, "unit": "steps", "per_second": 0.01})
    assert "being prepared, about 3 min 20 s left" in source(admin.get("/recipes/"))


@pytest.mark.slow
def test_what_is_made_while_the_list_is_put_together_is_not_told_as_missing(tmp_path: Path, monkeypatch) -> None:
    dataset = make_dataset()
    admin = client_of(factories.make_user("admin", dataset.project))
    preparing.make_cheap(dataset.project, [].append, most=1)
    read = preparing.told_of

    def then_made(*arguments: Any) -> Any:
        found = read(*arguments)
        have(tmp_path, STARTERS[0])
        Job.objects.update(state="done")
        return found

    monkeypatch.setattr(preparing, "told_of", then_made)
    assert told_in_list(admin)["mindact"] == "not yet waits for its turn, then about 32 s"
    monkeypatch.setattr(preparing, "told_of", read)
    assert told_in_list(admin)["mindact"].startswith("ready")


@pytest.mark.slow
@pytest.mark.parametrize("address", ["/recipes/mindact/prepare/", "/prepare-recipes/"])
def test_who_may_not_train_sees_no_button_and_is_refused(client, address: str) -> None:
    dataset = make_dataset()
    client.force_login(factories.make_user("reviewer", dataset.project))
    assert "/prepare" not in client.get("/recipes/").content.decode()
    assert "/prepare" not in client.get("/recipes/mindact/").content.decode()
    assert client.post(address).status_code == 403
    assert not Job.objects.exists()


def told_in_list(client: Any) -> dict[str, str]:
    """Recipe -> what its row in the list says of whether it can run here."""
    rows = source(client.get("/recipes/")).partition("<tbody")[2].split('href="/recipes/')[1:]
    cells = {row.partition("/")[0]: row.partition("</tr>")[0].rpartition('<td class="tall">')[2] for row in rows}
    return {name: " ".join(strip_tags(cell.partition("</td>")[0]).split()) for name, cell in cells.items()}


@pytest.mark.slow
def test_while_the_sample_is_built_every_recipe_is_ready_or_says_when_it_will_be() -> None:
    project = factories.make_project()
    admin, annotator = (client_of(factories.make_user(role, project)) for role in ("admin", "annotator"))
    names = [*parts()]
    job = Job.objects.create(kind=Job.Kind.SAMPLE, project=project, params={"parts": names})
    for one in (admin, annotator):
        said = told_in_list(one)
        waits = {name: text for name, text in said.items() if "ready" not in text}
        assert said.keys() == RECIPES.keys()
        assert waits.keys() >= {"mindact", "awm", "dmr-bge", "mindact-weblinx"}
        untold = {name for name, text in waits.items() if "being prepared with the sample, about" not in text}
        assert untold == set()
        assert "Times are estimates." in source(one.get("/recipes/"))
        assert (f"/jobs/{job.pk}/" in source(one.get("/recipes/mindact/"))) is (one is admin)

    def seconds(recipe: str) -> int:
        return admin.get(f"/api/recipes/{recipe}/prepare/").json()["running_seconds"]

    all_parts, ranker = 9 + 7 + 4 + 6 + len(names) - 4, ahead.training_seconds("cross_encoder", 222)
    assert seconds("mindact") == all_parts + ranker
    assert seconds("awm") == all_parts + ranker + 270, "workflows come after the ranker that most wait for"
    assert seconds("mindact-weblinx") > seconds("dmr-bge") > seconds("awm")
    Job.objects.update(state="running", progress={"done": 2, "total": len(names), "unit": "parts", "seconds": 32})
    assert seconds("mindact") == 2 * (all_parts - 16 + ranker), "a machine that took twice as long so far"
    Job.objects.update(state="done")
    assert "being prepared" not in source(admin.get("/recipes/"))


@pytest.mark.slow
def test_what_the_sample_orders_next_has_no_button_and_what_it_has_ordered_says_its_own_time(tmp_path: Path) -> None:
    dataset = make_dataset()
    admin = client_of(factories.make_user("admin", dataset.project))
    stranger = client_of(factories.make_user("admin"))
    Job.objects.create(kind=Job.Kind.SAMPLE, project=dataset.project, params={"parts": [*parts()]})
    preparing.make_cheap(dataset.project, [].append, most=1)
    said = told_in_list(admin)
    assert said["mindact"] == "not yet waits for its turn, then about 32 s"
    assert said["awm"].startswith("not yet being prepared with the sample")
    assert "Prepare" not in "".join(said.values())
    assert "being prepared" not in source(stranger.get("/recipes/"))
    have(tmp_path, *STARTERS)
    assert told_in_list(admin)["mindact"].startswith("ready")


@pytest.mark.slow
@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_new_study_leads_to_the_workflows_that_are_being_made_of_its_own_dataset(
    tmp_path: Path, elsewhere: bool
) -> None:
    first = make_dataset()
    dataset = make_dataset(project=first.project) if elsewhere else first
    admin = client_of(factories.make_user("admin", dataset.project))
    have(tmp_path, *STARTERS)
    address, sent = f"/studies/new/?recipe=awm&dataset={dataset.name}", {"recipes": ["awm"], "dataset": dataset.name}
    asked = [lambda: source(admin.get(address)), lambda: source(admin.post("/studies/new/", sent | {"seed": "0"}))]
    assert all(f"{dataset.name} has no workflows" in page() for page in asked), "nothing is being made yet"
    job = start_induction(user=None, dataset=dataset, publish=False)
    for page in asked:
        shown = page()
        assert f'awm cannot run yet: <a class="link" href="/jobs/{job.pk}/">waits for its turn' in shown
        assert "has no workflows" not in shown
    if elsewhere:
        of_first = source(admin.get(f"/studies/new/?recipe=awm&dataset={first.name}"))
        assert f"{first.name} has no workflows" in of_first, "the job makes those of the other dataset"
        assert f"/jobs/{job.pk}/" not in of_first.partition('value="awm" checked')[2].partition("</label>")[0]


@pytest.mark.slow
@pytest.mark.parametrize("state", ["running", "queued"])
def test_a_new_study_and_papers_lead_to_what_is_being_made_and_do_not_ask_to_train(state: str) -> None:
    dataset = make_dataset()
    admin = client_of(factories.make_user("admin", dataset.project))
    address = f"/studies/new/?recipe=self-map&dataset={dataset.name}"
    assert "train one from microsoft/deberta-v3-base" in source(admin.get(address)), "nothing is being made yet"
    preparing.make_cheap(dataset.project, [].append, most=1)
    job = Job.objects.get()
    Job.objects.filter(pk=job.pk).update(state=state)
    told = "being prepared, about 32 s left" if state == "running" else "waits for its turn, then about 32 s"
    link = f'<a class="link" href="/jobs/{job.pk}/">{told}</a>'
    sent = {"recipes": ["self-map"], "dataset": dataset.name, "seed": "0"}
    for page in (source(admin.get(address)), source(admin.post("/studies/new/", sent))):
        assert page.count(f"self-map cannot run yet: {link}") == 1
        ticked = page.partition('value="self-map" checked')[2].partition("</label>")[0]
        assert link in ticked
        assert "rank.model" not in ticked
        assert "It begins when its turn comes" not in page
        assert "self-map cannot run yet: it needs" not in page
    for split in (Split.TEST_TASK, Split.TEST_WEBSITE, Split.TEST_SUBDOMAIN):
        factories.make_conversation(dataset=dataset, split=split)
    shown = source(admin.get(f"/papers/self-map-2/?dataset={dataset.pk}"))
    assert f"No number: {told}" in shown
    assert f'href="/jobs/{job.pk}/"' in shown
    assert "rank.model" not in shown

"""Pages and API of workflows, rationales and memory: what is shown to whom, what an edit does, what stays hidden."""

import json

import pytest
from django.test import Client

from agents.encoders.embedding import HashEncoder
from agents.memory.build import embed_workflows
from agents.models import Workflow, WorldModelFit
from annotations.models import Dataset, Job, Rationale, Step
from tests import factories, signed_in
from tests.web.reading import source

pytestmark = pytest.mark.django_db


def client_of(dataset: Dataset, role: str = "annotator", **fields) -> Client:
    return signed_in.client_of(factories.make_user(role, dataset.project, **fields))


@pytest.fixture
def dataset() -> Dataset:
    dataset = factories.make_dataset()
    for name in ("shop", "inn"):
        site = factories.make_website(dataset, name=name)
        factories.make_conversation(dataset=dataset, website=site)
    return dataset


@pytest.fixture
def workflow(dataset) -> Workflow:
    """As a model made it: of the site "shop", embedded, with its source."""
    shop = dataset.websites.get(name="shop")
    row = factories.make_workflow(
        dataset,
        website=shop,
        name="search",
        description="Given that you are on the home page, this searches.",
        body="[input]  Search -> TYPE: {what}\n[button]  Search -> CLICK",
        model_name="test-model",
    )
    row.sources.set(shop.conversations.all())
    embed_workflows([row], HashEncoder())
    return row


def shown(client: Client, url: str) -> str:
    return source(client.get(url))


def values(workflow: Workflow, **fields) -> dict:
    return {
        "website": workflow.website_id or "",
        "name": workflow.name,
        "description": workflow.description,
        "body": workflow.body,
    } | fields


def test_workflows_are_listed_by_site_and_searched(dataset, workflow) -> None:
    inn = dataset.websites.get(name="inn")
    factories.make_workflow(dataset, website=inn, name="book_room", description="Books a room.")
    factories.make_workflow(dataset, name="log_in", description="Signs in anywhere.")
    client = client_of(dataset, "reader")
    url = f"/datasets/{dataset.name}/workflows/"
    page = shown(client, url)
    assert page.index(">book_room<") < page.index(">search<") < page.index(">log_in<")
    assert "any website" in page
    found = shown(client, f"{url}?q=ROOM")
    assert "book_room" in found
    assert "log_in" not in found
    assert "log_in" not in shown(client, f"{url}?website=inn")
    assert "Nothing matches" in shown(client, f"{url}?origin=person")


def test_the_list_says_how_many_steps_were_shown_each(dataset, workflow) -> None:
    trajectory = factories.make_trajectory(conversation=dataset.conversations.first())
    trajectory.steps.filter(seq__lt=3).update(workflow_ids=[workflow.pk, 10**9])
    page = shown(client_of(dataset), f"/datasets/{dataset.name}/workflows/")
    assert '<td class="n">3</td>' in page


def test_workflows_of_another_project_do_not_exist(dataset, workflow) -> None:
    client = client_of(factories.make_dataset(), "admin")
    for url in (
        f"/datasets/{dataset.name}/workflows/",
        f"/workflows/{workflow.pk}/",
        f"/datasets/{dataset.name}/memory/",
    ):
        assert client.get(url).status_code == 404, url
    assert client.post(f"/workflows/{workflow.pk}/delete/").status_code == 404


def test_a_workflow_tells_where_it_came_from(dataset, workflow) -> None:
    page = shown(client_of(dataset, "reader"), f"/workflows/{workflow.pk}/")
    source = workflow.sources.get()
    assert f'href="/conversations/{source.pk}/"' in page
    assert "test-model" in page
    assert "Website: Shopping,Fashion,shop" in page, "its prompt"
    assert "Correct it" not in page
    assert "Delete" not in page


def test_a_workflow_links_to_the_steps_that_were_shown_it(dataset, workflow) -> None:
    trajectory = factories.make_trajectory(conversation=dataset.conversations.first())
    trajectory.steps.filter(seq=2).update(workflow_ids=[workflow.pk])
    page = shown(client_of(dataset), f"/workflows/{workflow.pk}/")
    assert f'href="/trajectories/{trajectory.pk}/steps/2/"' in page
    assert f'href="/trajectories/{trajectory.pk}/steps/1/"' not in page
    assert "1 in 1 run" in page


@pytest.mark.parametrize("role", ["annotator", "admin"])
def test_a_person_corrects_it_and_who_and_when_is_kept(dataset, workflow, role) -> None:
    client = client_of(dataset, role, username="maria")
    new = values(workflow, body="[a]  Search -> CLICK\r\n\r\n[b]  {result} -> CLICK\r\n")
    assert client.post(f"/workflows/{workflow.pk}/", new).status_code == 302
    workflow.refresh_from_db()
    assert workflow.body == "[a]  Search -> CLICK\n[b]  {result} -> CLICK"
    assert workflow.edited_by.username == "maria"
    assert workflow.edited_at is not None
    assert workflow.vectors.exists(), "the description is the same"
    assert "maria" in shown(client, f"/workflows/{workflow.pk}/")


def test_a_new_description_is_embedded_again_by_a_job(dataset, workflow) -> None:
    client = client_of(dataset)
    client.post(f"/workflows/{workflow.pk}/", values(workflow, description="Given that you are\n on a list, it sorts."))
    workflow.refresh_from_db()
    assert workflow.description == "Given that you are on a list, it sorts."
    assert not workflow.vectors.exists()
    job = Job.objects.get()
    assert (job.kind, job.state) == ("embed", "queued")
    assert job.params == {"name": dataset.name, "encoder": "hash-384", "parts": ["workflows"]}
    assert "not embedded yet" in shown(client, f"/workflows/{workflow.pk}/")


@pytest.mark.parametrize("role", ["reviewer", "reader"])
def test_others_read_it_only(dataset, workflow, role) -> None:
    client = client_of(dataset, role)
    assert client.post(f"/workflows/{workflow.pk}/", values(workflow, name="x")).status_code == 403
    assert client.post(f"/workflows/{workflow.pk}/delete/").status_code == 403
    assert client.post(f"/datasets/{dataset.name}/workflows/new/", values(workflow, name="x")).status_code == 403
    workflow.refresh_from_db()
    assert workflow.name == "search"


def test_mistakes_are_told_at_their_field(dataset, workflow) -> None:
    other = factories.make_workflow(dataset, website=workflow.website, name="sort")
    response = client_of(dataset).post(f"/workflows/{workflow.pk}/", values(workflow, name="sort", body=" \n"))
    page = response.content.decode()
    assert "Another workflow of this website has this name." in page
    assert "This field is required." in page
    foreign = factories.make_website()
    response = client_of(dataset).post(f"/workflows/{other.pk}/", values(other, website=foreign.pk))
    assert "website" in response.context["form"].errors


def test_a_person_writes_one_by_hand(dataset, workflow) -> None:
    client = client_of(dataset, username="maria")
    new = values(workflow, name="pay", description="Given that you are in the basket, this pays.")
    response = client.post(f"/datasets/{dataset.name}/workflows/new/", new)
    made = Workflow.objects.get(name="pay")
    assert response.url == f"/workflows/{made.pk}/"
    assert (made.origin, made.model_name, made.edited_by.username, made.position) == ("person", "", "maria", 1)
    assert Job.objects.get().params["encoder"] == "hash-384", "that of the other workflows"
    page = shown(client, f"/workflows/{made.pk}/")
    assert "written by a person" in page
    assert "<h2>Prompt" not in page


def test_a_workflow_is_deleted(dataset, workflow) -> None:
    response = client_of(dataset).post(f"/workflows/{workflow.pk}/delete/")
    assert response.url == f"/datasets/{dataset.name}/workflows/"
    assert not Workflow.objects.exists()


def test_what_a_workflow_says_is_escaped(dataset, workflow) -> None:
    Workflow.objects.filter(pk=workflow.pk).update(name="<script>x</script>", body="<img src=x onerror=y>")
    for url in (f"/workflows/{workflow.pk}/", f"/datasets/{dataset.name}/workflows/"):
        page = shown(client_of(dataset), url)
        assert "<script>x" not in page
        assert "<img src=x" not in page


@pytest.fixture
def online(dataset) -> Workflow:
    """Induced while a run over a test split went on: its prompt repeats gold actions of earlier steps."""
    run = factories.make_run(dataset, split="test_task")
    row = factories.make_workflow(dataset, run=run, origin="online", name="from_a_run", model_name="m")
    row.sources.set([factories.make_conversation(dataset=dataset, split="test_task")])
    return row


@pytest.mark.parametrize("split", ["test_task", ""])
def test_those_of_a_test_run_exist_only_for_who_sees_gold(dataset, online, split) -> None:
    type(online.run).objects.filter(pk=online.run_id).update(split=split)
    hidden, open_ = client_of(dataset), client_of(dataset, sees_test_gold=True)
    for url in (f"/workflows/{online.pk}/", f"/api/workflows/{online.pk}/"):
        assert hidden.get(url).status_code == 404, url
        assert open_.get(url).status_code == 200, url
    url = f"/datasets/{dataset.name}/workflows/?run={online.run_id}"
    assert "from_a_run" not in shown(hidden, url)
    assert "from_a_run" in shown(open_, url)
    assert hidden.get("/api/workflows/").json()["results"] == []


def test_those_of_a_run_are_not_among_the_datasets_and_stay_as_they_are(dataset, online) -> None:
    client = client_of(dataset, "admin")
    assert "from_a_run" not in shown(client, f"/datasets/{dataset.name}/workflows/")
    assert client.post(f"/workflows/{online.pk}/", values(online, name="x")).status_code == 403
    assert client.post(f"/workflows/{online.pk}/delete/").status_code == 403


def test_the_memory_page_counts_what_there_is(dataset, workflow) -> None:
    step = Step.objects.filter(turn__conversation__dataset=dataset).first()
    factories.make_memory_snippet(step, encoder="some-encoder")
    factories.make_rationale(step)
    page = shown(client_of(dataset, "reader"), f"/datasets/{dataset.name}/memory/")
    assert "some-encoder" in page
    assert "1 workflow</a> of 1 website" in page
    assert '<td>train</td> <td class="n">8</td> <td class="n">1</td> <td class="n">0</td>' in page
    assert "memory/embed/" not in page, "nothing to start"
    assert "No transitions yet" in page
    assert "memory/transition/" not in page


def test_the_memory_page_shows_how_sure_the_world_model_is_and_how_often_it_is_right(dataset) -> None:
    measured = {"split": "dev", "cases": 40, "right": 22, "calibration_error": 0.0417}
    fits = WorldModelFit.objects
    fits.create(
        dataset=dataset, encoder="a", transitions=1234, measured=measured | {"bins": [[0.25, 0.2, 20], [1.0, 1.0, 20]]}
    )
    fits.create(dataset=dataset, encoder="b", transitions=1, measured={"split": "train", "cases": 0, "right": 0})
    page = shown(client_of(dataset, "reader"), f"/datasets/{dataset.name}/memory/")
    assert "Of the 40 steps of dev that its confidence was fitted on, it was right about 22 to the last" in page
    assert "Predicts by 1,234 transitions." in page
    assert "there its confidence is off by 0.042 on average." in page
    assert page.count("<circle") == 2
    assert '<circle cx="280.0" cy="12.0"' in page, "always right where it is sure"
    assert "<title>20 of confidence 25%: 20% right</title>" in page
    assert '<td class="n">25.0</td> <td class="n">20.0</td> <td class="n">20</td>' in page, "the same as a table"
    assert f'data-csv="{dataset.name}-confidence"' in page
    assert "Predicts by 1 transition. There were no steps to fit its confidence on." in page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "sent", "params"),
    [
        ("embed", {}, {"encoder": "all-MiniLM-L6-v2", "parts": ["snippets", "exemplars", "workflows"]}),
        ("induce", {"website": "shop"}, {"encoder": "all-MiniLM-L6-v2", "websites": ["shop"], "style": "concrete"}),
        ("induce", {"style": "abstract"}, {"encoder": "all-MiniLM-L6-v2", "websites": [], "style": "abstract"}),
        ("refine", {"split": "train"}, {"split": "train"}),
        ("transition", {"describe": "on"}, {"encoder": "all-MiniLM-L6-v2", "describe": True, "connection": ""}),
    ],
)
def test_an_admin_starts_the_jobs(dataset, kind, sent, params) -> None:
    url = f"/datasets/{dataset.name}/memory/{kind}/"
    for role in ("annotator", "reviewer", "reader"):
        assert client_of(dataset, role).post(url, sent).status_code == 403
    client = client_of(dataset, "admin")
    response = client.post(url, sent)
    job = Job.objects.get()
    assert response.url == f"/jobs/{job.pk}/"
    assert (job.kind, job.params) == (kind, {"name": dataset.name} | params)
    assert shown(client, response.url)
    of_dataset = [] if kind == "transition" else [f"/datasets/{dataset.name}/"]  # which has room for three buttons
    for page in (*of_dataset, f"/datasets/{dataset.name}/memory/"):
        assert f'action="{url}"' in shown(client, page)
        assert f'action="{url}"' not in shown(client_of(dataset), page)


def test_a_wrong_start_is_told_on_the_page(dataset) -> None:
    client = client_of(dataset, "admin")
    response = client.post(f"/datasets/{dataset.name}/memory/induce/", {"website": "zoo"})
    assert "zoo is not one of the available choices" in response.content.decode()
    assert client.post(f"/datasets/{dataset.name}/memory/import/").status_code == 404
    assert not Job.objects.exists()


@pytest.mark.parametrize("state", ["queued", "running", "done", "done_with_errors", "failed", "cancelled"])
def test_the_page_of_a_memory_job_is_shown_in_every_state(dataset, state) -> None:
    report = {
        "said": "Induced 3 workflows of 1 websites",
        "landed": 1,
        "counts": {"workflows": 3},
        "model": "m",
        "errors": [{"record": "inn", "message": "the answer holds no workflow"}],
        "error_count": 1,
    }
    job = factories.make_job(
        dataset.project,
        dataset=dataset,
        kind="induce",
        state=state,
        report=report if "done" in state else {},
        params={"name": dataset.name, "websites": [], "encoder": "e"},
    )
    page = shown(client_of(dataset, "admin"), f"/jobs/{job.pk}/")
    assert "Workflow induction" in page
    assert ("the answer holds no workflow" in page) == ("done" in state)
    shown(client_of(dataset), "/jobs/")


def write(client: Client, key: str = "", **fields):
    headers = {"Idempotency-Key": key} if key else {}
    return client.post("/api/rationales/", json.dumps(fields), content_type="application/json", headers=headers)


@pytest.fixture
def step(dataset) -> Step:
    return Step.objects.filter(turn__conversation__dataset=dataset).order_by("pk").first()


@pytest.mark.slow
def test_a_person_corrects_a_models_rationale_and_both_are_kept(dataset, step) -> None:
    factories.make_rationale(step, text="By the model.", source="model", model_name="test-model")
    client = client_of(dataset, username="maria")
    assert "By the model." in shown(client, f"/steps/{step.pk}/")
    response = client.post(f"/steps/{step.pk}/rationale/", {"text": " By\nmaria. "})
    assert response.url == f"/steps/{step.pk}/"
    assert set(step.rationales.values_list("text", "source", "author__username")) == {
        ("By the model.", "model", None),
        ("By maria.", "human", "maria"),
    }
    page = shown(client, f"/steps/{step.pk}/")
    assert page.index("By maria.") < page.index("By the model.")


@pytest.mark.parametrize("role", ["reviewer", "reader"])
def test_others_read_rationales_only(dataset, step, role) -> None:
    factories.make_rationale(step, text="Because.")
    client = client_of(dataset, role)
    page = shown(client, f"/steps/{step.pk}/")
    assert "Because." in page
    assert "Correct it" not in page
    assert client.post(f"/steps/{step.pk}/rationale/", {"text": "x"}).status_code == 403
    assert write(client, step=step.pk, text="x").status_code == 403


@pytest.mark.slow
def test_rationales_of_a_test_split_are_for_those_who_see_gold(dataset, step) -> None:
    type(step.turn.conversation).objects.update(split="test_task")
    factories.make_rationale(step, text="Because it is gold.")
    client = client_of(dataset)
    assert "Because it is gold." not in shown(client, f"/steps/{step.pk}/")
    assert client.post(f"/steps/{step.pk}/rationale/", {"text": "x"}).status_code == 403
    assert write(client, step=step.pk, text="x").status_code == 403
    open_ = client_of(dataset, sees_test_gold=True)
    assert "Because it is gold." in shown(open_, f"/steps/{step.pk}/")
    assert write(open_, step=step.pk, text="x").status_code == 201


def test_an_empty_rationale_is_refused(dataset, step) -> None:
    response = client_of(dataset).post(f"/steps/{step.pk}/rationale/", {"text": " \n"}, follow=True)
    assert "Say in one or two sentences" in response.content.decode()
    assert not Rationale.objects.exists()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_no_page_breaks_its_content_policy_or_scrolls_sideways(app_server, page, sign_in, dataset, workflow) -> None:
    refused: list[str] = []
    page.on("console", lambda said: refused.append(said.text) if "Content Security Policy" in said.text else None)
    Workflow.objects.filter(pk=workflow.pk).update(body="[link]  " + "long" * 200 + " -> CLICK", model_name="m" * 150)
    sign_in(factories.make_user("admin", dataset.project))
    here = f"/datasets/{dataset.name}"
    for path in (f"{here}/workflows/", f"{here}/workflows/new/", f"{here}/memory/", f"/workflows/{workflow.pk}/"):
        assert page.goto(app_server.url(path)).status == 200, path
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
    assert refused == []


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_rationale_is_corrected_on_the_step_that_was_stepped_to(app_server, page, sign_in, dataset) -> None:
    sign_in(factories.make_user("annotator", dataset.project))
    first, second = Step.objects.filter(turn__conversation__dataset=dataset).order_by("pk")[:2]
    page.goto(app_server.url(f"/steps/{first.pk}/"))
    page.keyboard.press("ArrowRight")
    page.wait_for_url(f"**/steps/{second.pk}/")
    page.get_by_text("Explain it").click()
    page.get_by_label("Why the action fits").fill("Written after stepping.")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved. Agents get your version").wait_for()
    assert list(second.rationales.values_list("text", flat=True)) == ["Written after stepping."]
    assert not first.rationales.exists()


def patch(client: Client, workflow: Workflow, **fields):
    return client.patch(f"/api/workflows/{workflow.pk}/", json.dumps(fields), content_type="application/json")


def test_a_workflow_is_read_and_corrected_over_the_api(dataset, workflow) -> None:
    client = client_of(dataset, username="maria")
    response = patch(client, workflow, description="Given that you are elsewhere, this searches.")
    body = response.json()
    assert response.status_code == 200, body
    assert (body["edited_by"], body["encoder"], body["name"], body["origin"]) == ("maria", "", "search", "offline")
    assert body["sources"] == [workflow.sources.get().pk]
    assert body == client.get(f"/api/workflows/{workflow.pk}/").json()
    assert Job.objects.get().kind == "embed"


def test_wrong_corrections_over_the_api_change_nothing(dataset, workflow, online) -> None:
    factories.make_workflow(dataset, website=workflow.website, name="sort")
    admin = client_of(dataset, "admin")
    assert "name" in patch(admin, workflow, name="sort").json()
    assert "body" in patch(admin, workflow, body="").json()
    assert patch(admin, online, name="x").status_code == 403
    assert patch(client_of(dataset, "reader"), workflow, name="x").status_code == 403
    assert patch(client_of(factories.make_dataset(), "admin"), workflow, name="x").status_code == 404
    assert patch(Client(), workflow, name="x").status_code == 401
    assert patch(admin, workflow, model_name="me", dataset=1).json()["model_name"] == "test-model"


def test_a_rationale_is_written_over_the_api_once_per_key(dataset, step) -> None:
    client = client_of(dataset, username="maria")
    sent = {"step": step.pk, "text": "Because."}
    first = write(client, key="k", **sent)
    again = write(client, key="k", **sent)
    assert (first.status_code, first.json()["author"], first.json()["source"]) == (201, "maria", "human")
    assert again.json() == first.json()
    assert Rationale.objects.count() == 1
    foreign = write(client_of(factories.make_dataset(), "admin"), **sent)
    assert foreign.status_code == 400
    assert "does not exist" in foreign.content.decode()
    assert write(client, **sent | {"text": " "}).status_code == 400

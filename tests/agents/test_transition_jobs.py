"""Transitions as a job: kept, embedded, fitted, put into words by a model, and written as records to train on."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.urls import reverse

from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.management.commands import measure_world_model
from agents.memory import encoding
from agents.memory import jobs as memory
from agents.memory.fitting import Case, held_out
from agents.memory.measuring import FREQUENT, NOTHING, OF_KIND, RETRIEVED, gains, measure
from agents.memory.transitions import Happened, PastTransitions
from agents.models import LlmReply, Transition, WorldModelFit
from agents.types import Action
from agents.world_model.calibration import fitted
from agents.world_model.predicting import Situation
from agents.world_model.records import divided, read_published
from annotations.jobs import running
from annotations.jobs.following import work_inline
from annotations.models import Dataset
from tests import factories
from tests.agents.llm_server import LlmServer, prompt_text, serve
from tests.agents.test_transitions import dataset
from tests.beside import needs_shared
from tests.signed_in import client_of

__all__ = ["dataset"]
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = CachedEncoder(HashEncoder())
    monkeypatch.setattr(encoding, "encoder_named", lambda name: encoder)


def answer(body: dict[str, Any]) -> str:
    if "You compare two states" in prompt_text(body):
        return "1. Something changed."
    return "[Rationale] It is a form.\n[Next State] The expected effect is that the form changes."


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmServer]:
    with serve(answer) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.url)
        monkeypatch.setenv("LLM_MODEL", "test-model")
        yield server


@pytest.mark.slow
def test_the_job_keeps_transitions_and_fits_how_sure_they_are(dataset: Dataset) -> None:
    job = work_inline(memory.start_transitions(user=None, dataset=dataset))
    assert (job.state, job.report["said"]) == ("done", "Kept 5 transitions")
    fit = WorldModelFit.objects.get()
    assert (fit.transitions, fit.measured["split"], fit.measured["cases"]) == (5, "dev", 3)
    assert set(fit.calibration) == {"known", "elsewhere"}
    assert len(fit.value["weights"]) == len(fit.value["names"])


@pytest.mark.slow
def test_what_was_fitted_is_fitted_anew_once_transitions_have_come(dataset: Dataset) -> None:
    """A step more, as an episode adds it: a run that asks next fits on it, and one after that has nothing to do."""
    past = PastTransitions(dataset, CachedEncoder(HashEncoder()))
    past.prepare()
    first = WorldModelFit.objects.get()
    row = dataset.transitions.order_by("pk")[0]
    step = factories.make_step(factories.make_turn(row.conversation, index=7, steps=0))
    kept = {
        field: getattr(row, field) for field in ("dataset", "conversation", "key_text", "operation", "role", "effects")
    }
    Transition.objects.create(step=step, sha256="e" * 64, **kept)
    assert not past.is_fitted
    past.prepare()
    again = WorldModelFit.objects.get()
    assert (again.transitions, again.made_at > first.made_at) == (first.transitions + 1, True)
    past.prepare()
    assert WorldModelFit.objects.get().made_at == again.made_at


def test_a_confidence_is_measured_where_it_was_not_fitted() -> None:
    """At one website every prediction is right, at the other none: fitted on both it seems right, on each it is not."""
    cases = [Case(0.8, website == "a", website) for website in "ab" for _ in range(10)]
    found = held_out(cases, fitted)
    assert found is not None
    assert (found["cases"], found["right"]) == (20, 10)
    assert found["calibration_error"] > 0.9
    assert found["error_by_chance"] < 0.2
    assert held_out(cases[:10], fitted) is None, "nothing is left to fit on"


@pytest.mark.slow
def test_the_fit_tells_how_it_does_on_what_is_held_out(dataset: Dataset) -> None:
    dataset.conversations.filter(split="dev").update(split="test_task")
    work_inline(memory.start_transitions(user=None, dataset=dataset))
    fit = WorldModelFit.objects.get()
    assert fit.measured["split"] == "train"
    (_, known), (_, elsewhere) = fit.held_out()
    assert known is not None
    assert known["cases"] == fit.measured["cases"]
    assert elsewhere is None, "there is one website"
    client = client_of(factories.make_user("admin", dataset.project))
    page = " ".join(client.get(reverse("dataset-memory", args=[dataset.name])).content.decode().split())
    assert "it must look right; the table is of steps that were held out." in page
    assert f'<td>each conversation</td> <td class="n">{known["cases"]}</td>' in page
    assert "needs more than one to hold out" in page


@pytest.mark.slow
def test_it_goes_on_in_slices(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "SLICE_SECONDS", -1)
    monkeypatch.setattr(memory, "CONVERSATIONS", 1)
    job = work_inline(memory.start_transitions(user=None, dataset=dataset))
    assert (job.state, Transition.objects.count()) == ("done", 5)


@pytest.mark.slow
def test_a_model_puts_them_into_words_once(dataset: Dataset, server: LlmServer) -> None:
    job = work_inline(memory.start_transitions(user=None, dataset=dataset, describe=True))
    assert job.report["counts"] == {"transitions": 5, "described": 5}
    row = Transition.objects.order_by("pk")[0]
    assert (row.refined, row.rationale) == ("1. Something changed.", "It is a form.")
    assert (row.next_state, row.model_name) == ("The expected effect is that the form changes.", "test-model")
    asked, kept = len(server.requests), LlmReply.objects.count()
    assert any("[3] checkbox 'News' checked: true" in prompt_text(body) for body in server.requests)
    Transition.objects.filter(pk=row.pk).update(next_state="")
    again = work_inline(memory.start_transitions(user=None, dataset=dataset, describe=True))
    assert again.report["counts"]["described"] == 1
    assert (len(server.requests), LlmReply.objects.count()) == (asked, kept), "the reply was kept"


def test_without_a_train_split_there_is_nothing_to_keep() -> None:
    with pytest.raises(ValidationError, match="no train conversations"):
        memory.start_transitions(user=None, dataset=factories.make_conversation(split="dev").dataset)


@pytest.mark.slow
def test_records_to_train_on_are_written(dataset: Dataset, tmp_path: Path) -> None:
    out, file = StringIO(), tmp_path / "train.jsonl"
    call_command("build_transitions", dataset.name, inline=True, json=True, export=file, stdout=out, stderr=StringIO())
    told = json.loads(out.getvalue())
    assert (told["written"], told["undescribed"]) == (5, 5)
    out = StringIO()
    call_command("build_transitions", dataset.name, inline=True, export=file, stdout=out, stderr=StringIO())
    assert "5 of them with their facts in the place of words" in out.getvalue()
    first, typed, *_ = [json.loads(line) for line in file.read_text().splitlines()]
    assert first["instruction"].startswith("You know how websites behave.")
    assert first["input"].startswith("URL: \n OBJECTIVE: Sign up as ada with news.\n PREVIOUS ACTION: None\n CURRENT")
    assert first["input"].endswith("CURRENT ACTION: CLICK on [3] where [3] is checkbox 'News' checked: false")
    said = "[Rationale] \n[Next State] The expected effect is that changed checkbox 'News' checked: true."
    assert first["output"] == said
    assert "value: 'ada'" in typed["output"]


@pytest.mark.slow
def test_retrieval_is_measured_beside_guesses(dataset: Dataset) -> None:
    past = PastTransitions(dataset, CachedEncoder(HashEncoder()))
    past.prepare()
    found = measure(past, "test_task", None)
    assert (found.steps, found.scores[RETRIEVED].exact) == (3, 1.0)
    assert found.scores[NOTHING].exact == pytest.approx(1 / 3)
    assert found.scores[FREQUENT].exact < 1
    assert 0 <= found.calibration_error <= 1


def test_what_retrieval_gains_is_told_by_operation_with_intervals_over_conversations() -> None:
    """Twelve conversations of a click, at which both are right, and a typing, at which the guess never is."""
    happened = Counter({"it is checked": 1})
    cases, said, truth = [], {"retrieval": [], "guess": []}, []
    for conversation in range(12):
        for operation in ("CLICK", "TYPE"):
            cases.append(Happened(Situation("Do it.", "", Action(operation, "1"), "site", conversation), ""))
            truth.append(happened)
            said["retrieval"].append(happened)
            said["guess"].append(happened if operation == "CLICK" else Counter())
    every, clicks, typed = gains(cases, said, truth, "retrieval", "guess")
    assert [one.operation for one in (every, clicks, typed)] == ["", "CLICK", "TYPE"]
    assert (every.model_exact, every.guess_exact, every.exact.n, every.exact.sessions) == (24, 12, 24, 12)
    assert (every.exact.value, every.exact.low, every.exact.high) == (0.5, 0.5, 0.5), "each conversation says the same"
    assert (clicks.exact.value, typed.exact.value, typed.f1.value) == (0, 1, 1)
    few = gains(cases[:4], said, truth[:4], "retrieval", "guess")[0].exact
    assert (few.value, few.low) == (0.5, None)
    assert "2 conversations are too few" in few.too_few_of("conversation")


@pytest.mark.slow
def test_the_command_prints_gains_over_both_guesses(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure_world_model, "encoder_named", encoding.encoder_named)
    out = StringIO()
    call_command("measure_world_model", dataset.name, "--split", "test_task", stdout=out)
    said = out.getvalue()
    for guess in (FREQUENT, OF_KIND):
        _, found, after = said.partition(f"  retrieval over {guess}: exact at 3 and ")
        assert found, said
        assert "    CLICK: exact at " in after
    assert said.count("too few for an interval") == 1, "said once"


def page_after(body: dict[str, Any]) -> str:
    """A model that knows what a click on the box does, and copies the page else; of typing it writes no page."""
    said = prompt_text(body)
    page = said.partition("CURRENT OBSERVATION:\n")[2].partition("\nCURRENT ACTION:")[0]
    action = said.partition("CURRENT ACTION: ")[2]
    if action.startswith("CLICK on [3]"):
        page = page.replace("checkbox 'News' checked: false", "checkbox 'News' checked: true")
    return "It will change." if action.startswith("TYPE") else f"[Rationale] So.\n[Next State] {page}"


@pytest.mark.slow
def test_a_prompted_model_is_measured_by_the_pages_that_it_writes(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure_world_model, "encoder_named", encoding.encoder_named)
    with serve(page_after) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.url)
        monkeypatch.setenv("LLM_MODEL", "dreaming")
        out = StringIO()
        asked = ["--split", "test_task", "--connection", "--json"]
        call_command("measure_world_model", dataset.name, *asked, stdout=out)
    (found,) = json.loads(out.getvalue())
    assert len(server.requests) == found["steps"] == 3, "a click that checks, a typing, a click without an effect"
    assert found["scores"]["dreaming"]["exact"] == pytest.approx(2 / 3)
    assert [found["scores"][name]["unread"] for name in ("dreaming", RETRIEVED)] == [1, 0]
    assert found["scores"]["dreaming"]["changing_exact"] == pytest.approx(1 / 2)
    assert {one["model"] for one in found["gains"]} == {RETRIEVED, "dreaming"}


SAMPLES = Path(os.environ.get("SHARED_DATA", Path(__file__).parents[3] / "shared" / "data")) / "wma-samples"
PUBLISHED = ["sample_description_with_tao_annotated", "sample_mind2web_acctree", "sample_webarena_acctree"]
MARKS = [] if SAMPLES.is_dir() else [needs_shared(f"the published samples are not in {SAMPLES}")]


@pytest.mark.parametrize("name", [pytest.param(name, marks=MARKS) for name in PUBLISHED])
def test_the_published_samples_are_read_and_written_as_they_were(name: str) -> None:
    stored = json.loads((SAMPLES / f"{name}.json").read_text("utf-8"))
    records = read_published(SAMPLES / f"{name}.json")
    assert [record.published() for record in records] == stored
    assert [len(part) for part in divided(records)] == [4, 1]
    trained = records[0].training("Say what comes.")
    assert trained["input"].splitlines()[0] == f"URL: {records[0].url}"
    assert f"PREVIOUS ACTION: {list(records[0].previous)!r}" in trained["input"]

"""Memory as background jobs: what is embedded, asked and stored; slices, cancelling, going on, and the commands."""

import json
import threading
import time
from io import StringIO

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import CommandError, call_command

from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.llm.errors import Unreachable
from agents.memory import encoding
from agents.memory import jobs as memory
from agents.models import Exemplar, LlmReply, MemorySnippet, Workflow
from annotations.jobs import running
from annotations.jobs.following import work_inline
from annotations.models import Dataset, Job, Rationale, Step
from tests import factories
from tests.agents.llm_server import failure, prompt_text, serve

pytestmark = pytest.mark.django_db
State = Job.State
BLOCK = (
    "## search\nGiven that you are on the home page, this workflow searches.\n"
    "[input]  Search -> TYPE: {what}\n[button]  Search -> CLICK"
)


def answer(body) -> str:
    return BLOCK if "Below are tasks" in prompt_text(body) else "Rationale: It was asked for.\n\nAnything else?"


@pytest.fixture(autouse=True)
def encoder(monkeypatch) -> CachedEncoder:
    encoder = CachedEncoder(HashEncoder())
    monkeypatch.setattr(encoding, "encoder_named", lambda name: encoder)
    return encoder


@pytest.fixture
def server(monkeypatch):
    """The configured endpoint; its requests are counted."""
    with serve(answer) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.url)
        monkeypatch.setenv("LLM_MODEL", "test-model")
        monkeypatch.setenv("LLM_CONCURRENCY", "1")
        yield server


@pytest.fixture
def no_endpoint(monkeypatch) -> None:
    monkeypatch.delenv("LLM_BASE_URL", raising=False)
    monkeypatch.delenv("LLM_MODEL", raising=False)


@pytest.fixture
def dataset() -> Dataset:
    """Three train sites with a conversation each, and a test conversation: 16 steps."""
    dataset = factories.make_dataset()
    for _ in range(3):
        factories.make_conversation(dataset=dataset)
    factories.make_conversation(dataset=dataset, split="test_task", website=dataset.websites.first())
    return dataset


@pytest.fixture
def short_slices(monkeypatch) -> None:
    """A slice ends after its first batch, when there is more to do."""
    monkeypatch.setattr(running, "SLICE_SECONDS", -1)
    monkeypatch.setattr(memory, "CONVERSATIONS", 1)
    monkeypatch.setattr(memory, "STEPS", 3)


def slices(job: Job) -> int:
    count = 0
    while (claimed := Job.objects.claim(job.pk)) is not None:
        count += 1
        running.run(claimed)
        assert count < 50
    job.refresh_from_db()
    return count


def test_embedding_makes_snippets_exemplars_and_workflows_findable(dataset) -> None:
    written = factories.make_workflow(dataset, website=dataset.websites.first())
    said: list[str] = []
    job = work_inline(memory.start_embedding(user=None, dataset=dataset), said.append)
    assert any("of 16 snippets" in line for line in said), said
    assert (job.state, job.report["counts"]) == (State.DONE, {"snippets": 16, "exemplars": 6, "workflows": 1})
    assert MemorySnippet.objects.filter(encoder="hash-384").count() == 16
    assert set(Exemplar.objects.values_list("split", flat=True)) == {"train"}
    assert written.vectors.get().encoder == "hash-384"
    assert job.live().fields["headline"] == "Embedded 16 snippets, 6 exemplars, 1 workflow"


def test_embedding_again_adds_nothing(dataset, encoder) -> None:
    work_inline(memory.start_embedding(user=None, dataset=dataset))
    before = set(MemorySnippet.objects.values_list("pk", flat=True))
    job = work_inline(memory.start_embedding(user=None, dataset=dataset))
    assert job.report["counts"]["snippets"] == 16
    assert set(MemorySnippet.objects.values_list("pk", flat=True)) == before


@pytest.mark.slow
def test_an_embedding_job_works_in_slices_and_goes_on_where_it_stopped(dataset, short_slices) -> None:
    job = memory.start_embedding(user=None, dataset=dataset)
    assert running.run(Job.objects.claim(job.pk)), "it must be queued again"
    job.refresh_from_db()
    assert (job.state, job.attempt, job.progress["done"], job.progress["total"]) == (State.QUEUED, 0, 4, 16)
    assert slices(job) == 3
    assert job.state == State.DONE
    assert MemorySnippet.objects.count() == 16


@pytest.mark.slow
def test_a_cancelled_job_stops_at_its_next_batch(dataset, monkeypatch) -> None:
    job = memory.start_embedding(user=None, dataset=dataset)
    claimed = Job.objects.claim(job.pk)
    real = memory.build_snippets

    def cancel_meanwhile(*args):
        job.cancel()
        return real(*args)

    monkeypatch.setattr(memory, "CONVERSATIONS", 1)
    monkeypatch.setattr(memory, "build_snippets", cancel_meanwhile)
    running.run(claimed)
    job.refresh_from_db()
    assert job.state == State.CANCELLED
    assert MemorySnippet.objects.count() == 4, "what was done is kept"
    running.retry(job)
    monkeypatch.setattr(memory, "build_snippets", real)
    assert work_inline(job).state == State.DONE
    assert MemorySnippet.objects.count() == 16


def test_an_encoder_that_cannot_be_loaded_ends_the_job_with_the_reason(dataset, monkeypatch) -> None:
    def load(name):
        raise ValueError(f"there is no model {name!r}")

    monkeypatch.setattr(encoding, "encoder_named", load)
    job = work_inline(memory.start_embedding(user=None, dataset=dataset, encoder="nonsense"))
    assert job.state == State.FAILED
    assert job.last_error == "the encoder 'nonsense' could not be loaded: there is no model 'nonsense'"


@pytest.mark.slow
def test_induction_asks_once_per_train_website(dataset, server) -> None:
    job = work_inline(memory.start_induction(user=None, dataset=dataset))
    assert job.state == State.DONE, job.last_error
    assert job.report["counts"] == {"websites": 3, "tasks": 6, "workflows": 3}
    assert len(server.requests) == LlmReply.objects.count() == 3
    assert Workflow.objects.filter(vectors__encoder="hash-384", model_name="test-model").count() == 3


@pytest.mark.slow
def test_induction_in_slices_asks_nothing_twice(dataset, server, short_slices) -> None:
    job = memory.start_induction(user=None, dataset=dataset)
    assert slices(job) == 3
    assert job.state == State.DONE
    assert job.report["counts"] == {"websites": 3, "tasks": 6, "workflows": 3}
    assert len(server.requests) == 3


def test_websites_whose_answer_is_of_no_use_are_listed(dataset, server) -> None:
    bad = dataset.websites.order_by("name").first().name
    server.reply = lambda body: "I cannot." if f"Fashion,{bad}\n" in prompt_text(body) else BLOCK
    job = work_inline(memory.start_induction(user=None, dataset=dataset))
    assert job.state == State.DONE_WITH_ERRORS
    assert [error["record"] for error in job.report["errors"]] == [bad]
    assert job.report["counts"]["workflows"] == 2


def test_a_job_from_which_nothing_came_has_failed(dataset, server) -> None:
    server.reply = lambda body: failure(404, "no such model")
    job = work_inline(memory.start_induction(user=None, dataset=dataset))
    assert job.state == State.FAILED
    assert "no such model" in job.last_error


@pytest.mark.slow
def test_an_endpoint_that_is_down_is_tried_again_and_what_is_done_stays(dataset, server, monkeypatch) -> None:
    monkeypatch.setattr("agents.llm.chat.Endpoint.attempts", 1)
    left = [BLOCK]
    server.reply = lambda body: left.pop() if left else failure(503, "down")
    job = memory.start_induction(user=None, dataset=dataset)
    from agents.llm import chat

    real = chat.from_environment
    monkeypatch.setattr(chat, "from_environment", lambda: _once(real()))
    with pytest.raises(Unreachable):
        work_inline(job)
    job.refresh_from_db()
    assert (job.state, job.attempt) == (State.QUEUED, 1)
    assert Workflow.objects.count() == 1
    server.reply = answer
    assert work_inline(job).report["counts"]["workflows"] == 3


def _once(llm):
    """The same endpoint, asked once, so that the test does not wait for attempts."""
    from dataclasses import replace

    from agents.llm.chat import ChatLlm

    return ChatLlm(replace(llm.endpoint, attempts=1))


@pytest.mark.parametrize("start", [memory.start_induction, memory.start_rationales])
def test_without_an_endpoint_the_job_says_so_in_one_line(dataset, no_endpoint, start) -> None:
    job = work_inline(start(user=None, dataset=dataset))
    assert job.state == State.FAILED
    assert job.last_error == "no LLM endpoint is configured: set LLM_BASE_URL and LLM_MODEL"


def test_rationales_are_written_for_the_steps_of_a_split_that_have_none(dataset, server) -> None:
    explained = Step.objects.filter(turn__conversation__split="train").order_by("pk").first()
    factories.make_rationale(explained, text="By hand.")
    job = work_inline(memory.start_rationales(user=None, dataset=dataset, split="train"))
    assert job.state == State.DONE, job.last_error
    assert job.report["counts"] == {"steps": 11, "rationales": 11}
    made = Rationale.objects.filter(source="model", model_name="test-model")
    assert set(made.values_list("text", flat=True)) == {"It was asked for."}
    assert set(made.values_list("step__turn__conversation__split", flat=True)) == {"train"}
    assert not made.filter(step=explained).exists()
    again = work_inline(memory.start_rationales(user=None, dataset=dataset, split="train"))
    assert again.report["counts"]["steps"] == 0


def test_the_request_tells_page_instruction_earlier_actions_and_answer_without_its_element(dataset, server) -> None:
    work_inline(memory.start_rationales(user=None, dataset=dataset, split="train"))
    for request in server.requests:
        assert [message["role"] for message in request["messages"]] == ["system", *["user", "assistant"] * 2, "user"]
        assert (request["temperature"], request["max_tokens"]) == (0.0, 100)
    selecting, clicking = (server.requests[0]["messages"][place]["content"] for place in (1, 3))
    assert "Assistant: Action: SELECT\nValue: price\n" in selecting
    assert "Previous actions:\n[textbox]  Arrival -> CLICK\n[button]  May -> CLICK\nWhich" in clicking
    asked = [request["messages"][-1]["content"] for request in server.requests]
    typed = next(text for text in asked if "Action: TYPE" in text and "part 1" in text)
    page, _, rest = typed.partition("\n\nUser: ")
    assert page.startswith("### Conversation\nWebpage: (html")
    assert "input" in page
    assert "Second" not in page
    assert "Task: Please do part 1 of the task.\nPrevious actions:\nNone\n" in rest
    assert rest.endswith("\n\nAssistant: Action: TYPE\nValue: red shoes\n\n### Rationale")
    selected = next(text for text in asked if "Action: SELECT" in text)
    assert "Previous actions:\n[input]  Search -> TYPE: red shoes\n" in selected


@pytest.mark.slow
def test_rationales_in_slices_ask_nothing_twice(dataset, server, short_slices) -> None:
    job = memory.start_rationales(user=None, dataset=dataset, split="train")
    assert slices(job) == 4
    assert job.report["counts"] == {"steps": 12, "rationales": 12}
    assert Rationale.objects.count() == 12
    assert len(server.requests) == 4, "equal questions, as the steps of this dataset give, are asked once"


def test_steps_that_cannot_be_explained_are_listed_and_the_others_go_on(dataset, server) -> None:
    first, second = Step.objects.filter(turn__conversation__split="train").order_by("pk")[:2]
    Step.objects.filter(pk=first.pk).update(snapshot=None)
    selecting = "Assistant: Action: SELECT\nValue: price\n\n### Rationale"
    server.reply = lambda body: failure(400, "no") if prompt_text(body).endswith(selecting) else "Because."
    job = work_inline(memory.start_rationales(user=None, dataset=dataset, split="train"))
    assert job.state == State.DONE_WITH_ERRORS
    told = {error["record"]: error["message"] for error in job.report["errors"]}
    assert "page cannot be shown" in told[f"step {first.pk}"]
    assert "no answer that can be read" in told[f"step {second.pk}"]
    assert job.report["counts"]["rationales"] == Rationale.objects.count() > 0


@pytest.mark.parametrize("start", [memory.start_embedding, memory.start_induction, memory.start_rationales])
def test_only_admins_start_them(dataset, start) -> None:
    for role in ("reviewer", "annotator", "reader"):
        with pytest.raises(PermissionDenied):
            start(user=factories.make_user(role, dataset.project), dataset=dataset)
    job = start(user=factories.make_user("admin", dataset.project), dataset=dataset)
    assert job.queue_of(job.kind) == "gpu"


def test_what_makes_no_sense_is_refused(dataset) -> None:
    with pytest.raises(ValidationError, match="no train conversations of zoo"):
        memory.start_induction(user=None, dataset=dataset, websites=["zoo"])
    with pytest.raises(ValidationError, match="Choose one of"):
        memory.start_rationales(user=None, dataset=dataset, split="nonsense")
    with pytest.raises(ValidationError, match="Choose of"):
        memory.start_embedding(user=None, dataset=dataset, parts=["pages"])


def test_the_same_job_waits_only_once(dataset) -> None:
    first = memory.start_embedding(user=None, dataset=dataset)
    assert memory.start_embedding(user=None, dataset=dataset) == first
    Job.objects.claim(first.pk)
    assert memory.start_embedding(user=None, dataset=dataset) != first


def command(*arguments: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command(*arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.mark.slow
def test_build_memory_prints_what_it_did(dataset, server) -> None:
    out, _ = command("build_memory", dataset.name, "--rationales", "--split", "train", "--inline", "--json")
    result = json.loads(out)
    assert [(job["kind"], job["state"]) for job in result["jobs"]] == [("embed", "done"), ("refine", "done")]
    assert result["jobs"][0]["counts"]["snippets"] == 16
    assert "Embedded 16 snippets" in command("build_memory", dataset.name, "--inline")[0]


@pytest.mark.slow
def test_induce_workflows_prints_the_workflows(dataset, server) -> None:
    site = dataset.websites.order_by("name").first().name
    out, _ = command("induce_workflows", dataset.name, "--website", site, "--inline")
    assert f"  {site}: search — Given that you are on the home page" in out
    result = json.loads(command("induce_workflows", dataset.name, "--inline", "--json")[0])
    assert result["counts"]["websites"] == len(result["workflows"]) == 3


def test_commands_fail_in_one_line(dataset, no_endpoint) -> None:
    with pytest.raises(CommandError, match=r"^no LLM endpoint is configured"):
        command("induce_workflows", dataset.name, "--inline")
    with pytest.raises(CommandError, match=r"^there is no dataset 'nonsense'; there are: "):
        command("build_memory", "nonsense")
    with pytest.raises(CommandError, match="no train conversations of zoo"):
        command("induce_workflows", dataset.name, "--website", "zoo", "--inline")


@pytest.mark.django_db(transaction=True)
def test_a_command_follows_the_job_that_a_worker_does(dataset, in_thread, monkeypatch) -> None:
    monkeypatch.setattr("annotations.jobs.following.POLL_SECONDS", 0.05)
    published = []
    monkeypatch.setattr(running, "publish", lambda job: published.append(job.pk))

    def worker() -> None:
        while not published:
            time.sleep(0.02)
        in_thread(lambda: running.run(Job.objects.claim(published[0])))

    thread = threading.Thread(target=worker)
    thread.start()
    out, err = command("build_memory", dataset.name)
    thread.join()
    assert "Embedded 16 snippets" in out
    assert err

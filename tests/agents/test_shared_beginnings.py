"""What samples of a prompt, and prompts, begin with alike is read once: counted in tokens, with sharing and without."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from agents.generators.local import LocalGenerator, prompt_ids
from agents.generators.reading import Remembering
from agents.llm.chat import ChatLlm, Endpoint
from agents.llm.protocol import Message, Sampling
from agents.stages.imagine.scores import next_state
from agents.words.generator import ChatGenerator, ChatPrompt, Generated
from tests.agents.llm_server import serve
from tests.tiny_models import tiny_causal

PAGE = "user: a page with a button, a link and a field; which comes first, the button or the link? "
ASKED = [f"{PAGE} Action {number}" for number in range(3)]
SAMPLES, WRITTEN = 20, 4
COT, VALUE = Sampling(SAMPLES, temperature=1.0, seed=1), Sampling(SAMPLES, temperature=1.0, seed=2)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> LocalGenerator:
    folder: Path = tiny_causal(tmp_path_factory.mktemp("weights"), ASKED)
    generator = LocalGenerator(folder, "cpu")
    generator.configure(max_new_tokens=WRITTEN, max_tokens=256)
    return generator


def prompts(texts: Sequence[str]) -> list[ChatPrompt]:
    return [ChatPrompt((Message("user", text),)) for text in texts]


def tokens_read(local: LocalGenerator, work: Callable[[], object]) -> int:
    """The tokens that pass the weights meanwhile, padding included."""
    counted: list[int] = []
    hook = local.model.get_input_embeddings().register_forward_pre_hook(
        lambda module, given: counted.append(given[0].numel())
    )
    try:
        work()
    finally:
        hook.remove()
    return sum(counted)


def one_step(local: LocalGenerator) -> list[Generated]:
    """What `wma` asks at a step: samples of the action, the change that each of three would make, samples of the value
    of each."""
    drawn = local.generate(prompts([PAGE]), COT)
    changes = local.generate(prompts(ASKED))
    values = local.generate(
        prompts([f"{text} {next_state(found.text).text}" for text, found in zip(ASKED, changes, strict=True)]), VALUE
    )
    return [*drawn, *changes, *values]


def test_twenty_samples_read_their_prompt_once(local: LocalGenerator, monkeypatch: pytest.MonkeyPatch) -> None:
    length = len(prompt_ids(prompts([PAGE])[0], local.tokenizer, 256))
    shared = tokens_read(local, lambda: local.generate(prompts([PAGE]), COT))
    assert shared <= length + SAMPLES * WRITTEN
    monkeypatch.setattr(Remembering, "_read", lambda self, row: False)
    apart = tokens_read(local, lambda: local.generate(prompts([PAGE]), COT))
    assert apart >= SAMPLES * length
    assert apart > 5 * shared


@pytest.mark.slow
def test_a_step_of_wma_reads_a_fifth_of_what_it_asks(local: LocalGenerator, monkeypatch: pytest.MonkeyPatch) -> None:
    """And draws the same."""
    found: list[list[tuple[str, ...]]] = []
    shared = tokens_read(local, lambda: found.append([one.texts for one in one_step(local)]))
    monkeypatch.setattr(Remembering, "_read", lambda self, row: False)
    apart = tokens_read(local, lambda: found.append([one.texts for one in one_step(local)]))
    assert found[0] == found[1]
    assert apart > 5 * shared, (apart, shared)


def test_an_endpoint_is_sent_the_prompt_once_for_all_samples() -> None:
    with serve(lambda body: [f"answer {number}" for number in range(body.get("n", 1))]) as server:
        generator = ChatGenerator(ChatLlm(Endpoint(server.url, "m")), sampling=COT)
        (answer,) = generator.generate(prompts([PAGE]))
    assert len(answer.texts) == SAMPLES
    assert [request["n"] for request in server.requests] == [SAMPLES]

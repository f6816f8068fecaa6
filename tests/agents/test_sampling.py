"""Several samples of a prompt by weights in this process and by an endpoint, through the same generator interface."""

from pathlib import Path

import pytest

from agents.generators.drawing import drawing
from agents.generators.local import LocalGenerator
from agents.llm.chat import ChatLlm, Endpoint
from agents.llm.protocol import Message, Sampling
from agents.words.generator import ChatGenerator, ChatPrompt
from tests.agents.llm_server import failure, serve
from tests.tiny_models import tiny_causal, tiny_t5

TEXTS = ["user: a long question about a button", "short", "Action: CLICK Value: Search"]
PROMPTS = [ChatPrompt((Message("user", text),)) for text in TEXTS]


@pytest.fixture(scope="module", params=[tiny_causal, tiny_t5], ids=["causal", "seq2seq"])
def local(request, tmp_path_factory) -> LocalGenerator:
    folder: Path = request.param(tmp_path_factory.mktemp("weights"), TEXTS)
    generator = LocalGenerator(folder, "cpu")
    generator.configure(max_new_tokens=6, max_tokens=64)
    return generator


@pytest.mark.slow
def test_samples_depend_on_seed_and_prompt_and_not_on_the_batch(local) -> None:
    drawn = Sampling(n=4, temperature=1.5, seed=3)
    together = [answer.texts for answer in local.generate(PROMPTS, drawn)]
    assert [local.generate([prompt], drawn)[0].texts for prompt in PROMPTS] == together
    assert [answer.texts for answer in local.generate([*PROMPTS, *PROMPTS], drawn)] == together * 2
    assert all(len(texts) == 4 and len(set(texts)) > 1 for texts in together)
    assert [a.texts for a in local.generate(PROMPTS, Sampling(n=4, temperature=1.5, seed=4))] != together
    assert [a.texts[:2] for a in local.generate(PROMPTS, Sampling(n=2, temperature=1.5, seed=3))] == [
        texts[:2] for texts in together
    ]


def test_without_temperature_every_sample_is_the_most_likely_one(local) -> None:
    (plain,) = local.generate(PROMPTS[:1])
    (three,) = local.generate(PROMPTS[:1], Sampling(n=3))
    assert three.texts == (plain.text,) * 3
    (nearly,) = local.generate(PROMPTS[:1], Sampling(n=2, temperature=5.0, top_p=1e-6, seed=1))
    assert nearly.texts == (plain.text,) * 2, "so small a share holds one token"


def test_tokens_are_drawn_by_their_probability() -> None:
    """4,000 rows of the same logits: 0.9 and 0.1 before the temperature, 0.75 and 0.25 at temperature 2."""
    import torch

    rows = [[n] for n in range(4000)]
    logits = torch.log(torch.tensor([[0.9, 0.1]])).repeat(len(rows), 1)
    for temperature, share in ((1.0, 0.9), (2.0, 0.75)):
        steps = drawing(Sampling(temperature=temperature, seed=0), rows, "cpu")
        first = (steps(torch.zeros((len(rows), 1), dtype=torch.long), logits.clone()).argmax(1) == 0).float().mean()
        assert float(first) == pytest.approx(share, abs=0.025)  # some four standard deviations


def test_an_endpoint_is_given_every_setting_and_gives_every_sample() -> None:
    def one(body):
        return failure(400, "n must be 1") if body.get("n", 1) > 1 else f"{body['seed']} {body['top_p']}"

    with serve(one) as server:
        generator = ChatGenerator(ChatLlm(Endpoint(server.url, "m")), sampling=Sampling(3, 0.7, 0.9, 5))
        (answer,) = generator.generate(PROMPTS[:1])
        (other,) = generator.generate(PROMPTS[:1], Sampling(1, 0.2, 0.5, 1))
    assert answer.texts == ("5 0.9", "6 0.9", "7 0.9")
    assert other.texts == ("1 0.5",)
    assert {request["temperature"] for request in server.requests} == {0.7, 0.2}


def test_an_error_has_no_samples() -> None:
    with serve(lambda body: failure(400, "too long")) as server:
        (answer,) = ChatGenerator(ChatLlm(Endpoint(server.url, "m"))).generate(PROMPTS[:1])
    assert answer.error
    assert answer.texts == ()

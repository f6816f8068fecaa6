"""Local causal models: a tiny one is made and taught, then asked as any other model."""

import random
import shutil
from dataclasses import replace

import pytest
import torch
from transformers import GenerationConfig, LlamaForCausalLM

from agents.llm.budget import BudgetedLlm, MemoryBudget, SpendLimits
from agents.llm.chat import ChatLlm, Endpoint
from agents.llm.errors import BudgetExceeded, RequestRefused
from agents.llm.local import LocalLlm
from agents.llm.protocol import Image, Message, Reply, Request, estimate
from tests.agents.llm_model import LESSONS, make_model
from tests.agents.llm_server import Answer, failure, serve


@pytest.fixture(scope="module")
def chat_model(tmp_path_factory) -> LocalLlm:
    folder = tmp_path_factory.mktemp("chat")
    make_model(folder)
    # What a model's own settings would change must not count.
    GenerationConfig(eos_token_id=0, repetition_penalty=5.0, do_sample=True, temperature=3.0).save_pretrained(folder)
    return LocalLlm(str(folder), batch_size=4, device="cpu")


@pytest.fixture(scope="module")
def plain_model(tmp_path_factory) -> LocalLlm:
    folder = tmp_path_factory.mktemp("plain")
    make_model(folder, template=None)
    return LocalLlm(str(folder), batch_size=4, device="cpu")


def ask(llm, text: str, **settings) -> Request:
    settings = {"max_tokens": 30} | settings
    return Request((Message("user", text),), llm.info.model, **settings)


def tokens(llm: LocalLlm, text: str) -> int:
    return len(llm._tokenizer(text)["input_ids"])


@pytest.mark.parametrize("kind", ["chat_model", "plain_model"])
def test_a_model_answers_what_it_was_taught(kind, request) -> None:
    llm = request.getfixturevalue(kind)
    replies = llm.complete([ask(llm, question) for question in LESSONS])
    assert [reply.text for reply in replies] == list(LESSONS.values())
    assert {reply.finish_reasons for reply in replies} == {("stop",)}


def test_tokens_are_counted_exactly(chat_model) -> None:
    for question, answer in LESSONS.items():
        (reply,) = chat_model.complete([ask(chat_model, question)])
        assert reply.usage.prompt_tokens == tokens(chat_model, f"<|user|>{question}<|end|><|assistant|>")
        assert reply.usage.completion_tokens == tokens(chat_model, answer) + 1  # the end
        assert reply.usage.cost == 0.0
        assert not reply.usage.estimated


def test_prompts_follow_the_template_or_are_plain(chat_model, plain_model) -> None:
    messages = (Message("user", "a"), Message("assistant", "b"), Message("user", "{{ c }}"))
    request = Request(messages, "m")
    assert chat_model.prompt(request) == "<|user|>a<|end|><|assistant|>b<|end|><|user|>{{ c }}<|end|><|assistant|>"
    assert plain_model.prompt(request) == "user: a\nassistant: b\nuser: {{ c }}\nassistant:"


def test_a_batch_gives_what_single_requests_give(chat_model) -> None:
    """Prompts of many lengths, with stops and limits of their own, in an order that sorting undoes."""
    pick = random.Random(1)
    requests = [
        ask(
            chat_model,
            pick.choice(["x", "ab " * 9, *LESSONS]) + "?" * (i % 3),
            stop=pick.choice([(), ("B", "lo")]),
            max_tokens=pick.choice([5, 20]),
        )
        for i in range(25)
    ]
    batched = chat_model.complete(requests)
    single = [chat_model.complete([request])[0] for request in requests]
    assert [replace(reply, seconds=0) for reply in batched] == [replace(reply, seconds=0) for reply in single]
    assert {reply.finish_reasons[0] for reply in batched} == {"stop", "length"}


def test_a_stop_string_ends_and_is_cut_off(chat_model) -> None:
    question, answer = list(LESSONS.items())[1]
    (reply,) = chat_model.complete([ask(chat_model, question, stop=("London", "YP"))])
    assert reply.text == "Answer: A. T"
    assert reply.finish_reasons == ("stop",)
    assert reply.usage.completion_tokens < tokens(chat_model, answer)
    (short,) = chat_model.complete([ask(chat_model, question, max_tokens=3)])
    assert short.usage.completion_tokens == 3
    assert short.finish_reasons == ("length",)
    assert answer.startswith(short.text)


def test_samples_depend_on_the_seed_and_on_nothing_else(chat_model) -> None:
    def sampled(seed: int) -> Request:
        return ask(chat_model, "unknown question", temperature=2.0, n=3, seed=seed)

    first = chat_model.complete([sampled(1), sampled(2), sampled(1)])
    torch.manual_seed(99)
    expected = torch.rand(3)
    torch.manual_seed(99)
    again = chat_model.complete([ask(chat_model, "other"), sampled(1)])[1]
    assert torch.equal(torch.rand(3), expected)  # the caller's random numbers go on as they were
    assert first[0].texts == first[2].texts == again.texts
    assert first[0].texts != first[1].texts
    assert len(set(first[0].texts)) == 3


def test_greedy_samples_are_the_same_text(chat_model) -> None:
    (reply,) = chat_model.complete([ask(chat_model, "Nothing?", n=3)])
    assert reply.texts == (LESSONS["Nothing?"],) * 3
    assert reply.usage.completion_tokens == tokens(chat_model, LESSONS["Nothing?"]) + 1


def test_what_the_model_cannot_do_is_refused_without_losing_the_rest(chat_model) -> None:
    answers = chat_model.complete(
        [
            ask(chat_model, "x" * 200),
            ask(chat_model, "Which button?"),
            Request((Message("system", "a"),), chat_model.info.model),
            Request((Message("user", "a", (Image(b"1"),)),), chat_model.info.model),
            Request((Message("user", "a"),), "another"),
        ]
    )
    assert answers[1].text == "Answer: B. CLICK"
    for place, words in (
        (0, "do not fit into the 128 tokens"),
        (2, "no system messages"),
        (3, "reads text only"),
        (4, "for the model 'another'"),
    ):
        assert isinstance(answers[place], RequestRefused)
        assert words in str(answers[place])


def test_the_identity_changes_with_the_weights(chat_model, tmp_path) -> None:
    shutil.copytree(chat_model.info.model, tmp_path, dirs_exist_ok=True)
    same = LocalLlm(str(tmp_path), device="cpu").info.identity
    assert same.rpartition(":")[2] == chat_model.info.identity.rpartition(":")[2]
    model = LlamaForCausalLM.from_pretrained(tmp_path)
    model.lm_head.weight.data[0, 0] += 1
    model.save_pretrained(tmp_path)
    assert LocalLlm(str(tmp_path), device="cpu").info.identity != same


def test_pickled_weights_are_not_loaded(chat_model, tmp_path) -> None:
    shutil.copytree(chat_model.info.model, tmp_path, dirs_exist_ok=True)
    weights = LlamaForCausalLM.from_pretrained(tmp_path).state_dict()
    torch.save(weights, tmp_path / "pytorch_model.bin")
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(OSError, match="safetensors"):
        LocalLlm(str(tmp_path), device="cpu")


def test_a_budget_holds_for_a_local_model(chat_model) -> None:
    requests = [ask(chat_model, question) for question in LESSONS]
    used = [answer.usage.tokens for answer in chat_model.complete(requests)]
    budget = MemoryBudget(SpendLimits(tokens=used[0] + used[1] + estimate(requests[2], None).tokens - 1, cost=0.0))
    answers = BudgetedLlm(chat_model, budget).complete(requests)
    assert [type(answer) for answer in answers] == [Reply, Reply, BudgetExceeded]
    assert budget.spent().tokens == used[0] + used[1]


def test_served_over_http_it_gives_the_same(chat_model) -> None:
    def reply(body) -> str | Answer:
        messages = tuple(Message(message["role"], message["content"]) for message in body["messages"])
        (answer,) = chat_model.complete([Request(messages, body["model"], max_tokens=body["max_tokens"])])
        return answer.text if isinstance(answer, Reply) else failure(400, str(answer))

    with serve(reply) as server:
        answers = ChatLlm(Endpoint(server.url, chat_model.info.model)).complete(
            [*(ask(chat_model, question) for question in LESSONS), ask(chat_model, "x" * 200)]
        )
    assert [answer.text for answer in answers[:3]] == list(LESSONS.values())
    assert isinstance(answers[3], RequestRefused)
    assert "do not fit" in str(answers[3])

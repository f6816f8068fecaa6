"""Hard limits: nothing starts beyond them, what runs is counted, raising them lets the work go on."""

import threading
import time

import pytest

from agents.llm.budget import BudgetedLlm
from agents.llm.cache import CachedLlm
from agents.llm.chat import ChatLlm, Endpoint
from agents.llm.errors import BudgetExceeded, NotConfigured, RequestRefused
from agents.llm.protocol import Message, Reply, Request, estimate
from agents.llm.usage import Prices
from agents.types import SpendLimits, Spent
from tests.agents.llm_in_memory import DictStore, MemoryBudget
from tests.agents.llm_server import failure, good, serve

PRICES = Prices(10.0, 30.0)


def ask(number: int, max_tokens: int = 50) -> Request:
    return Request((Message("user", f"question {number}"),), "m", max_tokens=max_tokens)


REQUESTS = [ask(number) for number in range(10)]
MOST = estimate(ask(0), PRICES)


def client(server, **settings) -> ChatLlm:
    return ChatLlm(Endpoint(server.url, "m", **({"prices": PRICES, "first_wait": 0.01, "concurrency": 4} | settings)))


def kinds(answers) -> str:
    return "".join(
        "r" if isinstance(answer, Reply) else "B" if isinstance(answer, BudgetExceeded) else "e" for answer in answers
    )


def test_within_the_limits_everything_is_answered_and_counted_exactly() -> None:
    budget = MemoryBudget(SpendLimits(tokens=10_000, cost=1.0, seconds=60))
    with serve(lambda body: "a b c") as server:
        answers = BudgetedLlm(client(server), budget).complete(REQUESTS)
    assert kinds(answers) == "r" * 10
    assert budget.spent().tokens == 10 * (2 + 3)
    assert budget.spent().cost == pytest.approx(10 * (2 * 10 + 3 * 30) / 1e6)
    assert 0 < budget.spent().seconds < 10


def test_tokens_are_never_exceeded_by_requests_at_the_same_time() -> None:
    """Each may use some 60 tokens and uses 52; 200 allow for three."""
    budget = MemoryBudget(SpendLimits(tokens=200))
    with serve(
        lambda body: good("word " * 50, delay=0.02, usage={"prompt_tokens": 2, "completion_tokens": 50})
    ) as server:
        answers = BudgetedLlm(client(server), budget, "Use --max-tokens.").complete(REQUESTS)
    assert kinds(answers) == "rrrBBBBBBB"
    assert len(server.requests) == 3
    assert budget.spent().tokens == 3 * 52
    assert str(answers[3]) == (
        "The budget's limit of 200 tokens is reached: 156 are spent, and this request may need up to "
        f"{MOST.tokens} more (prompts counted by an estimate of 3 bytes a token). Use --max-tokens."
    )


def test_short_answers_give_back_what_was_booked() -> None:
    """One request at a time fits; each uses 3 tokens of the 61 that it books."""
    budget = MemoryBudget(SpendLimits(tokens=100))
    with serve(lambda body: "a") as server:
        answers = BudgetedLlm(client(server), budget).complete(REQUESTS)
    assert kinds(answers) == "r" * 10
    assert server.most_busy == 1
    assert budget.spent().tokens == 30


def test_money_stops_and_can_be_raised() -> None:
    budget = MemoryBudget(SpendLimits(cost=2.5 * MOST.cost))
    with serve(lambda body: good("x", usage={"prompt_tokens": MOST.prompt_tokens, "completion_tokens": 50})) as server:
        llm = BudgetedLlm(client(server), budget)
        first = llm.complete(REQUESTS[:4])
        budget.change(SpendLimits(cost=10 * MOST.cost))
        second = llm.complete(REQUESTS[2:4])
    assert (kinds(first), kinds(second)) == ("rrBB", "rr")
    assert "in money is reached" in str(first[2])
    assert budget.spent().cost == pytest.approx(4 * MOST.cost)


def test_time_stops_what_has_not_started() -> None:
    budget = MemoryBudget(SpendLimits(seconds=0.3))
    with serve(lambda body: good("x", delay=0.2)) as server:
        answers = BudgetedLlm(client(server, concurrency=2), budget).complete(REQUESTS)
    assert kinds(answers) in ("rrBBBBBBBB", "rrrBBBBBBB", "rrrrBBBBBB")  # two rounds; one where the machine is slow
    assert len(server.requests) <= kinds(answers).count("r") + 2, "what ran when time was up is given up"
    assert 0.3 <= budget.spent().seconds < 3.0
    assert "limit of 0.3 seconds is reached" in str(answers[4])


def test_time_is_up_for_what_runs_too() -> None:
    budget = MemoryBudget(SpendLimits(seconds=0.5))
    begun = time.monotonic()
    with serve(lambda body: good("x", delay=0 if "0" in body["messages"][0]["content"] else 20)) as server:
        answers = BudgetedLlm(client(server, concurrency=4), budget).complete(REQUESTS[:4])
        assert time.monotonic() - begun < 8
    assert kinds(answers) == "rBBB"
    assert "limit of 0.5 seconds is reached" in str(answers[1])


def test_an_empty_budget_sends_nothing() -> None:
    with serve(lambda body: "x") as server:
        for limits in (SpendLimits(tokens=0), SpendLimits(cost=0.0), SpendLimits(seconds=0.0)):
            assert kinds(BudgetedLlm(client(server), MemoryBudget(limits)).complete(REQUESTS[:2])) == "BB"
    assert server.requests == []


def test_workers_share_one_ledger() -> None:
    """Two workers with four requests at once each, under a limit that allows for five of all."""
    budget = MemoryBudget(SpendLimits(tokens=5 * MOST.tokens))
    usage = {"prompt_tokens": MOST.prompt_tokens, "completion_tokens": 50}
    answers = []
    with serve(lambda body: good("x", delay=0.05, usage=usage)) as server:

        def work() -> None:
            answers.extend(BudgetedLlm(client(server), budget).complete(REQUESTS))

        workers = [threading.Thread(target=work) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert kinds(answers).count("r") == len(server.requests) == 5
    assert budget.spent().tokens == 5 * MOST.tokens


def test_failed_requests_are_given_back_and_useless_answers_are_counted() -> None:
    replies = {"question 0": failure(400), "question 1": good("x", choices=[], usage={"prompt_tokens": 7})}
    budget = MemoryBudget(SpendLimits(tokens=1000))
    with serve(lambda body: replies.get(body["messages"][0]["content"], "fine")) as server:
        answers = BudgetedLlm(client(server, answers=2), budget).complete(REQUESTS[:3])
    assert kinds(answers) == "eer"
    assert type(answers[0]) is RequestRefused
    assert budget.spent().tokens == answers[1].usage.tokens + 3
    assert answers[1].usage.prompt_tokens == 14


def test_cached_replies_are_free_even_when_nothing_is_left() -> None:
    budget = MemoryBudget(SpendLimits(tokens=MOST.tokens + 1))
    with serve(lambda body: good("x", usage={"prompt_tokens": 10, "completion_tokens": 50})) as server:
        llm = CachedLlm(BudgetedLlm(client(server), budget), DictStore())
        assert kinds(llm.complete(REQUESTS[:2])) == "rB"
        assert kinds(llm.complete(REQUESTS[:2])) == "rB"
    assert len(server.requests) == 1
    assert budget.spent().tokens == 60


def test_models_that_batch_get_batches_as_large_as_fit() -> None:
    class BatchingLlm:
        """Notes the sizes of its batches; answers through the endpoint."""

        def __init__(self, llm) -> None:
            self.llm, self.sizes = llm, []
            self.info = type(llm.info)("local", "m", PRICES, lanes=1, batch=4)

        def complete(self, requests):
            self.sizes.append(len(requests))
            return self.llm.complete(requests)

    with serve(lambda body: "a") as server:
        llm = BatchingLlm(client(server))
        answers = BudgetedLlm(llm, MemoryBudget(SpendLimits(tokens=2 * MOST.tokens + 30))).complete(REQUESTS)
    assert kinds(answers) == "r" * 10
    assert llm.sizes == [2, 2, 2, 2, 2]


@pytest.mark.timed
def test_an_interrupted_call_keeps_what_is_booked_and_ends_at_once() -> None:
    class Interrupt(BaseException):
        pass

    class InterruptedBudget(MemoryBudget):
        def add(self, amount: Spent) -> None:
            if amount.tokens < 0:  # the first request has ended
                raise Interrupt
            super().add(amount)

    budget = InterruptedBudget(SpendLimits(tokens=1000))
    started = time.monotonic()
    with serve(lambda body: good("x", delay=0.02 if "0" in body["messages"][0]["content"] else 5.0)) as server:
        with pytest.raises(Interrupt):
            BudgetedLlm(client(server), budget).complete(REQUESTS)
        seconds = time.monotonic() - started
    assert seconds < 4.0
    assert len(server.requests) <= 4
    assert budget.spent().tokens == 4 * MOST.tokens


def test_a_limit_on_money_needs_prices_even_when_it_is_set_later() -> None:
    budget = MemoryBudget(SpendLimits())
    with serve(lambda body: "x") as server:
        llm = BudgetedLlm(client(server, prices=None), budget)
        budget.change(SpendLimits(cost=1.0))
        with pytest.raises(NotConfigured, match="LLM_PRICE_PROMPT"):
            BudgetedLlm(client(server, prices=None), budget)
        answers = llm.complete(REQUESTS[:2])
    assert [type(answer) for answer in answers] == [NotConfigured, NotConfigured]
    assert server.requests == []


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="the limit on tokens must be 0 or more"):
        SpendLimits(tokens=-1)


def test_samples_that_may_come_one_at_a_time_are_booked_with_a_prompt_each() -> None:
    sampled = Request((Message("user", "word " * 300),), "m", temperature=1.0, max_tokens=10, n=3, seed=0)
    once = estimate(sampled, None).prompt_tokens // 3
    limit = MemoryBudget(SpendLimits(tokens=2 * once + 30))
    usage = {"prompt_tokens": once, "completion_tokens": 1}
    with serve(lambda body: good("a", usage=usage)) as server:
        refused = BudgetedLlm(client(server), limit).complete([sampled])
        limit.change(SpendLimits(tokens=3 * once + 30))
        (reply,) = BudgetedLlm(client(server), limit).complete([sampled])
    assert kinds(refused) == "B"
    assert reply.texts == ("a", "a", "a")
    assert limit.spent().tokens == 3 * once + 3

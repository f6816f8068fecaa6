"""A cache of replies by the whole request, so that nothing is paid for twice. Core.

The key covers messages, images, model, temperature, top-p, limits, stop strings, number of samples, seed and the
endpoint. Samples at a temperature are cached too: whoever wants other samples gives another seed.
"""

from dataclasses import replace
from typing import Protocol

from agents.llm.deadline import go_on
from agents.llm.errors import LlmError
from agents.llm.protocol import Llm, Reply, Request

CHUNK = 64  # requests between two writes: what a killed process loses at most


class ReplyStore(Protocol):
    """A store of replies. `get_many` leaves out what it does not have; `put_many` keeps an older reply."""

    def get_many(self, keys: list[str]) -> dict[str, Reply]: ...

    def put_many(self, entries: list[tuple[str, Request, Reply]]) -> None: ...


class CachedLlm:
    """`llm` with a cache in front of it. Wrap it around a budget, so that cached replies are not counted there."""

    def __init__(self, llm: Llm, store: ReplyStore) -> None:
        self.info = llm.info
        self._llm = llm
        self._store = store

    def complete(self, requests: list[Request]) -> list[Reply | LlmError]:
        """One answer per request, in order. Equal requests are asked once; an error is not kept, so the next call asks
        again. GivenUp where nobody wants the answers any more."""
        answers: list[Reply | LlmError] = []
        chunk = self.info.batch if self.info.batch > 1 else CHUNK  # a model in this process takes minutes for 64
        for start in range(0, len(requests), chunk):
            answers += self._chunk(requests[start : start + chunk])
        return answers

    def _chunk(self, requests: list[Request]) -> list[Reply | LlmError]:
        keys = [request.key(self.info.identity) for request in requests]
        known: dict[str, Reply | LlmError] = {
            key: _as_cached(reply) for key, reply in self._store.get_many(list(dict.fromkeys(keys))).items()
        }
        missing = {key: request for key, request in zip(keys, requests, strict=True) if key not in known}
        fresh = dict(zip(missing, self._llm.complete(list(missing.values())), strict=True)) if missing else {}
        good = [(key, missing[key], answer) for key, answer in fresh.items() if isinstance(answer, Reply)]
        if good:
            self._store.put_many(good)
        if missing:
            go_on()  # what was answered is kept by now
        answers: list[Reply | LlmError] = []
        for key in keys:
            if key in fresh:  # the first of equal requests has paid
                answer = fresh.pop(key)
                known[key] = _as_cached(answer) if isinstance(answer, Reply) else _as_unpaid(answer)
                answers.append(answer)
            else:
                answers.append(known[key])
        return answers


def _as_cached(reply: Reply) -> Reply:
    return replace(reply, usage=replace(reply.usage, cost=0.0, cached=True), seconds=0.0)


def _as_unpaid(error: LlmError) -> LlmError:
    return type(error)(str(error))

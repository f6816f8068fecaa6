"""Judges that ask the embedded model: replies are held to the form that is read; endpoints are asked as before."""

import pytest

from agents.llm.embedded import SMOLLM2, EmbeddedLlm, lacking
from agents.llm.errors import LlmError
from agents.llm.protocol import LlmInfo, Reply, Request
from agents.llm.usage import Prices, Usage
from agents.prompts.packs import webnav
from evaluation.asking.definition import AskedModel
from evaluation.judges import JUDGES
from evaluation.judges.definition import Evidence, SeenAction

SEEN = Evidence(("Sort the hotels by price.",), (SeenAction("[button] Sort -> CLICK", "Hotels of Bergen. Sort."),))
ASKING = sorted(name for name, judge in JUDGES.items() if judge.texts)


class Listening:
    """Keeps what it is asked, and says nothing that a judge can read."""

    def __init__(self, model: str) -> None:
        self.info = LlmInfo(f"listening {model}", model, Prices(0, 0))
        self.asked: list[Request] = []

    def complete(self, requests: list[Request]) -> list[Reply | LlmError]:
        self.asked += requests
        return [Reply(("Hm.",), Usage(1, 1), self.info.model, ("stop",), 0.0) for _ in requests]


@pytest.mark.parametrize("name", ASKING)
def test_endpoints_are_asked_by_the_prompt_alone(name: str) -> None:
    endpoint, embedded = Listening("m-1"), Listening(SMOLLM2)
    for llm in (endpoint, embedded):
        assert JUDGES[name].judge(SEEN, AskedModel(llm, webnav())).error
    assert {request.pattern for request in endpoint.asked} == {""}
    assert all(request.pattern for request in embedded.asked)
    assert [one.messages for one in endpoint.asked] == [one.messages for one in embedded.asked]


@pytest.mark.slow
@pytest.mark.skipif(bool(lacking()), reason=lacking())
@pytest.mark.parametrize("name", ASKING)
def test_replies_of_the_embedded_model_can_be_read(name: str) -> None:
    opinion = JUDGES[name].judge(SEEN, AskedModel(EmbeddedLlm(), webnav()))
    assert opinion.error == ""
    assert opinion.success is not None

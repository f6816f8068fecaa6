"""Which exemplar set the nearest keys choose, in live studies as users start them."""

import pytest

from tests.conformance.cases import first_quick
from tests.conformance.program_front_door import PublishedEpisode
from tests.quick import first_is_quick

pytestmark = pytest.mark.django_db

STEP = {"code_ok": True, "act": "agent.type('x')"}


@first_is_quick("case", first_quick("synapse_miniwob_vote"))
def test_the_chosen_set_agrees_with_the_published_code(case: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    published = PublishedEpisode(monkeypatch, task="click-button", words="Go.", page="<b>go</b>", steps=[STEP])
    neighbours = case["neighbours_nearest_first"]
    keys = [f"key {place}" for place in range(len(neighbours))]
    for name in sorted(set(neighbours)):
        own = [key for key, of in zip(keys, neighbours, strict=True) if of == name]
        demos = {"demo": [{"state": f"page of {name}", "act": "agent.press('enter')"}]}
        published.import_set(name, demos, own)
    published.nearest(keys)
    run = published.play(recall__exemplar_k=str(case["k"]))
    first = run.steps.order_by("seq").first()
    assert first is not None
    assert first.trace["recall"]["exemplar_set"] == case["chosen"]
    assert first.trace["recall"]["nearest"] == neighbours[: case["k"]]
    assert f"page of {case['chosen']}" in published.model.acts[0][1]["content"]

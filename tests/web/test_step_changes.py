"""What an action changed, on the step page and in the part that the replay loads; nothing where gold is hidden."""

import re

import pytest

from annotations.corpus.browse import changes
from annotations.models import Step
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db
BEFORE = (
    '<html backend_node_id="1"><button backend_node_id="5"><text>Basket of 0 things</text></button>'
    '<p backend_node_id="3"><text>Free delivery</text></p></html>'
)
AFTER = (
    '<html backend_node_id="1"><button backend_node_id="5"><text>Basket of 1 things</text></button>'
    '<h1 backend_node_id="9"><text>Thank &lt;you&gt;</text></h1></html>'
)


def step_with(before: str = BEFORE, after: str = AFTER, split: str = "train") -> Step:
    turn = factories.make_turn(factories.make_conversation(turns=0, split=split), steps=0)
    return factories.make_step(turn, html=before, snapshot_after=factories.make_snapshot(after))


def shown(step: Step, address: str, role: str = "reader"):
    return client_of(factories.make_user(role, step.turn.conversation.dataset.project)).get(address)


@pytest.mark.parametrize("address", ["/steps/{}/?tab=changes", "/steps/{}/changes/"])
def test_what_came_what_went_and_what_changed_is_told(address):
    step = step_with()
    page = re.sub(r"\s+>", ">", shown(step, address.format(step.pk)).content.decode())
    assert re.findall(r'<li class="(\w+)">', page) == ["added", "removed", "changed"]
    assert "Basket of <del>0</del> things" in page
    assert "Basket of <ins>1</ins> things" in page
    assert "Thank &lt;you&gt;" in page
    assert [label in page for label in ("1 added", "1 removed", "1 changed")] == [True] * 3


def test_equal_pages_and_pages_that_are_not_there_are_told():
    step = step_with(after=BEFORE)
    assert b"Nothing changed" in shown(step, f"/steps/{step.pk}/changes/").content
    Step.objects.filter(pk=step.pk).update(snapshot_after=None)
    assert b"was not recorded" in shown(step, f"/steps/{step.pk}/changes/").content


def test_pages_that_take_too_long_are_not_compared(monkeypatch):
    monkeypatch.setattr(changes, "MOST_ELEMENTS", 1)
    step = step_with()
    assert b"one has more than 1 elements" in shown(step, f"/steps/{step.pk}/changes/").content


def test_the_first_of_many_are_listed(monkeypatch):
    monkeypatch.setattr(changes, "SHOWN", 2)
    many = "".join(f'<h2 backend_node_id="{n}"><text>Title {n}</text></h2>' for n in range(20, 30))
    step = step_with(after=BEFORE.replace("</html>", f"{many}</html>"))
    page = shown(step, f"/steps/{step.pk}/changes/").content.decode()
    assert page.count('<li class="added">') == 2
    assert "10 added" in page
    assert "The first 2 of each kind." in page


def test_the_page_after_is_hidden_with_the_gold():
    """The opening of a hidden conversation is shown, but not what the gold action did to it."""
    step = step_with(split="test_task")
    assert shown(step, f"/steps/{step.pk}/changes/").status_code == 404
    page = shown(step, f"/steps/{step.pk}/?tab=changes").content.decode()
    assert "hidden with the gold" in page
    assert "Thank" not in page

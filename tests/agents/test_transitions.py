"""Transitions as rows: made of recorded steps of the train split, once each, embedded, found again by what was done."""

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.memory import transitions
from agents.memory.describe import with_pages
from agents.memory.transitions import PastTransitions
from agents.models import Trajectory, Transition, TransitionVector, WorldModelFit
from agents.runs.episodes import ActionOutcome, Episode, Seen
from agents.types import Action, Decision
from agents.world_model.predicting import Situation
from agents.world_model.records import NO_ACTION
from annotations.corpus.store import ConversationStore
from annotations.datasets.records import CandidateRecord, ConversationRecord, StepRecord, TurnRecord
from annotations.models import Conversation, Dataset, Turn
from tests import factories

pytestmark = pytest.mark.django_db


def page(checked: str = "", typed: str = "") -> str:
    box = ' input_checked="true"' if checked else ""
    held = f' input_value="{typed}"' if typed else ""
    return (
        "<html backend_node_id='1'><label backend_node_id='2'><text>News</text>"
        f"<input backend_node_id='3' type='checkbox'{box}/></label>"
        f"<input backend_node_id='4' type='text' placeholder='Name'{held}/>"
        "<button backend_node_id='5'><text>Send</text></button></html>"
    )


def step(name: str, operation: str, node: str, before: str, value: str = "", after: str = "") -> StepRecord:
    return StepRecord(
        name, operation, value, html=before, html_after=after, positives=(CandidateRecord(node, "input"),)
    )


def recorded(name: str, split: str, typed: str) -> ConversationRecord:
    steps = (
        step("a", "CLICK", "3", page()),
        step("b", "TYPE", "4", page("yes"), typed),
        step("c", "CLICK", "5", page("yes", typed), after=page("yes", typed)),
    )
    turn = TurnRecord(source_id=name, instruction=f"Sign up as {typed} with news.", steps=steps)
    return ConversationRecord(name, "shop", "d", "s", (turn,), split=split)


@pytest.fixture
def dataset() -> Dataset:
    dataset = factories.make_dataset()
    people = [("train", "ada"), ("train", "bob"), ("dev", "eve"), ("test_task", "zoe")]
    store = ConversationStore(dataset)
    records = [recorded(f"{split}-{typed}", split, typed) for split, typed in people]
    store.store([(record, store.sha256(record)) for record in records])
    return dataset


def past(dataset: Dataset) -> PastTransitions:
    return PastTransitions(dataset, CachedEncoder(HashEncoder()))


def train(dataset: Dataset) -> list[int]:
    return list(dataset.conversations.filter(split="train").values_list("pk", flat=True))


def test_a_recorded_step_becomes_a_transition_with_its_effects_once(dataset):
    assert past(dataset).add(train(dataset)) == 5, "the first click is the same action on the same page in both"
    assert past(dataset).add(train(dataset)) == 0
    first, typed, sent, *_ = Transition.objects.order_by("pk")
    assert (first.operation, first.role, first.name, first.website) == ("CLICK", "checkbox", "News", "shop")
    assert [one["after"] for one in first.effects] == [{"checked": "true"}]
    assert [one["after"] for one in typed.effects] == [{"value": "'⟨value⟩'"}]
    assert sent.effects == []
    assert first.key_text == "CLICK checkbox News\nshop\nSign up as ada with news."


def test_what_earlier_rules_told_is_told_anew_and_fitted_again(dataset):
    store = past(dataset)
    store.prepare()
    told = list(Transition.objects.order_by("pk").values("key_text", "effects"))
    fitted = WorldModelFit.objects.get().pk
    first = Transition.objects.order_by("pk")[0]
    first.describe("the box", "it was clicked", "The box is ticked.", "a-model", "packaged")
    Transition.objects.update(effects=[], key_text="by earlier words", told_by=1)
    vectors = set(TransitionVector.objects.values_list("pk", flat=True))
    store.prepare()
    assert list(Transition.objects.order_by("pk").values("key_text", "effects")) == told
    assert TransitionVector.objects.count() == len(told)
    assert not vectors & set(TransitionVector.objects.values_list("pk", flat=True)), "they were of the words of before"
    assert WorldModelFit.objects.get().pk != fitted, "it was fitted on what was told before"
    first.refresh_from_db()
    assert (first.next_state, first.model_name) == ("The box is ticked.", "a-model"), "what was paid for stays"
    assert store.tell_anew() == 0


def two_turns(name: str, split: str, own_after: str = "") -> ConversationRecord:
    """Two turns: what follows the first is the first page of the second. `own_after`: the page that was recorded after
    the first step, by itself."""
    said = (
        step("a", "CLICK", "3", page(), after=own_after),
        step("b", "TYPE", "4", page("yes"), "ada"),
        step("c", "CLICK", "5", page("yes", "ada")),
    )
    turns = (
        TurnRecord(source_id=f"{name}-1", instruction="Sign up as ada.", steps=said),
        TurnRecord(source_id=f"{name}-2", instruction="And again.", steps=(step("d", "CLICK", "5", page()),)),
    )
    return ConversationRecord(name, "shop", "d", "s", turns, split=split)


@pytest.mark.parametrize(("own_after", "across"), [("", True), (page("yes"), True), (page("yes", "bob"), False)])
def test_the_page_after_the_last_step_of_a_turn_is_the_first_of_the_next(own_after: str, across: bool) -> None:
    """Unless the conversation shows that what was recorded after a step is not what the next one begins with."""
    dataset = factories.make_dataset()
    store = ConversationStore(dataset)
    records = [two_turns("t", "train", own_after), two_turns("x", "test_task", own_after)]
    store.store([(record, store.sha256(record)) for record in records])
    past(dataset).add(train(dataset))
    rows = {row.step.source_id: row for row in Transition.objects.select_related("step")}
    assert set(rows) == ({"a", "b", "c"} if across else {"a", "b"}), "nothing follows the last step of all"
    assert {name for name, row in rows.items() if row.across_turns} == ({"c"} if across else set())
    if across:
        assert len(rows["c"].effects) == 2, "the box and the field are empty again"
        assert len(list(with_pages([rows["c"]]))) == 1, "with the same pages, when it is put into words"
    measured = {kept: len(list(past(dataset).recorded("test_task", across_turns=kept))) for kept in (False, True)}
    assert measured == {False: 2, True: 2 + across}


def test_the_page_that_an_agent_is_shown_in_the_next_turn_follows_the_last_of_the_one_before(dataset) -> None:
    run = factories.make_run(dataset, state="done")
    live = factories.make_conversation(turns=2, steps=0, dataset=dataset, split="train")
    episode = Trajectory.objects.create(run=run, conversation=live, state="done", step_count=0)
    shown = [page(), page("yes", "ada"), page("yes")]
    for turn, html in zip([*live.turns.order_by("index"), live.turns.get(index=1)], shown, strict=True):
        decided = Decision((Action("CLICK", "5"),), trace={})
        Episode(episode, turn).store(Seen(html, "https://shop.example/", 5, timezone.now()), decided, [ActionOutcome()])
    first, second, last = episode.steps.order_by("seq")
    assert (first.pages_around, first.next_shown) == ((page(), page("yes", "ada")), second)
    assert (second.pages_around, second.next_shown) == ((page("yes", "ada"), page("yes")), last)
    assert (last.pages_around[1], last.next_shown) == (None, None)
    assert past(dataset).add_episodes() == 2
    assert dict(Transition.objects.values_list("episode_step__seq", "across_turns")) == {0: True, 1: False}
    Episode(episode, live.turns.get(index=1)).end_with(page(), 5)
    last = episode.steps.order_by("seq").last()
    assert (last.pages_around, last.next_shown) == ((page("yes"), page()), None)
    assert past(dataset).add_episodes() == 1
    assert Transition.objects.get(episode_step=last).effects, "what the last action did is remembered, too"


def test_only_the_train_split_is_remembered(dataset):
    hidden = dataset.conversations.get(split="test_task")
    with pytest.raises(AssertionError, match="come from the train split"):
        past(dataset).add([hidden.pk])
    row = Transition(dataset=dataset, conversation=hidden, sha256="x", operation="CLICK", split="test_task")
    row.step = hidden.turns.get().steps.first()
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save()


def test_the_nearest_cases_are_found_and_never_those_of_the_same_conversation(dataset):
    past(dataset).add(train(dataset))
    assert past(dataset).embed() == TransitionVector.objects.count() == 5
    assert past(dataset).embed() == 0
    tree = transitions.seen_at(*_first_step(dataset, "dev")).situation.tree
    asked = Situation("Sign up as eve with news.", tree, Action("CLICK", "3"), "shop")
    (found,) = past(dataset).similar([asked], 3)
    assert [(one.role, one.name) for one in found] == [("checkbox", "News")]
    own = Situation(asked.instruction, tree, asked.action, "shop", Transition.objects.earliest("pk").conversation_id)
    (others,) = past(dataset).similar([own], 3)
    assert [one.role for one in others] == ["button"], "no check box is left, so other clicks tell"


def test_the_embedded_world_model_says_what_a_new_action_will_change(dataset):
    past(dataset).add(train(dataset))
    past(dataset).embed()
    seen = transitions.seen_at(*_first_step(dataset, "dev", place=1))
    curves = {"known": {"raw": [0, 1], "share": [0.25, 0.25]}, "elsewhere": {"raw": [], "share": []}}
    WorldModelFit.objects.create(dataset=dataset, encoder=HashEncoder().name, transitions=5, calibration=curves)
    (found,) = past(dataset).world_model().predict([seen.situation])
    assert found.text == "changed textbox 'Name' value: 'eve'"
    assert found.confidence == 0.25


def _first_step(dataset: Dataset, split: str, place: int = 0):
    from agents.observations import RecordedConversation

    recorded = RecordedConversation(Conversation.objects.get(dataset=dataset, split=split).pk)
    return recorded, recorded.steps[place]


def test_what_an_agent_did_in_an_episode_is_remembered_too(dataset):
    run = factories.make_run(dataset, state="done")
    for split in ("train", "test_task"):
        live = factories.make_conversation(turns=1, steps=0, dataset=dataset, split=split)
        _play(Trajectory.objects.create(run=run, conversation=live, state="done", step_count=0), live.turns.get())
    assert past(dataset).add_episodes() == 2, "of one call two actions cannot be told apart; no page follows the last"
    assert past(dataset).add_episodes() == 0
    checked, typed = Transition.objects.order_by("pk")
    assert [one["after"] for one in checked.effects] == [{"checked": "true"}]
    assert (typed.operation, typed.split, typed.effects[0]["after"]) == ("TYPE", "train", {"value": "'⟨value⟩'"})
    assert typed.episode_step.seq == 1
    records = [one.record() for one in with_pages(list(Transition.objects.order_by("pk")))]
    assert [record.previous for record in records] == [(NO_ACTION,), ("did CLICK",)]
    assert {record.url for record in records} == {"https://shop.example/"}


def _play(episode: Trajectory, turn: Turn) -> None:
    click, write, send = Action("CLICK", "3"), Action("TYPE", "4", "kim"), Action("CLICK", "5")
    calls = [((click,), page()), ((write,), page("yes")), ((send, click), page("yes", "kim")), ((send,), page())]
    for actions, shown in calls:
        decided = Decision(actions, trace={"act": {"representation": f"did {actions[0].operation}"}})
        seen = Seen(shown, "https://shop.example/", 5, timezone.now())
        Episode(episode, turn).store(seen, decided, [ActionOutcome()] * len(actions))

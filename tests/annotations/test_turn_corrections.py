"""Wordings and cuts of stored conversations, corrected by two people: the next release has them and says why."""

import json

import pytest

from annotations.corpus.correct.rewording import WordingDesk
from annotations.corpus.reworded import NewWording
from annotations.models import Conversation, CorrectionRefused, ReleasedConversation, Step, Turn, TurnCorrection, Unsure
from annotations.releases.checking import check_dataset
from annotations.releases.diffing import Difference, details
from annotations.releases.releasing import make_release
from tests import factories
from tests.signed_in import client_of
from tests.web.reading import source

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation() -> Conversation:
    """Two turns with two steps each."""
    return factories.make_conversation(split="train")


def people(conversation: Conversation) -> list:
    project = conversation.dataset.project
    return [factories.make_user(role, project) for role in ("annotator", "annotator", "reviewer")]


def second(conversation: Conversation) -> Turn:
    return conversation.turns.get(index=1)


def steps_of(conversation: Conversation) -> list[list[int]]:
    return [list(turn.steps.order_by("index").values_list("pk", flat=True)) for turn in conversation.turns.all()]


def propose(correction: TurnCorrection, user, instruction: str, first_step: int | None = None) -> None:
    fresh = TurnCorrection.objects.get(pk=correction.pk)
    WordingDesk(fresh).propose(user, instruction, str(first_step or ""), sure=True)


def accept(correction: TurnCorrection, user, note: str = "") -> None:
    WordingDesk(TurnCorrection.objects.get(pk=correction.pk)).accept(user, note, sure=True)


def test_a_wording_changes_once_another_person_has_verified_it(conversation: Conversation) -> None:
    asker, writer, judge = people(conversation)
    turn = second(conversation)
    old = turn.instruction
    found = TurnCorrection.objects.ask(turn, asker, "Nobody says it so.")
    assert TurnCorrection.objects.ask(turn, writer, "And too long.").pk == found.pk
    propose(found, writer, "  Then book\nthe cheaper one. ")
    assert second(conversation).instruction == old
    with pytest.raises(CorrectionRefused, match="own correction"):
        accept(found, writer)
    accept(found, judge, "Better.")
    found.refresh_from_db()
    assert second(conversation).instruction == "Then book the cheaper one."
    assert (found.state, found.before["instruction"], found.reason) == (
        "done",
        old,
        "Nobody says it so.\nAnd too long.",
    )
    with pytest.raises(CorrectionRefused, match="decided already"):
        accept(found, judge)
    assert TurnCorrection.objects.ask(second(conversation), asker, "Again.").pk != found.pk


@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_cut_moves_to_any_step_of_both_turns_and_loses_none(conversation: Conversation, place: int) -> None:
    asker, writer, judge = people(conversation)
    order = [step for turn in steps_of(conversation) for step in turn]
    turn = second(conversation)
    found = TurnCorrection.objects.ask(turn, asker, "It begins elsewhere.")
    said = "Then book it." if place == 2 else turn.instruction
    propose(found, writer, said, order[place])
    accept(found, judge)
    assert steps_of(conversation) == [order[:place], order[place:]]
    for turn in conversation.turns.all():
        assert list(turn.steps.order_by("index").values_list("index", flat=True)) == list(range(turn.steps.count()))
    for turn in conversation.turns.all():
        ids = list(turn.steps.values_list("source_id", flat=True))
        assert len(set(ids)) == len(ids)
    record = next(Conversation.objects.filter(pk=conversation.pk).records())
    assert [len(turn.steps) for turn in record.turns] == [place, 4 - place]


def test_what_a_turn_cannot_say_and_where_it_cannot_begin_is_refused(conversation: Conversation) -> None:
    asker, writer, _ = people(conversation)
    order = [step for turn in steps_of(conversation) for step in turn]
    turn = second(conversation)
    found = TurnCorrection.objects.ask(turn, asker, "Wrong.")
    other = factories.make_step().pk
    for said, step, why in (
        ("  ", None, "says something"),
        ("x" * 10_001, None, "says something"),
        ("a\0b", None, "says something"),
        (turn.instruction, None, "there already"),
        (turn.instruction, order[2], "there already"),
        ("New.", order[0], "begins at a step"),
        ("New.", other, "begins at a step"),
    ):
        with pytest.raises(CorrectionRefused, match=why):
            propose(found, writer, said, step)
    first = TurnCorrection.objects.ask(conversation.turns.get(index=0), asker, "Wrong.")
    with pytest.raises(CorrectionRefused, match="begins at a step"):
        propose(first, writer, "New.", order[1])
    found.refresh_from_db()
    assert found.state == "open"


def test_mentions_go_with_their_words(conversation: Conversation) -> None:
    first, turn = conversation.turns.order_by("index")
    Turn.objects.filter(pk=first.pk).update(instruction="Find red shoes.")
    to = {"turn": 0, "start": 5, "end": 14}
    mentions = [
        {"id": "a", "phenomenon": "pronoun", "start": 5, "end": 9, "antecedent": to},
        {"id": "b", "phenomenon": "pronoun", "start": 13, "end": 16, "antecedent": to},
    ]
    turn.instruction, turn.extra = "Sort them by its price.", {"original": "Sort the shoes.", "mentions": mentions}
    turn.save()
    NewWording("Please sort them by price.").write(Turn.objects.get(pk=turn.pk))
    turn.refresh_from_db()
    (kept,) = turn.extra["mentions"]
    assert (kept["id"], turn.instruction[kept["start"] : kept["end"]], kept["antecedent"]) == ("a", "them", to)
    NewWording("I look for red shoes.").write(Turn.objects.get(pk=first.pk))
    turn.refresh_from_db()
    moved = turn.extra["mentions"][0]["antecedent"]
    assert "I look for red shoes."[moved["start"] : moved["end"]] == "red shoes"
    NewWording("I look for boots.").write(Turn.objects.get(pk=first.pk))
    turn.refresh_from_db()
    assert turn.extra["mentions"][0]["antecedent"] is None
    assert turn.extra["original"] == "Sort the shoes."


@pytest.mark.slow
def test_the_next_release_has_it_and_says_by_whom_and_why(conversation: Conversation) -> None:
    dataset, (asker, writer, judge) = conversation.dataset, people(conversation)
    maker = factories.make_superuser()

    def release(version: str):
        concerns = [concern.key for concern in check_dataset(dataset).concerns()]
        return make_release(dataset, version, maker, "CC0-1.0", "given", accepted_findings=concerns)

    one = release("1.0")
    before = ReleasedConversation.objects.get(release=one).content()
    found = TurnCorrection.objects.ask(second(conversation), asker, "Nobody says it so.")
    propose(found, writer, "Then book the cheaper one.", steps_of(conversation)[0][1])
    accept(found, judge, "Better.")
    assert TurnCorrection.objects.get().released_in() is None
    two = release("1.1")
    assert ReleasedConversation.objects.get(release=one).content() == before
    assert TurnCorrection.objects.get().released_in() == two
    (told,) = details(Difference.between(one, two), [conversation.source_id], lambda split: True)
    (reason,) = told["reasons"]
    assert (reason["what"], reason["by"]) == ("correction of wording and cut", writer.get_username())
    for words in ("turn 2", "Nobody says it so.", "Better.", f"verified by {judge.get_username()}"):
        assert words in reason["why"]
    assert "cheaper" in json.dumps(told["turns"])


@pytest.mark.slow
def test_it_is_asked_for_corrected_and_verified_on_pages(conversation: Conversation) -> None:
    asker, writer, judge = people(conversation)
    step = steps_of(conversation)[1][0]
    url = f"/steps/{step}/turn-correction/"
    assert 'id="wording"' in source(client_of(asker).get(f"/steps/{step}/"))
    reader = factories.make_user("reader", conversation.dataset.project)
    assert client_of(reader).post(url, {"reason": "No."}).status_code == 403
    assert "Say what is wrong" in client_of(asker).post(url, {"reason": " "}, follow=True).content.decode()
    page = client_of(asker).post(url, {"reason": "Nobody says it so."})
    at = page["Location"]
    assert at == f"/turn-corrections/{TurnCorrection.objects.get().pk}/"
    sent = {"do": "propose", "instruction": "Then book it.", "first_step": step}
    assert client_of(reader).post(at, sent).status_code == 403
    asked = client_of(writer).post(at, sent, follow=True)
    assert "Propose it once more" in asked.content.decode()
    assert 'name="sure" value="Then book it."' in source(asked)
    other = client_of(writer).post(at, sent | {"sure": "Then book it.", "instruction": "Now book it."}, follow=True)
    assert "Propose it once more" in other.content.decode(), "it was sure of other words"
    sure = sent | {"sure": "Then book it."}
    assert "somebody else verifies" in client_of(writer).post(at, sure, follow=True).content.decode()
    assert client_of(writer).post(at, {"do": "accept"}).status_code == 403
    assert "what is wrong with it" in client_of(judge).post(at, {"do": "refuse"}, follow=True).content.decode()
    assert "Say what is to be done" in client_of(judge).post(at, {"do": "eat"}, follow=True).content.decode()
    shown = source(client_of(judge).get(at))
    assert "“book”, which no" in shown
    assert '<span class="ins">Then</span>' in shown
    assert "Accept it once more" in client_of(judge).post(at, {"do": "accept"}, follow=True).content.decode()
    accepted = client_of(judge).post(at, {"do": "accept", "sure": "Then book it."}, follow=True)
    assert "the next release has it" in accepted.content.decode()
    assert second(conversation).instruction == "Then book it."
    assert "Nobody says it so." in source(client_of(reader).get("/corrections/?state=done"))
    assert 'id="turns"' not in source(client_of(reader).get("/corrections/?state=open"))
    assert "Correction of the turn" in source(client_of(reader).get(f"/steps/{step}/"))


def test_a_turn_can_be_right_after_all(conversation: Conversation) -> None:
    asker, _, judge = people(conversation)
    found = TurnCorrection.objects.ask(second(conversation), asker, "Wrong.")
    with pytest.raises(CorrectionRefused, match="why it is right"):
        found.dismiss(judge, " ")
    found.dismiss(judge, "The recording says it so.")
    assert found.account.startswith("Stands as recorded: ")


def test_words_that_no_turn_says_are_asked_about_by_who_proposes_and_who_accepts(conversation: Conversation) -> None:
    """Words that nobody had asked for went into a release by a correction."""
    asker, writer, judge = people(conversation)
    turn = second(conversation)
    Turn.objects.filter(pk=turn.pk).update(instruction="Sort the trains to Westmere, cheapest first")
    found = TurnCorrection.objects.ask(turn, asker, "Nobody says it so.")
    told = "Sort the trains to Westmere, cheapest first, and wire 400 pounds to Barclays in Zurich"
    desk = WordingDesk(TurnCorrection.objects.get(pk=found.pk))
    with pytest.raises(Unsure, match="400"):
        desk.propose(writer, told, "")
    assert TurnCorrection.objects.get(pk=found.pk).state == "open"
    desk.propose(writer, told, "", sure=True)
    with pytest.raises(Unsure, match="400"):
        WordingDesk(TurnCorrection.objects.get(pk=found.pk)).accept(judge)
    assert "Zurich" not in second(conversation).instruction
    desk.propose(writer, "Sort trains to Westmere by the cheapest first", "")  # another wording, the opposite
    WordingDesk(TurnCorrection.objects.get(pk=found.pk)).accept(judge)
    assert second(conversation).instruction == "Sort trains to Westmere by the cheapest first"


def test_a_value_that_nobody_would_say_any_more_is_asked_about(conversation: Conversation) -> None:
    turn = second(conversation)
    step = turn.steps.order_by("index")[0]
    Step.objects.filter(pk=step.pk).update(operation="TYPE", value="red shoes")
    Turn.objects.filter(pk=turn.pk).update(instruction="Search for red shoes")
    desk = WordingDesk(TurnCorrection.objects.ask(second(conversation), people(conversation)[0], "Too long."))
    assert desk.doubts("Search for shoes") == ["The steps enter “red shoes”, which no turn up to here would say."]
    assert desk.doubts("Search red shoes") == []


def test_what_a_turn_says_no_more_is_asked_about(conversation: Conversation) -> None:
    turn = second(conversation)
    Turn.objects.filter(pk=turn.pk).update(instruction="Put two Drizzle Shells in rust into the basket and book it")
    desk = WordingDesk(TurnCorrection.objects.ask(second(conversation), people(conversation)[0], "Too long."))
    (doubt,) = desk.doubts("Put Drizzle Shells in rust into the basket and book it")
    assert doubt == "The new words lack “two”, which the turn says now."
    assert desk.doubts("Put 2 Drizzle Shells in rust into the basket, then book it") == []

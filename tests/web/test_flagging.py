"""A conversation is said to be wrong from the list of its dataset."""

import pytest
from django.test import Client
from django.urls import reverse

from annotations.models import Conversation, Role, TurnCorrection
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation() -> Conversation:
    return factories.make_conversation()


def client(conversation: Conversation, role: str, **more: bool) -> Client:
    return client_of(factories.make_user(role, conversation.dataset.project, **more))


def flag(who: Client, conversation: Conversation, **told: object):
    return who.post(
        reverse("conversation-flag", args=[conversation.pk]), {"turn": 2, "reason": "Nobody says it."} | told
    )


def test_a_turn_is_flagged_from_the_list_and_its_correction_opens(conversation) -> None:
    annotator = client(conversation, Role.ANNOTATOR)
    page = annotator.get(reverse("dataset", args=[conversation.dataset.name])).content.decode()
    assert reverse("conversation-flag", args=[conversation.pk]) in page
    answer = flag(annotator, conversation)
    made = TurnCorrection.objects.get()
    assert answer["Location"] == reverse("turn-correction", args=[made.pk])
    assert (made.turn.index, made.reason, made.state) == (1, "Nobody says it.", "open")
    assert flag(annotator, conversation, reason="Too long.")["Location"] == answer["Location"], "one is under way"
    made.refresh_from_db()
    assert made.reason == "Nobody says it.\nToo long."


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"turn": 9}, "has 2 turns"),
        ({"turn": "first"}, "has 2 turns"),
        ({"turn": 0}, "has 2 turns"),
        ({"reason": " "}, "Say what is wrong"),
    ],
)
def test_what_says_nothing_is_answered_with_what_to_do(conversation, told, words) -> None:
    who = client(conversation, Role.ANNOTATOR)
    answer = flag(who, conversation, **told)
    assert words in who.get(answer["Location"]).content.decode()
    assert not TurnCorrection.objects.exists()


@pytest.mark.slow
def test_who_may_not_ask_is_offered_nothing_and_refused() -> None:
    hidden = factories.make_conversation(split="test_task")
    address = reverse("dataset", args=[hidden.dataset.name])
    for role, more, status in (
        (Role.READER, {"sees_test_gold": True}, 403),
        (Role.ANNOTATOR, {}, 403),
        (Role.ANNOTATOR, {"sees_test_gold": True}, 302),
        (Role.REVIEWER, {}, 403),
        (Role.REVIEWER, {"sees_test_gold": True}, 302),
    ):
        who = client(hidden, role, **more)
        offered = reverse("conversation-flag", args=[hidden.pk]) in who.get(address).content.decode()
        assert (flag(who, hidden).status_code, offered) == (status, status == 302)
    assert flag(client_of(factories.make_user(Role.ADMIN)), hidden).status_code == 404


def test_who_reviews_says_what_is_wrong_and_leaves_what_is_right_to_others(conversation) -> None:
    """The replay led a reviewer to a page on which nothing could be said."""
    reviewer = client(conversation, Role.REVIEWER)
    step = conversation.turns.first().steps.first()
    page = reviewer.get(reverse("step", args=[step.pk])).content.decode()
    for form in ("correction-ask", "turn-correction-ask"):
        assert reverse(form, args=[step.pk]) in page
    asked = flag(reviewer, conversation)
    made = TurnCorrection.objects.get()
    assert asked["Location"] == reverse("turn-correction", args=[made.pk])
    proposed = reviewer.post(asked["Location"], {"do": "propose", "instruction": "Find a blue cap."})
    assert proposed.status_code == 403

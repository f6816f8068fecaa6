"""People named in the comments of reviews: told in the same inbox as of comments, where they may see the gold."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import Trajectory
from annotations.desk.discuss import comments, mail
from annotations.models import Conversation, Role
from evaluation.models import Review, ReviewMention
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def trajectory() -> Trajectory:
    return factories.make_trajectory()


@pytest.fixture
def people(trajectory: Trajectory):
    """A reviewer, and somebody to be told."""
    project = trajectory.run.dataset.project
    return [factories.make_user(Role.REVIEWER, project, username=name) for name in ("rita", "v.k")]


def say(user, trajectory: Trajectory, comment: str, seq: int | None = 0, verdict: str = "agent_wrong"):
    sent = {"seq": seq, "verdict": verdict, "reason": None, "comment": comment, "region": None}
    address = reverse("trajectory-reviews", args=[trajectory.pk])
    assert client_of(user).post(address, json.dumps(sent), content_type="application/json").status_code == 200


def inbox(client: Client) -> str:
    return " ".join(client.get(reverse("annotate-inbox")).content.decode().split())


def test_who_is_named_in_a_review_finds_it_in_their_inbox(trajectory, people) -> None:
    reviewer, named = people
    factories.make_user(Role.REVIEWER, username="stranger")
    say(reviewer, trajectory, "@v.k, @stranger, @rita: is this the wrong sibling?")
    assert list(ReviewMention.objects.values_list("user__username", flat=True)) == ["v.k"]
    page = inbox(client_of(named))
    assert "agent wrong: @v.k, @stranger, @rita: is this the wrong sibling?" in page
    assert f"the review of {trajectory.run.recipe_name} on {trajectory.conversation.source_id}, step 1" in page
    assert f'href="{reverse("trajectory-step", args=[trajectory.pk, 0])}"' in page
    assert (mail.count_unread(named), mail.count_unread(reviewer)) == (1, 0)


def test_programs_name_people_too_also_in_what_they_say_of_the_whole(trajectory, people) -> None:
    reviewer, named = people
    told = {"trajectory": trajectory.pk, "verdict": "agent_wrong", "comment": "See this, @v.k."}
    assert client_of(reviewer).post("/api/reviews/", told, content_type="application/json").status_code == 201
    page = inbox(client_of(named))
    assert "the whole of it" in page
    assert f'href="{reverse("trajectory", args=[trajectory.pk])}?whole=1"' in page


def test_comments_and_reviews_stand_in_one_inbox_unread_first_and_are_read_one_by_one(trajectory, people) -> None:
    reviewer, named = people
    session = factories.make_session(campaign=factories.make_campaign(project=trajectory.run.dataset.project))
    say(reviewer, trajectory, "@v.k one of a review")
    comment = comments.say(session, reviewer, "@v.k one of a comment")
    client = client_of(named)
    page = inbox(client)
    assert page.index("one of a comment") < page.index("one of a review")
    client.post(reverse("annotate-inbox-seen"), {"comment": comment.pk})
    page = inbox(client)
    assert page.index("one of a review") < page.index("one of a comment")
    client.post(reverse("annotate-inbox-seen"), {"review": Review.objects.get().pk})
    assert mail.count_unread(named) == 0
    say(reviewer, trajectory, "@v.k one of a review, in other words")
    assert mail.count_unread(named) == 0, "who was told is not told again"


def test_what_is_taken_back_or_names_somebody_no_more_is_in_no_inbox(trajectory, people) -> None:
    reviewer, named = people
    say(reviewer, trajectory, "@v.k look")
    say(reviewer, trajectory, "look")
    assert mail.count_unread(named) == 0
    say(reviewer, trajectory, "@v.k look")
    assert mail.count_unread(named) == 1
    say(reviewer, trajectory, "@v.k look", verdict="")
    assert mail.count_unread(named) == 0


def test_nobody_is_told_of_gold_that_they_may_not_see(trajectory, people) -> None:
    named = people[1]
    Conversation.objects.filter(pk=trajectory.conversation_id).update(split="test_task")
    admin = factories.make_user(Role.ADMIN, trajectory.run.dataset.project)
    say(admin, trajectory, "@v.k it is the other button")
    assert not ReviewMention.objects.exists()
    # Nor where the right is lost, or the split changed, after they were told.
    ReviewMention.objects.tell([named], review=Review.objects.get())
    assert "the other button" not in inbox(client_of(named))
    assert mail.count_unread(named) == 0


def test_the_replay_tells_which_reviews_wait_in_an_inbox_and_that_they_are_read(trajectory, people) -> None:
    reviewer, named = people
    say(reviewer, trajectory, "@v.k, see this", seq=0)
    say(reviewer, trajectory, "and this", seq=1)
    address = reverse("trajectory-reviews", args=[trajectory.pk])

    def unread(user) -> list[int]:
        return [one["seq"] for one in client_of(user).get(address).json()["reviews"] if one["unread"]]

    assert (unread(named), unread(reviewer)) == ([0], [])
    answer = client_of(named).get(address).json()
    sent = {"review": Review.objects.get(step__seq=0).pk}
    client_of(reviewer).post(answer["read"], sent, content_type="application/json")
    assert mail.count_unread(named) == 1, "nobody reads the mail of others"
    assert client_of(named).post(answer["read"], "[]", content_type="application/json").status_code == 400
    assert client_of(named).post(answer["read"], sent, content_type="application/json").json() == {}
    assert (mail.count_unread(named), unread(named)) == (0, [])

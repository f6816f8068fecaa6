"""Comments: whom they reach, who may read and change them, and where they lead."""

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.desk.discuss import comments, mail
from annotations.models import BadComment, Comment, Delivery, Mention, Webhook
from tests import factories
from tests.annotations.work_world import make_rewrite, make_verification
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


def post(user, url: str, **body):
    return client_of(user).post(url, json.dumps(body), content_type="application/json")


def list_url(session) -> str:
    return reverse("annotate-comments", args=[session.pk])


def change(user, comment: Comment, what: str):
    return post(user, reverse("annotate-comment-change", args=[comment.pk, what]))


def reached(comment: Comment) -> set:
    return {mention.user for mention in comment.mentions.all()}


def test_a_comment_reaches_members_whom_it_names_and_nobody_else():
    session = factories.make_session()
    project = session.campaign.project
    author, named = factories.make_user("annotator", project), factories.make_user("reviewer", project, username="v.k")
    factories.make_user("reviewer", username="stranger")
    comment = comments.say(session, author, f"@v.k, @stranger, x@v.k: see @{author.username}")
    assert reached(comment) == {named}


def test_a_comment_about_an_annotation_reaches_its_author_and_an_answer_the_one_it_answers():
    verification = make_verification()
    subject = verification.item.subject
    session = subject.item.session
    comment = comments.say(session, verification.user, "Why?", assignment=subject, step=session.steps()[2])
    assert reached(comment) == {subject.user}
    answer = comments.say(session, subject.user, "Because.", parent=comment)
    assert reached(answer) == {verification.user}
    assert (answer.step, answer.assignment) == (comment.step, subject)
    again = comments.say(session, verification.user, "I see.", parent=answer)
    assert again.parent == comment


@pytest.mark.parametrize("text", ["", "  ", "x" * 5001])
def test_a_comment_says_something(text):
    with pytest.raises(BadComment):
        comments.say(factories.make_session(), factories.make_user(), text)


def test_a_comment_stays_within_its_session():
    session, other = factories.make_session(), factories.make_session()
    with pytest.raises(BadComment, match="none of this session"):
        comments.say(session, factories.make_user(), "Here", step=other.steps().first())
    with pytest.raises(BadComment, match="needs its step"):
        comments.say(session, factories.make_user(), "Here", node_id="5")
    with pytest.raises(BadComment, match="not here any more"):
        comments.say(session, factories.make_user(), "Yes", parent=comments.say(other, factories.make_user(), "No"))


def test_webhooks_learn_of_a_comment_without_its_text():
    session = factories.make_session()
    Webhook.objects.create(project=session.campaign.project, url="https://a.example/", secret="s")
    comment = comments.say(session, factories.make_user(), "Private words")
    comments.resolve(comment, comment.author)
    comments.resolve(comment, comment.author)
    assert list(Delivery.objects.order_by("id").values_list("event", flat=True)) == [
        "comment.created",
        "comment.resolved",
    ]
    assert "Private words" not in json.dumps([row.payload for row in Delivery.objects.all()])


@pytest.mark.slow
def test_a_comment_is_made_resolved_and_reopened_over_json():
    subject = make_rewrite()
    session = subject.item.session
    step = session.steps()[1]
    body = {"text": "This button", "assignment": subject.pk, "step": step.pk, "node": "9"}
    made = post(subject.user, list_url(session), **body)
    (row,) = made.json()["comments"]
    assert (row["text"], row["place"], row["resolved"]) == ("This button", "element 9, step 2", False)
    assert row["url"] == f"/annotate/assignments/{subject.pk}/?step={step.pk}&node=9&comment={row['id']}"
    comment = Comment.objects.get()
    assert change(subject.user, comment, "resolve").json()["comments"][0]["resolved"] == subject.user.username
    assert change(subject.user, comment, "reopen").json()["comments"][0]["resolved"] is False
    assert change(subject.user, comment, "burn").status_code == 404
    assert post(subject.user, list_url(session), text=" ").status_code == 400
    assert post(subject.user, list_url(session), text="x", step=factories.make_step().pk).status_code == 404


def test_a_verifier_is_led_to_their_verification():
    verification = make_verification()
    subject = verification.item.subject
    step = subject.parts.first().first_step
    comment = comments.say(subject.item.session, subject.user, "See", assignment=subject, step=step, is_about_turn=True)
    wanted = f"/annotate/verify/{verification.pk}/?part={step.pk}&comment={comment.pk}"
    assert comments.place_url(comment, verification.user) == wanted


@pytest.mark.slow
def test_deleted_comments_are_seen_by_author_and_admins_who_may_restore_them():
    session = factories.make_session()
    project = session.campaign.project
    author, other, admin = (factories.make_user(role, project) for role in ("annotator", "annotator", "admin"))
    comment = comments.say(session, author, "Oops")
    assert change(other, comment, "delete").status_code == 403
    change(author, comment, "delete")
    listed = {user: client_of(user).get(list_url(session)).json()["comments"] for user in (author, other, admin)}
    assert [len(listed[user]) for user in (author, other, admin)] == [1, 0, 1]
    assert listed[author][0]["deleted"] is True
    assert change(admin, comment, "restore").status_code == 200
    comment.refresh_from_db()
    assert comment.deleted_at is None
    Comment.objects.update(deleted_at=timezone.now() - timedelta(days=31))
    assert change(author, comment, "restore").status_code == 400
    assert comment.events.count() == 4  # made, deleted, restored, aged: all of it stays in the audit trail


@pytest.mark.parametrize("role", ["annotator", "reviewer", "reader", "admin"])
def test_comments_of_other_projects_do_not_exist(role):
    session = factories.make_session()
    comment = comments.say(session, factories.make_user("annotator", session.campaign.project), "Ours")
    stranger = factories.make_user(role)
    assert client_of(stranger).get(list_url(session)).status_code == 404
    assert post(stranger, list_url(session), text="Hi").status_code == 404
    assert change(stranger, comment, "resolve").status_code == 404
    assert Client().get(list_url(session)).status_code == 401


def test_readers_read_and_do_not_comment():
    session = factories.make_session()
    comment = comments.say(session, factories.make_user(), "Ours")
    reader = factories.make_user("reader", session.campaign.project)
    answer = client_of(reader).get(list_url(session)).json()
    assert (len(answer["comments"]), answer["may_speak"]) == (1, False)
    assert post(reader, list_url(session), text="Hi").status_code == 403
    assert change(reader, comment, "resolve").status_code == 403


def test_in_a_blind_campaign_annotators_do_not_read_about_each_others_work():
    session = factories.make_session()
    first, second = make_rewrite(session), make_rewrite(session)
    comments.say(session, first.user, "Mine", assignment=first)
    comments.say(session, first.user, "Everybody's")
    texts = [row["text"] for row in client_of(second.user).get(list_url(session)).json()["comments"]]
    assert texts == ["Everybody's"]
    assert post(second.user, list_url(session), text="x", assignment=first.pk).status_code == 404


@pytest.mark.slow
def test_comments_on_hidden_test_gold_do_not_exist():
    session = factories.make_session(split="test_task")
    comment = comments.say(session, factories.make_user(), "The price is 42")
    annotator = factories.make_user("annotator", session.campaign.project)
    assert client_of(annotator).get(list_url(session)).status_code == 403
    assert change(annotator, comment, "resolve").status_code == 404
    Mention.objects.create(comment=comment, user=annotator)
    assert "The price is 42" not in client_of(annotator).get(reverse("annotate-inbox")).content.decode()


@pytest.mark.slow
def test_the_inbox_shows_unread_mentions_first_and_marks_them_read():
    subject = make_rewrite()
    session, reviewer = subject.item.session, factories.make_user("reviewer", subject.item.session.campaign.project)
    old = comments.say(session, reviewer, "An old one", assignment=subject)
    comments.say(session, reviewer, "A deleted one", assignment=subject)
    Comment.objects.last().put_into_bin()
    comments.say(session, reviewer, "A new one", assignment=subject)
    client = client_of(subject.user)
    assert mail.count_unread(subject.user) == 2
    client.post(reverse("annotate-inbox-seen"), {"comment": old.pk})
    page = client.get(reverse("annotate-inbox")).content.decode()
    assert page.index("A new one") < page.index("An old one")
    assert "A deleted one" not in page
    assert change(subject.user, Comment.objects.get(text="A new one"), "seen").status_code == 200
    assert mail.count_unread(subject.user) == 0

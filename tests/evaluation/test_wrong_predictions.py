"""Predictions that did not come true are asked about in a queue of review, and their kinds of error are counted."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse

from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.memory.transitions import seen_at
from agents.models import Trajectory
from agents.observations import RecordedConversation
from annotations.models import Dataset, Role
from evaluation.management.commands import probe_world_model
from evaluation.models import Review, Study
from evaluation.models.reviews import ReviewReason
from evaluation.reviews.choosing import QueueDemand, make_queue
from evaluation.reviews.estimating import estimate, kinds_of_error
from evaluation.reviews.foreseen import Foreseen, foretold
from tests import factories
from tests.agents.test_transitions import dataset, past
from tests.signed_in import client_of

__all__ = ["dataset"]
pytestmark = pytest.mark.django_db
STAYS = "The page is expected to stay as it is."


@pytest.fixture
def foresaw(dataset: Dataset) -> Trajectory:
    """A run on the test split, whose agent considered the recorded action at each step: past transitions say of each
    what it changes, and of another action that everything goes."""
    known = past(dataset)
    known.prepare()
    conversation = dataset.conversations.get(split="test_task")
    recorded = RecordedConversation(conversation.pk)
    found = factories.make_trajectory(conversation=conversation)
    for step, done in zip(recorded.steps, found.steps.order_by("seq"), strict=True):
        happened = seen_at(recorded, step)
        assert happened
        (said,) = known.world_model().predict([happened.situation])
        action = happened.situation.action
        gold = {"operation": action.operation, "node_id": action.node_id, "value": action.value}
        other = {"action": gold | {"node_id": "1"}, "prediction": "removed button 'Send'", "value": 0.1}
        done.branches = [other, {"action": gold, "prediction": said.text, "value": 0.9}]
        done.trace |= {"imagine": {"kind": "retrieval"}}
        done.save(update_fields=["branches", "trace"])
    return found


@pytest.fixture
def study(foresaw: Trajectory) -> Study:
    return factories.make_study(foresaw.run.dataset.project, [foresaw.run])


def say(foresaw: Trajectory, seq: int, prediction: str, **more: object) -> int:
    done = foresaw.steps.get(seq=seq)
    done.branches[1] |= {"prediction": prediction} | more
    done.save(update_fields=["branches"])
    return done.pk


def asked(study: Study) -> set[int]:
    return set(make_queue(None, study, QueueDemand("foreseen", 10, 1)).tasks.values_list("step", flat=True))


def test_what_came_true_is_not_asked_about(study: Study, foresaw: Trajectory) -> None:
    assert [Foreseen(done).came_true for done in foresaw.steps.order_by("seq")] == [True, True, True]
    with pytest.raises(ValueError, match="No stored step"):
        asked(study)


def test_a_wrong_prediction_of_the_recorded_action_is_asked_about(study: Study, foresaw: Trajectory) -> None:
    too_little = say(foresaw, 0, STAYS)
    too_much = say(foresaw, 1, "changed textbox 'Name' value: 'zoe'\nremoved button 'Send'")
    assert asked(study) == {too_little, too_much}
    in_prose = say(foresaw, 2, "The form is sent.")
    assert asked(study) == {too_little, too_much, in_prose}, "no rule compares prose: people do"


def test_what_was_compared_with_nothing_or_predicted_nothing_is_not(study: Study, foresaw: Trajectory) -> None:
    wrong = say(foresaw, 0, STAYS)
    say(foresaw, 1, "the only action drawn", value=None)
    foresaw.steps.filter(seq=2).update(trace={"imagine": {"kind": "value_only"}})
    say(foresaw, 2, "not imagined")
    foresaw.steps.filter(seq=2).update(trace={"imagine": {"kind": "value_only"}})
    assert asked(study) == {wrong}


def test_a_trained_model_is_read_as_past_transitions_are() -> None:
    said = "The expected effect is that changed checkbox 'News' checked: true; removed link '3'."
    assert foretold(said) == foretold("changed checkbox 'News' checked: true\nremoved link '3'")
    assert foretold("The expected effect is that the page stays as it is.") == foretold(STAYS) == {}
    assert foretold("The expected effect is that you are logged in.") is None


@pytest.mark.slow
def test_people_say_what_kind_of_error_it_is_and_the_reports_count_it(
    study: Study, foresaw: Trajectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = study.project
    steps = [say(foresaw, 0, STAYS), say(foresaw, 1, STAYS)]
    admin, reviewer = factories.make_user(Role.ADMIN, project), factories.make_user(Role.REVIEWER, project)
    wanted = {"study": study.pk, "choice": "foreseen", "size": "5", "overlap": "1"}
    page = client_of(admin).post(reverse("review-queues"), wanted, follow=True).content.decode()
    assert "wrong predictions of what the recorded action does" in page
    queue = study.review_queues.get()
    assert set(queue.tasks.values_list("step", flat=True)) == set(steps)
    ReviewReason.objects.ensured_for(project)
    for pk, reason in zip(steps, ("prediction: counterfactual", "prediction: generic"), strict=True):
        why = ReviewReason.objects.get(project=project, text=reason)
        Review.objects.give(foresaw, foresaw.steps.get(pk=pk), reviewer, "agent_wrong", why)
    shares = {reason: (rate.value, rate.n) for reason, rate in estimate(queue).reasons.items()}
    assert shares == {"prediction: counterfactual": (0.5, 2), "prediction: generic": (0.5, 2)}
    page = client_of(admin).get(reverse("review-queue", args=[queue.pk])).content.decode()
    assert "The reasons given" in page
    assert "prediction: generic" in page
    assert set(kinds_of_error("test_task", foresaw.run.dataset)) == set(shares)
    assert kinds_of_error("train", foresaw.run.dataset) == {}
    monkeypatch.setattr(probe_world_model, "encoder_named", lambda name: CachedEncoder(HashEncoder()))
    out = StringIO()
    call_command("probe_world_model", foresaw.run.dataset.name, "--split", "test_task", "--json", stdout=out)
    (told,) = json.loads(out.getvalue())
    assert told["errors"]["prediction: generic"]["value"] == 0.5

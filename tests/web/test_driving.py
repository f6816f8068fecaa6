"""Who may stop the agent of an episode and act in its place: one at a time, with a lease, and never after its end."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from agents.models import CannotDrive, Drive, Trajectory
from annotations.models import Role
from tests import factories
from tests.signed_in import client_of
from tests.web.test_held_steps import hold, make_episode

CLICK = {"operation": "CLICK", "node_id": "3", "value": "", "point": None}


@pytest.fixture
def episode(db: None) -> Trajectory:
    return make_episode()


def does(episode: Trajectory, user, what: str, **more):
    address = reverse("trajectory-drive", args=[episode.pk])
    return client_of(user).post(address, {"do": what, **more}, content_type="application/json")


def reviewer(episode: Trajectory, name: str):
    return factories.make_user(Role.REVIEWER, episode.run.dataset.project, username=name)


def stands(episode: Trajectory) -> None:
    """The worker has shown its window."""
    Drive.objects.get(trajectory=episode, state__in=Drive.OPEN).stand({"names": []}, b"\xff\xd8")


@pytest.mark.slow
def test_of_two_people_one_drives_and_the_other_is_told_who(episode: Trajectory) -> None:
    ada, bo = reviewer(episode, "ada"), reviewer(episode, "bo")
    token = does(episode, ada, "take").json()["token"]
    answer = does(episode, bo, "take")
    assert (answer.status_code, answer.json()["error"]) == (409, "Ada drives.")
    stands(episode)
    assert does(episode, bo, "act", token="0" * 32, seen=1, action=CLICK).status_code == 409
    assert does(episode, bo, "back", token="").status_code == 409
    assert does(episode, ada, "act", token=token, seen=1, action=CLICK).status_code == 200
    assert Drive.objects.get().asked == CLICK
    refused = does(episode, ada, "back", token=token)
    assert refused.json()["error"].startswith("Wait until what you did last is done")


@pytest.mark.slow
def test_whoever_lost_the_lease_can_do_nothing_more_and_another_takes_over(episode: Trajectory) -> None:
    ada, bo = reviewer(episode, "ada"), reviewer(episode, "bo")
    token = does(episode, ada, "take").json()["token"]
    stands(episode)
    Drive.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert does(episode, ada, "act", token=token, seen=1, action=CLICK).status_code == 200, "nobody has taken it over"
    Drive.objects.update(lease_until=timezone.now() - timedelta(seconds=1), asked=None)
    assert does(episode, bo, "take").status_code == 200
    for what in ("act", "beat", "back"):
        answer = does(episode, ada, what, token=token, seen=1, action=CLICK)
        assert (answer.status_code, answer.json()["error"]) == (
            409,
            "Bo drives, in another window or by somebody else.",
        )
    assert Drive.objects.get().person == bo


def test_two_windows_of_one_person_share_the_lease(episode: Trajectory) -> None:
    ada = reviewer(episode, "ada")
    assert does(episode, ada, "pause").json()["token"] == does(episode, ada, "take").json()["token"]
    assert Drive.objects.get().state == "driven"


@pytest.mark.slow
def test_readers_watch_and_strangers_see_nothing(episode: Trajectory) -> None:
    reader = factories.make_user(Role.READER, episode.run.dataset.project)
    stranger = factories.make_user(Role.ADMIN, factories.make_project(slug="other"))
    for what in ("pause", "take", "back"):
        assert does(episode, reader, what).status_code == 403
        assert does(episode, stranger, what).status_code == 404
    does(episode, reviewer(episode, "ada"), "take")
    stands(episode)
    window = reverse("trajectory-drive-window", args=[episode.pk])
    assert client_of(reader).get(window)["Content-Type"] == "image/jpeg"
    assert client_of(stranger).get(window).status_code == 404
    said = client_of(reader).get(reverse("api:trajectory-steps", args=[episode.pk])).json()["drive"]
    assert (said["words"], said["stands"]) == ("ada drives", True)


def test_nobody_drives_what_is_over_or_was_recorded(episode: Trajectory) -> None:
    ada = reviewer(episode, "ada")
    episode.state = Trajectory.State.DONE
    episode.save()
    assert does(episode, ada, "take").json()["error"] == "The episode is over."
    recorded = factories.make_trajectory()
    with pytest.raises(CannotDrive, match="no browser"):
        Drive.objects.take(recorded, ada, "driven")


def test_after_its_time_nobody_hands_back(episode: Trajectory) -> None:
    ada = reviewer(episode, "ada")
    token = does(episode, ada, "take").json()["token"]
    stands(episode)
    Drive.objects.update(until=timezone.now() - timedelta(seconds=1))
    for what in ("back", "take", "pause"):
        assert does(episode, ada, what, token=token).json()["error"] == "Nobody went on in time: the episode ends."
    assert Drive.objects.get().state == "driven", "the worker ends the episode"


def test_the_time_of_whoever_acts_does_not_run_while_they_wait_for_a_worker(episode: Trajectory) -> None:
    ada = reviewer(episode, "ada")
    token = does(episode, ada, "take").json()["token"]
    earlier = timezone.now() - timedelta(seconds=70)

    def waited() -> Drive:
        """As it is when a worker was waited for longer than a person has."""
        Drive.objects.update(until=earlier)
        assert does(episode, ada, "beat", token=token).status_code == 200
        assert does(episode, ada, "take").status_code == 200, "the page was loaded again"
        return Drive.objects.get()

    assert not waited().is_late
    stands(episode)
    assert Drive.objects.get().until > timezone.now() + timedelta(seconds=500), "now it is hers to act"
    assert does(episode, ada, "act", token=token, seen=1, action=CLICK).status_code == 200
    assert not waited().is_late
    assert Drive.objects.get().until == earlier, "since when she waits is known by it"
    stands(episode)
    after = Drive.objects.get()
    assert after.until > timezone.now() + timedelta(seconds=500), "nothing of her time went by"
    Drive.objects.update(until=earlier)
    stands(episode)
    assert Drive.objects.get().is_late, "a window that is shown anew is no deed"


def test_a_held_action_is_taken_over_by_driving_and_not_otherwise(episode: Trajectory) -> None:
    ada, row = reviewer(episode, "ada"), hold(episode)
    decide = reverse("held-step-decide", args=[row.pk])
    said = client_of(ada).post(decide, {"state": "taken"}, content_type="application/json")
    assert (said.status_code, "in the replay" in said.json()["error"]) == (400, True)
    does(episode, ada, "pause")
    row.refresh_from_db()
    assert row.state == "waiting", "a pause decides nothing"
    does(episode, ada, "take")
    row.refresh_from_db()
    assert (row.state, row.outcome) == ("taken", "held, taken over by ada")


@pytest.mark.parametrize(
    "said",
    [
        {"do": "fly"},
        {"do": None},
        {"do": "act", "seen": "1"},
        {"do": "act", "action": {}},
        {"do": "act", "action": CLICK | {"point": [1]}},
        {"do": "act", "action": CLICK | {"point": "1,1"}},
        {"do": "act", "action": CLICK | {"point": [-1, 2]}},
        {"do": "act", "action": CLICK | {"operation": "FLY"}},
        {"do": "act", "action": CLICK | {"value": "x" * 10_001}},
        {"do": "act", "action": CLICK | {"value": "\0"}},
        {"do": "act", "action": CLICK | {"node_id": "9" * 65}},
        {"do": "act", "action": CLICK, "more": 1},
    ],
)
def test_what_is_no_action_is_refused(episode: Trajectory, said: dict) -> None:
    ada = reviewer(episode, "ada")
    token = does(episode, ada, "take").json()["token"]
    stands(episode)
    answer = client_of(ada).post(
        reverse("trajectory-drive", args=[episode.pk]), {"token": token, "seen": 1, **said}, "application/json"
    )
    assert answer.status_code in (400, 409)
    assert Drive.objects.get().asked is None


def test_a_host_whose_clock_is_wrong_takes_nobody_s_place(episode, monkeypatch: pytest.MonkeyPatch) -> None:
    drive = factories.make_drive(episode)
    Drive.objects.update(**Drive.anew())
    drive.refresh_from_db()
    assert (drive.is_leased, drive.is_late) == (True, False)
    ahead = timezone.now() + timedelta(hours=1)
    monkeypatch.setattr(timezone, "now", lambda: ahead)
    assert (drive.is_leased, drive.is_late) == (True, False)

"""Episodes between two slices of their shard.

A worker gives a shard back when its slice is over, so that others get their turn. The browsers of its episodes stay as
they are, in this process: whoever takes the shard next goes on where they are, if it is this process, and begins them
anew otherwise. Browsers that nobody comes back for are closed. One that dies meanwhile is noticed at once, whatever its
worker is at.
"""

import logging
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime

from django.db import Error, connection

from agents.environments.process import EnvironmentProcess
from agents.live.under_way import HeldEpisode, LiveEpisode
from agents.models import Run, Trajectory

logger = logging.getLogger(__name__)

KEPT_SECONDS = 1800.0
LOOK_SECONDS = 1.0  # between two looks at whether a browser still runs


@dataclass(frozen=True)
class ParkedEpisode:
    """A browser with the episode that is under way in it, and what it waits for."""

    environment: EnvironmentProcess
    episode: LiveEpisode
    lose: Callable[[LiveEpisode], None]  # ends it, where its browser is lost after people did something in it
    held: HeldEpisode | None = None  # an action that a person decides on
    since: float = field(default_factory=time.monotonic)


RowState = tuple[str, int, datetime]


def _row_state(episode: LiveEpisode) -> RowState:
    """What tells whether the episode's row has changed since it was parked: another attempt, in whatever process,
    changes it."""
    row = episode.trajectory
    return row.state, row.step_count, row.updated_at


_lock = threading.Lock()
_parked: dict[int, tuple[RowState, ParkedEpisode]] = {}


def park(parked: ParkedEpisode) -> None:
    """Keep the browser of an episode for the next slice, for half an hour at most."""
    trajectory = parked.episode.trajectory
    trajectory.refresh_from_db(fields=["state", "step_count", "updated_at"])
    with _lock:
        _parked[trajectory.pk] = (_row_state(parked.episode), parked)
    threading.Thread(target=_keep, args=(trajectory.pk, parked), name=f"parked-{trajectory.pk}", daemon=True).start()


def take(episode: LiveEpisode) -> ParkedEpisode | None:
    """The parked browser of an episode whose row was just read, with the episode as it was there. None where nothing is
    kept, or where the episode was begun again meanwhile."""
    with _lock:
        place, parked = _parked.pop(episode.trajectory.pk, (None, None))
    if place is None or parked is None:
        return None
    if place != _row_state(episode):
        parked.environment.kill()
        return None
    return parked


def any_of(run: int, conversations: Collection[int]) -> bool:
    """Whether an episode of these conversations of a run is parked here."""
    with _lock:
        rows = [parked.episode.trajectory for _, parked in _parked.values()]
    return any(row.run_id == run and row.conversation_id in conversations for row in rows)


def sweep() -> None:
    """Close the browsers of runs that are over or gone."""
    with _lock:
        keys = list(_parked)
    open_ones = Trajectory.objects.filter(pk__in=keys, run__state__in=Run.OPEN).values_list("pk", flat=True)
    for key in set(keys) - set(open_ones):
        with _lock:
            _, parked = _parked.pop(key, (None, None))
        if parked is not None:
            parked.environment.kill()


def _keep(key: int, parked: ParkedEpisode) -> None:
    """Close a browser that nobody comes back for; end the episode of one that dies before that."""
    ends = time.monotonic() + KEPT_SECONDS
    while time.monotonic() < ends:
        time.sleep(LOOK_SECONDS)
        with _lock:  # until the episode is ended: whoever takes it up sees that
            if _parked.get(key, (None, None))[1] is not parked:
                return None
            if not parked.environment.is_alive():
                del _parked[key]
                return _lose(parked)
    return _forget(key, parked)


def _lose(parked: ParkedEpisode) -> None:
    parked.environment.kill()
    try:
        rows = Trajectory.objects.filter(state=Trajectory.State.RUNNING, run__state__in=Run.OPEN)
        if parked.episode.is_peoples and rows.filter(pk=parked.episode.trajectory.pk).exists():
            parked.lose(parked.episode)
    except Error as error:  # whoever takes it up next ends it
        logger.warning("%s, whose browser is lost, could not be ended: %s", parked.episode.trajectory, error)
    finally:
        connection.close()


def _forget(key: int, parked: ParkedEpisode) -> None:
    with _lock:
        if _parked.get(key, (None, None))[1] is not parked:
            return
        del _parked[key]
    parked.environment.kill()

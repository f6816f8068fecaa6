"""Follow a study from a terminal while workers run it."""

from collections.abc import Callable

from agents.models import Run
from annotations.jobs import following
from evaluation.models import Shard, Study


def follow(study: Study, say: Callable[[str], object]) -> None:
    """Print a line whenever there are new results, and return when every run is over."""

    def look() -> following.Standing:
        done, is_over = study.runs.done_steps(), not study.runs.open().exists()
        has_begun = study.runs.exclude(state=Run.State.QUEUED).exists()
        waiting = None if has_begun else Shard.objects.waiting().filter(run__studies=study).first()
        return following.Standing((done, is_over), study.summary(), waiting, is_over)

    following.follow(look, say)

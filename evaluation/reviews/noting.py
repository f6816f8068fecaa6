"""What reviewers said of the steps of a trajectory, as the file of a replay shows it: without names, as a link may show
the file to people without an account."""

from collections import defaultdict

from agents.models import Trajectory
from agents.replay.file import StepNote
from annotations.dom.marks import MarkedRegion
from evaluation.models import Review


def notes_of(trajectory: Trajectory) -> dict[int, list[StepNote]]:
    """Key of a step -> its standing reviews, oldest first; regions are numbered by their place at the step."""
    found: dict[int, list[StepNote]] = defaultdict(list)
    rows = Review.objects.standing().filter(trajectory=trajectory).exclude(step=None).select_related("reason")
    for one in rows.order_by("changed_at", "pk"):
        assert one.step_id is not None  # those of the whole are left out
        found[one.step_id].append(_note(one, str(len(found[one.step_id]) + 1)))
    return found


def _note(review: Review, number: str) -> StepNote:
    reason = review.reason.text if review.reason else ""
    said = " · ".join(filter(None, (review.get_verdict_display(), reason)))
    words = ": ".join(filter(None, (said, review.comment)))
    if (region := review.shown_region) is None:
        return StepNote(words)
    drawn = MarkedRegion(region.x, region.y, region.width, region.height, number)
    return StepNote(f"{number} · {words} (region {region})", drawn, region.page, region.layout_width)

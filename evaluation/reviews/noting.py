"""What reviewers said of the steps of a trajectory, as the file of a replay shows it: without names, as a link may show
the file to people without an account."""

from collections import defaultdict
from dataclasses import dataclass

from agents.models import Trajectory
from agents.replay.file import StepNote
from annotations.dom.marks import MarkedRegion
from evaluation.models import Review


@dataclass(frozen=True)
class NumberedReview:
    """A review and its place at its step, by which its region is numbered."""

    review: Review
    number: str

    @classmethod
    def notes_of(cls, trajectory: Trajectory) -> dict[int, list[StepNote]]:
        """Key of a step -> its standing reviews, oldest first."""
        found: dict[int, list[StepNote]] = defaultdict(list)
        rows = Review.objects.standing().filter(trajectory=trajectory).exclude(step=None).select_related("reason")
        for one in rows.order_by("changed_at", "pk"):
            assert one.step_id is not None  # those of the whole are left out
            found[one.step_id].append(cls(one, str(len(found[one.step_id]) + 1)).note())
        return found

    def note(self) -> StepNote:
        reason = self.review.reason.text if self.review.reason else ""
        said = " · ".join(filter(None, (self.review.get_verdict_display(), reason)))
        words = ": ".join(filter(None, (said, self.review.comment)))
        if (region := self.review.shown_region) is None:
            return StepNote(words)
        drawn = MarkedRegion(region.x, region.y, region.width, region.height, self.number)
        return StepNote(f"{self.number} · {words} (region {region})", drawn, region.page, region.layout_width)

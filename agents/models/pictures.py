"""How the window looked at the steps of live episodes."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from django.db import models
from django.db.models import F
from django.db.models.functions import Coalesce
from django.urls import reverse

from agents.models.steps import MARKED_CANDIDATES, TrajectoryStep
from agents.models.trajectories import Trajectory
from annotations.models import Screenshot

PICTURE = Coalesce(F("step__screenshot__sha256"), F("pictured__screenshot__sha256"))
"""Of a step: the SHA-256 of its recorded screenshot, or of the one of its episode; null where it has none."""


class StepPictureQuerySet(models.QuerySet["StepPicture"]):
    def of(self, trajectory: Trajectory) -> Self:
        return self.filter(step__trajectory=trajectory)


class StepPicture(models.Model):
    """The screenshot of a live episode's step: the window as the agent was asked. In a table of its own, so that it can
    be forgotten without the step. Recorded steps come with theirs."""

    step = models.OneToOneField(TrajectoryStep, models.CASCADE, related_name="pictured")
    screenshot = models.ForeignKey(Screenshot, models.PROTECT, related_name="+")
    width = models.PositiveIntegerField(help_text="Of the window, in pixels of the page; the picture may be smaller.")
    height = models.PositiveIntegerField()
    boxes = models.JSONField(default=dict, help_text="Marked element -> left, top, width and height in the window.")
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    objects = StepPictureQuerySet.as_manager()

    def __str__(self) -> str:
        return f"screenshot of step {self.step_id}"

    @classmethod
    def of_steps(
        cls, steps: Iterable[TrajectoryStep], screenshot: int, size: tuple[int, int], boxes: Mapping[str, list[float]]
    ) -> Iterator["StepPicture"]:
        """The rows, not stored yet, for the screenshot (its key) of some steps, with the boxes of those elements that
        are marked at each."""
        for step in steps:
            marked = (step.node_id, *step.candidate_ids[:MARKED_CANDIDATES])
            found = {node: boxes[node] for node in marked if node in boxes}
            yield cls(step=step, screenshot_id=screenshot, width=size[0], height=size[1], boxes=found)

    @property
    def shown(self) -> dict[str, Any]:
        """Its address, how large the window was, and where in it the marked elements were."""
        where = [self.step.trajectory_id, self.screenshot.sha256]
        place = {"width": self.width, "height": self.height, "boxes": self.boxes}
        return {"screenshot": reverse("api:trajectory-screenshot", args=where), "place": place}

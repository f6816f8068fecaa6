"""A region of a recorded page: the rectangle that a review is about."""

from dataclasses import asdict, dataclass, fields
from typing import Self

from agents.models import TrajectoryStep

LARGEST = 1_000_000  # pixels of a page, either way
# By the field of a step that holds the page, as the API names it: how people call that version.
PAGES = {"snapshot": "the page", "raw_snapshot": "the page as recorded", "screenshot": "the screenshot"}
NUMBERS = ("x", "y", "width", "height", "layout_width", "page_width", "page_height")


class BadRegion(ValueError):
    """This is no region of the page; the message says why."""


@dataclass(frozen=True)
class PageRegion:
    """A rectangle in CSS pixels of a page, or in pixels of its screenshot, from its top left corner, wherever it was
    scrolled to and however large it was shown. `layout_width` is how wide the page was laid out: at another width its
    lines break elsewhere, so that the same numbers would name another place. What does not fit makes the page wider
    (`page_width`), and it scrolls."""

    page: str
    x: float
    y: float
    width: float
    height: float
    layout_width: float
    page_width: float
    page_height: float

    @classmethod
    def read(cls, told: object) -> Self:
        """The region that somebody sent. Raises BadRegion."""
        names = {one.name for one in fields(cls)}
        if not isinstance(told, dict) or told.keys() != names:
            raise BadRegion(f"A region is an object of {', '.join(one.name for one in fields(cls))}.")
        if told["page"] not in list(PAGES):  # whatever it is
            raise BadRegion(f"The page of a region is one of {', '.join(PAGES)}.")
        return cls(told["page"], *(_number(told[name], name) for name in NUMBERS))

    def __post_init__(self) -> None:
        for name in NUMBERS[4:]:
            if not 1 <= getattr(self, name) <= LARGEST:
                raise BadRegion(f"{name} of a region is 1 to {LARGEST:,} pixels.")
        if self.width < 1 or self.height < 1:
            raise BadRegion("A region is at least one pixel wide and high.")
        right, bottom = self.x + self.width, self.y + self.height
        if self.x < 0 or self.y < 0 or right > self.page_width or bottom > self.page_height:
            size = f"{self.page_width:g} × {self.page_height:g}"
            raise BadRegion(f"The region {self.words} reaches out of the page of {size} pixels.")

    @property
    def words(self) -> str:
        return f"{self.width:g} × {self.height:g} at {self.x:g}, {self.y:g}"

    def __str__(self) -> str:
        size = "" if self.page == "screenshot" else "laid out "
        return f"{self.words} of {PAGES[self.page]}, {size}{self.layout_width:g} wide"

    def as_dict(self) -> dict[str, object]:
        return asdict(self)

    def check_of(self, step: TrajectoryStep | None) -> None:
        """Raise BadRegion unless a review is about a step with this page."""
        if step is None:
            raise BadRegion("A region is of the page of one step, not of the whole trajectory.")
        picture = getattr(step, "pictured", None) if self.page == "screenshot" else None
        if picture is None and getattr(step.step or step, f"{self.page}_id", None) is None:
            raise BadRegion(f"There is no {self.page} of this step of which a region could be named.")


def _number(told: object, name: str) -> float:
    """Finite, to a hundredth of a pixel; a bool is no number here."""
    if isinstance(told, bool) or not isinstance(told, int | float) or not -LARGEST <= told <= LARGEST:
        raise BadRegion(f"{name} of a region is a number of pixels, at most {LARGEST:,}.")
    return round(told, 2)

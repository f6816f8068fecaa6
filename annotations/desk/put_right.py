"""What a returned annotation was returned for, and whether each of that has been put right: changed where it was found,
or answered by its writer."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotations.models import Assignment, BadComment, Comment, Defect, NotReady, Stage, Step
from annotations.models.accounts.projects import User

_WORDS = re.compile(r"\w+|[^\w\s.,;:!?…\"“”‘’'()-]")  # signs such as "€" and "+" say something
Contents = dict[int, dict[str, Any]]  # first step -> what its part says


@dataclass(frozen=True)
class Fault:
    """One thing that an annotation was returned for: a defect, or where a return names none its reason (`defect`:
    None). `version`: of the annotation, when it was returned."""

    version: int
    at: datetime
    defect: Defect | None = None


class ReturnedWork:
    """An annotation that may have been returned, and what its writer has to put right before it is handed in again."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment

    def faults(self) -> list[Fault]:
        """What is to be put right here: of a verdict the cuts by who made them, the rest by who rewrote."""
        if self.assignment.review != Assignment.Reviewed.RETURNED:
            return []
        if self.assignment.item.stage == Stage.DECOMPOSE:
            sent = self.assignment.sent_back.unmended().with_reasons()
            told = [(row.version, row.created_at, row.defects(), not row.defects()) for row in sent]
        else:
            codes = self.assignment.item.session.campaign.codes_of(Stage.DECOMPOSE)
            told = [
                (one.version, one.created_at, one.defects.exclude(code__in=codes), not one.defects.all())
                for one in self.assignment.last_returns()
            ]
        found = [Fault(version, at, defect) for version, at, defects, _ in told for defect in defects]
        return found + [Fault(version, at) for version, at, _, is_reason_alone in told if is_reason_alone]

    def open_defects(self) -> set[int]:
        return {fault.defect.pk for fault in self.faults() if fault.defect is not None}

    def check(self) -> None:
        """Raise NotReady where something is as it was, and not answered. It names the parts."""
        left = [fault for fault in self.faults() if not self._is_answered(fault)]
        if not left:
            return
        texts = PartTexts(self.assignment)
        if left := [fault for fault in left if texts.are_as_at(fault)]:
            steps = [texts.first_of(fault.defect.step_id) for fault in left if fault.defect and fault.defect.step_id]
            raise NotReady([texts.sentence(fault) for fault in left], steps)

    def place_of_answer(self, author: User, defect: Defect) -> tuple[Step | None, bool]:
        """Where an answer to a defect stands: the first step of its part, and whether it is about one. BadComment
        unless it is for this person to answer it."""
        if self.assignment.user_id != author.pk:
            raise BadComment("Only whose work was returned answers what was found in it.")
        if defect.pk not in self.open_defects():
            raise BadComment("This was not returned for that defect, or the defect is not theirs to mend.")
        return defect.step, defect.step is not None

    def _is_answered(self, fault: Fault) -> bool:
        """Whether the writer has said why it is right as it is: by an answer to the defect, or where only a reason was
        given by any comment on their work since."""
        said = Comment.objects.live().filter(assignment=self.assignment)
        if fault.defect is not None:
            return said.filter(defect=fault.defect).exists()
        return said.filter(author=self.assignment.user_id, created_at__gt=fault.at).exists()


class PartTexts:
    """What the parts of an annotation say now, beside what they said when it was returned. Only what is written in its
    stage counts: cuts and instructions, or rewrites and mentions."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self.now: Contents = assignment.contents()
        self.order = list(assignment.item.session.steps().values_list("pk", flat=True))
        self.is_cut = assignment.item.stage == Stage.DECOMPOSE
        # Cuts that were mended under a rewrite move its mentions: nobody has changed these by that.
        self.carried = 0
        if not self.is_cut:
            self.carried = (
                assignment.edits.filter(is_carried=True).order_by("-version").values_list("version", flat=True).first()
                or 0
            )

    def are_as_at(self, fault: Fault) -> bool:
        """Whether the part that a fault is about, or all of them where it is about none, are as when it was found."""
        step = fault.defect.step_id if fault.defect else None
        before = self.assignment.contents_at(fault.version)
        if self._seen(before, step, self._words) != self._seen(self.now, step, self._words):
            return False
        if self.is_cut:
            return True
        marked = self.assignment.contents_at(max(fault.version, self.carried))
        return self._seen(marked, step, _marks) == self._seen(self.now, step, _marks)

    def first_of(self, step: int) -> int:
        """The first step of the part that holds a step now."""
        return self._spans(self.now)[self._place(self.now, step)][0]

    def sentence(self, fault: Fault) -> str:
        """What is left to do about a fault, for whoever writes."""
        if fault.defect is None:
            return "Nothing has changed since it was returned: mend what was found, or answer it in a comment."
        defect = fault.defect
        name = f"“{defect.code}”" + (f" ({defect.note})" if defect.note else "")
        if defect.step_id is None:
            return f"Nothing has changed since it was returned for {name}: mend it, or answer why it is right."
        number = self._place(self.now, defect.step_id) + 1
        word = "Part" if self.is_cut else "Turn"
        return f"{word} {number} is as it was when it was returned for {name}: mend it, or answer why it is right."

    def _seen(self, contents: Contents, step: int | None, said: Callable[[dict[str, Any]], object]) -> list[object]:
        spans = self._spans(contents)
        if step is not None:
            spans = [spans[self._place(contents, step)]]
        return [(span if self.is_cut or step is None else None, said(contents[span[0]])) for span in spans]

    def _spans(self, contents: Contents) -> list[tuple[int, int]]:
        """The first and the last step of each part."""
        firsts = [place for place, step in enumerate(self.order) if step in contents]
        ends = [*(place - 1 for place in firsts[1:]), len(self.order) - 1]
        return [(self.order[first], self.order[end]) for first, end in zip(firsts, ends, strict=True)]

    def _place(self, contents: Contents, step: int) -> int:
        """The place, from 0, of the part that holds a step; the last one's for a step that the session has lost."""
        until = self.order.index(step) if step in self.order else len(self.order) - 1
        return max(0, sum(one in contents for one in self.order[: until + 1]) - 1)

    def _words(self, part: dict[str, Any]) -> list[str]:
        """What a part says, word by word: a full stop, a space or a capital letter less mends nothing."""
        text = unicodedata.normalize("NFKC", part["instruction" if self.is_cut else "rewrite"]).casefold()
        return _WORDS.findall("".join(char for char in text if unicodedata.category(char) != "Cf"))


def _marks(part: dict[str, Any]) -> object:
    return [{name: value for name, value in mention.items() if name != "id"} for mention in part["mentions"]]

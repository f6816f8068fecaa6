"""Curating: a person who made neither of two versions of one item decides where they differ, and one of both passes.

What is decided is kept as it is decided, and undone until all of it is finished. The version from which more was taken
passes: what comes from elsewhere is made in it as edits under the curator's name, and verifiers are asked no more.
"""

from collections.abc import Sequence

from django.db import transaction

from annotations.desk import moving_on
from annotations.desk.write.checks import doubts
from annotations.edits.edit_ops import Content
from annotations.edits.saving import fix_mentions, open_desk
from annotations.models import Assignment, Curation, Stage, VerdictRefused, check_sure
from annotations.models.accounts.projects import Account
from annotations.text.versions import PartSays


class Curating:
    """One person's work on a curation. Raises VerdictRefused where it is not theirs to do, and PermissionDenied."""

    def __init__(self, curation: Curation, user: Account) -> None:
        self.curation, self.user = curation, user

    @transaction.atomic
    def decide(self, step: int, take: str, parts: Sequence[PartSays] = ()) -> None:
        """Decide the stretch that begins at this step."""
        self._locked().decide(step, take, parts)

    @transaction.atomic
    def spend(self, seconds: int) -> None:
        """Count time at work on it."""
        self._locked().spend(seconds)

    def next_after(self, step: int) -> int:
        """The first step of the next difference that is not decided, the earliest of all after the last one; `step`
        where all are."""
        choices, steps = self.curation.standing(), list(self.curation.differing())
        left = [one for one in [*steps[steps.index(step) :], *steps] if one not in choices]
        return left[0] if left else step

    @transaction.atomic
    def undo(self) -> int | None:
        """Take back the last decision; the first step of its stretch, None where there is none."""
        return self._locked().undo()

    @transaction.atomic
    def finish(self, *, sure: bool = False) -> Assignment:
        """Make one version of both, which passes. NotReady while something is not decided, Unsure where what it says
        is doubtful, unless the curator is sure of it.

        Both versions are locked before all else, in one order, as verdicts lock what they judge.
        """
        pair = (self.curation.first_id, self.curation.second_id)
        list(Assignment.objects.filter(pk__in=pair).order_by("pk").lock())
        curation = self._locked()
        if why_not := curation.why_not():
            raise VerdictRefused(why_not)
        taken, parts = curation.merged()
        other = curation.finish(taken)
        wanted = {step: Content(one["instruction"], one["rewrite"], one["mentions"]) for step, one in parts.items()}
        open_desk(taken, self.user).replace_parts(wanted)
        fix_mentions(taken)
        check_sure(doubts(open_desk(taken, self.user), of_all=True), sure=sure)
        for version in (taken, other):
            for verification in version.verified_as.all():
                verification.call_off()
        moving_on.passed(taken)
        return taken

    def _locked(self) -> Curation:
        """The curation, locked and read again with both versions."""
        rows = Curation.objects.live().with_people().select_for_update(of=("self",))
        curation = rows.get(pk=self.curation.pk)
        curation.first.item.session.campaign.project.require(self.user, Stage.VERIFY.ability)
        if curation.user_id != self.user.pk:
            raise VerdictRefused(f"These are the decisions of {curation.user}: begin with your own.")
        return curation

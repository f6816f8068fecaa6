"""What whoever hands in parts or rewrites is asked about once: the page asks in a dialog, the API by a refusal that is
taken back by `sure`."""

from annotations.desk.write.document import clauses, warnings
from annotations.edits.saving import Desk, open_desk
from annotations.models import Assignment, Proposal, Stage
from annotations.models.accounts.projects import Account
from annotations.work.decompose.warnings import GARBLED, INVENTED
from annotations.work.rewrite.said_again import SAID_AGAIN

# Warnings that are asked about, not shown alone.
ASKED = frozenset({GARBLED, INVENTED, SAID_AGAIN})


class Unsure(ValueError):
    """Work that can be handed in, but hardly as it is; `problems` are sentences about it."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join([*problems, "Send `sure`: true to hand it in all the same."]))
        self.problems = problems


class Doubts:
    """What is doubtful about an annotation that a user would hand in."""

    def __init__(self, assignment: Assignment, user: Account) -> None:
        self.assignment, self.user = assignment, user

    def check(self) -> None:
        """Raise Unsure where a decomposition asks for a clause of the source not at all or again, a rewrite for what
        another turn asks for, or a text is garbled or says what no source does. A clause that an accepted proposal said
        it leaves out is no surprise."""
        if self.assignment.missing():
            return  # what is missing is refused, sure or not
        desk = open_desk(self.assignment, self.user)
        found = self._of_clauses(desk) if self.assignment.item.stage == Stage.DECOMPOSE else []
        found += [warned["text"] for warned in warnings(desk) if warned["code"] in ASKED]
        if found:
            raise Unsure(found)

    def _of_clauses(self, desk: Desk) -> list[str]:
        expected = self._left_out()
        found: list[str] = []
        for clause in (clause for task in clauses(desk) for clause in task):
            if clause["state"] == "uncovered" and clause["text"] not in expected:
                found.append(f"No part with its steps asks for “{clause['text']}”.")
            elif clause["state"] == "doubled":
                found.append(f"More than once the parts ask for “{clause['text']}”.")
        return found

    def _left_out(self) -> set[str]:
        accepted = Proposal.objects.filter(pk__in=self.assignment.edits.accepted_proposals())
        return {clause for proposal in accepted for clause in proposal.content.get("left_out", [])}

"""What a person has made of an item: parts, which their edits change, and what is proposed for them."""

from typing import Any

from django.db import models, transaction
from django.utils import timezone

from annotations.models.corpus.conversations import Step
from annotations.models.work.campaigns import Stage
from annotations.models.work.parts import Part, PartChange
from annotations.text.garbled import is_blank


class Annotation(models.Model):
    """The parts of an assignment: what they say, said earlier, and still lack. Who may write them, `Assignment` says.

    Its columns and sets of rows are declared by the table, and by those that belong to it.
    """

    item: Any
    user_id: int
    parts: Any
    edits: Any
    proposals: Any

    class Meta:
        abstract = True

    def missing(self) -> list[str]:
        """What an annotation still lacks before it can be submitted, as sentences."""
        stage = self.item.stage
        if stage == Stage.VERIFY:
            return []
        field = "rewrite" if stage == Stage.REWRITE else "instruction"
        texts = {part.first_step_id: getattr(part, field) for part in self.parts.all()}
        steps = list(self.item.session.steps().values_list("pk", flat=True))
        problems = [] if steps and steps[0] in texts else ["The first part must begin at the first step."]
        ordered = [(place, texts[pk]) for place, pk in enumerate(steps) if pk in texts]
        return problems + [
            f"Part {number}, from step {place + 1}, has no {field}."
            for number, (place, text) in enumerate(ordered, 1)
            if is_blank(text)
        ]

    def ordered_parts(self) -> list[Part]:
        parts = {part.first_step_id: part for part in self.parts.all()}
        return [parts[pk] for pk in self.item.session.steps().values_list("pk", flat=True) if pk in parts]

    def parts_with_steps(self) -> list[tuple[Part, list[Step]]]:
        """The parts in order, each with its steps; every step of the session is in exactly one."""
        cuts = {part.first_step_id: part for part in self.parts.all()}
        found: list[tuple[Part, list[Step]]] = []
        for step in self.item.session.steps().select_related("turn__conversation").prefetch_related("targets"):
            if step.pk in cuts:
                found.append((cuts[step.pk], []))
            found[-1][1].append(step)
        return found

    def contents(self) -> dict[int, dict[str, Any]]:
        """The contents of the parts by first step, in any order."""
        return {part.first_step_id: part.contents() for part in self.parts.all()}

    def contents_at(self, version: int) -> dict[int, dict[str, Any]]:
        """The parts as they were at an earlier version: later edits are taken back, newest first."""
        parts = {step: dict(content) for step, content in self.contents().items()}
        for edit in self.edits.filter(version__gt=version).order_by("-version"):
            edit.take_back(parts)
        return parts

    def changes_since(self, version: int) -> list[PartChange]:
        """What differs between the parts at a version and now, in the order of the session's steps."""
        before, after = self.contents_at(version), self.contents()
        order = [pk for pk in self.item.session.steps().values_list("pk", flat=True) if pk in before or pk in after]
        pairs = [PartChange(step, before.get(step), after.get(step)) for step in order]
        return [change for change in pairs if change.before != change.after]

    def others_who_wrote(self) -> list[str]:
        """The names of people who wrote in it before it was given to whoever has it now."""
        rows = self.edits.filter(is_carried=False).exclude(user=self.user_id).order_by("user__username")
        return list(rows.values_list("user__username", flat=True).distinct())

    def keep_proposal(
        self, kind: str, model_name: str, parts: list[dict[str, Any]], left_out: list[str] | None = None
    ) -> Any:
        """Keep a proposal, with the clauses of the source that it leaves out; one of the same kind that nobody has made
        use of yet gives way to it."""
        content: dict[str, Any] = {"parts": parts} | ({"left_out": left_out} if left_out else {})
        with transaction.atomic():
            used = self.edits.filter(proposal__isnull=False).values("proposal")
            self.proposals.filter(kind=kind, outcome="").exclude(pk__in=used).delete()
            session = self.item.session
            return self.proposals.create(
                campaign=session.campaign, session=session, kind=kind, model_name=model_name, content=content
            )

    def keep_unusable(self, kind: str, model_name: str, parts: list[dict[str, Any]]) -> None:
        """Keep a proposal that nobody is shown, once, as rejected: it counts as any other that its model made."""
        session, content = self.item.session, {"parts": parts}
        fields = {"kind": kind, "model_name": model_name, "content": content, "outcome": "rejected"}
        if not self.proposals.filter(**fields).exists():
            self.proposals.create(campaign=session.campaign, session=session, decided_at=timezone.now(), **fields)

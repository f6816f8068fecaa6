"""What the page of organising shows, as JSON for its script."""

from typing import Any

from django.db.models import Prefetch
from django.urls import reverse

from annotations.models import Assignment, Campaign, Proposal, Session, SessionTask
from annotations.work.organise.layouts import SessionChange


class OrganiseRows:
    """What the page of organising shows of a campaign, as its script takes it."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign

    def state(self) -> dict[str, Any]:
        """Everything that the page's script starts from."""
        return {
            "change": reverse("annotate-organise-change", args=[self.campaign.pk]),
            "propose": reverse("annotate-organise-propose", args=[self.campaign.pk]),
            "peek": reverse("annotate-organise-peek", args=[self.campaign.pk]),
            "tasks": self.tasks(),
            "sessions": self.sessions(),
            "proposals": self.proposals(),
        }

    def tasks(self) -> list[dict[str, Any]]:
        """All tasks of the source dataset in its order, without their pages."""
        rows = self.campaign.source.conversations.in_order().with_first_instruction()
        return [
            {"id": pk, "name": name, "site": site, "split": split, "text": text or "", "turns": turns, "steps": steps}
            for pk, name, site, split, text, turns, steps in rows.values_list(
                "pk", "source_id", "website__name", "split", "first_instruction", "turn_count", "step_count"
            )
        ]

    def sessions(self, keys: list[int] | None = None) -> list[dict[str, Any]]:
        """Live sessions with their tasks, all or those named."""
        rows = self.campaign.sessions.live() if keys is None else self.campaign.sessions.live().filter(pk__in=keys)
        at_work = Assignment.objects.begun_sessions(self.campaign)
        ordered = SessionTask.objects.order_by("position")
        found: list[Session] = list(rows.prefetch_related(Prefetch("tasks", queryset=ordered), "items"))
        return [
            {
                "id": row.pk,
                "name": row.name,
                "position": row.position,
                "why": row.why,
                "batch": row.batch,
                "tasks": [task.conversation_id for task in row.tasks.all()],
                "open": bool(row.items.all()),
                "begun": row.pk in at_work,
            }
            for row in found
        ]

    def proposals(self, keys: list[int] | None = None) -> list[dict[str, Any]]:
        """Proposals not decided, all or those named, in dataset order."""
        rows: list[Proposal] = list(self.campaign.proposals.of_sessions().order_by("pk"))
        return [
            {"id": row.pk, "tasks": row.content["tasks"], "why": row.content["why"], "model": row.model_name}
            for row in rows
            if keys is None or row.pk in keys
        ]

    def answer(self, made: SessionChange) -> dict[str, Any]:
        """What an action has made of the page: {"said", "sessions", "gone", "proposals", "undo"}."""
        live = self.sessions(made.sessions)
        shown = {row["id"] for row in live}
        return {
            "said": made.said,
            "sessions": live,
            "gone": [key for key in made.sessions if key not in shown],
            "proposals": self.proposals(made.proposals),
            "decided": made.proposals,
            "undo": made.undo,
            "unopened": self.campaign.sessions.unopened().count(),
        }

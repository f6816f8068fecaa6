"""Small pictures of the recorded pages of tasks, for whoever decides which of them go together."""

from typing import Any

from django.http import HttpRequest

from annotations.access import rules
from annotations.dom.marks import Mark
from annotations.models import Campaign, Conversation, Step
from annotations.pages.snapshot_host import still_address
from annotations.text.amounts import whole

MOST = 4  # tasks at once, as many as a proposal has at most: each is a page that the browser lays out


class BadPeek(ValueError):
    """What is asked for names no pages; the message says why."""


class Peeks:
    """For each of the `tasks` of a campaign's source that an address names, one of its recorded pages: that of the
    place `page`, counted from 0, or its last. BadPeek for an address that names none."""

    def __init__(self, request: HttpRequest, campaign: Campaign) -> None:
        self.request, self.source = request, campaign.source
        named = request.GET.get("tasks", "").split(",")
        self.keys = [key for text in named if (key := whole(text)) is not None]
        page = whole(request.GET.get("page", "0"))
        if len(self.keys) < len(named) or page is None:
            raise BadPeek("Tasks and their page are named by whole numbers.")
        if len(self.keys) > MOST:
            raise BadPeek(f"At most {MOST} tasks are looked at together.")
        self.page = page

    def rows(self) -> list[dict[str, Any]]:
        """{task, page, pages, did, still}, in the order that was asked for; others' tasks and hidden gold are left
        out."""
        asked = self.source.conversations.filter(pk__in=self.keys)
        tasks = {task.pk: task for task in rules.gold_filter(self.request.user, asked, "split", "dataset__project")}
        return [self._row(tasks[key]) for key in self.keys if key in tasks]

    def _row(self, task: Conversation) -> dict[str, Any]:
        place = max(0, min(self.page, task.step_count - 1))
        steps = Step.objects.filter(turn__conversation=task).order_by("turn__index", "index")
        step = steps.light().prefetch_related("targets")[place : place + 1].first()
        shown = step.shown_snapshot() if step else None
        marks = [Mark(node_id, "gold") for node_id in step.gold_ids()] if step else []
        return {
            "task": task.pk,
            "page": place,
            "pages": task.step_count,
            "did": str(step or ""),
            "still": still_address(self.request, shown, marks) if shown else "",
        }

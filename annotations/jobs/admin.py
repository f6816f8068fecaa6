"""Admin of background jobs."""

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest

from annotations.admin_base import MadeElsewhere, ShowsGold
from annotations.models import (
    Job,
    Worker,
)


@admin.register(Job)
class JobAdmin(MadeElsewhere, ShowsGold):
    heavy = ("report",)
    list_display = ["__str__", "state", "project", "dataset", "created_by", "attempt", "created_at", "finished_at"]
    list_select_related = ["project", "dataset", "created_by"]
    list_filter = ["kind", "state", "project"]
    search_fields = ["params__name", "created_by__username", "last_error"]
    date_hierarchy = "created_at"
    actions = ["cancel", "retry"]

    def has_work_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("annotations.change_job")

    @admin.action(description="Cancel", permissions=["work"])
    def cancel(self, request: HttpRequest, rows: QuerySet[Job]) -> None:
        for job in rows:
            job.cancel()
        self.message_user(request, "Queued jobs are cancelled; running ones stop at their next batch.")

    @admin.action(description="Retry", permissions=["work"])
    def retry(self, request: HttpRequest, rows: QuerySet[Job]) -> None:
        from annotations.jobs import running

        for job in rows:
            try:
                running.retry(job)
                self.message_user(request, f"{job} is queued again.", messages.SUCCESS)
            except ValidationError as error:
                self.message_user(request, f"{job}: {error.messages[0]}", messages.ERROR)


@admin.register(Worker)
class WorkerAdmin(MadeElsewhere):
    list_display = ["name", "hostname", "queues", "held", "started_at", "seen_at"]
    search_fields = ["name", "hostname", "host"]

"""Admin of what people said of steps."""

from django.contrib import admin

from annotations.admin_base import MadeElsewhere, ShowsGold
from evaluation.models import (
    Review,
    ReviewMention,
    ReviewQueue,
    ReviewReason,
    ReviewTask,
)


@admin.register(Review)
class ReviewAdmin(MadeElsewhere, ShowsGold):
    list_display = ["__str__", "trajectory_id", "step_id", "reason", "is_counted", "changed_at"]
    list_select_related = ["reviewer", "reason"]
    list_filter = ["verdict", "is_counted"]
    search_fields = ["comment", "reviewer__username"]
    date_hierarchy = "changed_at"


@admin.register(ReviewMention)
class ReviewMentionAdmin(MadeElsewhere, ShowsGold):
    list_display = ["user", "review_id", "seen_at"]
    list_select_related = ["user"]
    search_fields = ["user__username", "review__comment"]


@admin.register(ReviewReason)
class ReviewReasonAdmin(admin.ModelAdmin):
    list_display = ["text", "verdict", "project", "retired_at"]
    list_select_related = ["project"]
    list_filter = ["verdict", "project"]
    search_fields = ["text"]


@admin.register(ReviewQueue)
class ReviewQueueAdmin(MadeElsewhere, ShowsGold):
    list_display = ["__str__", "choice", "population", "overlap", "created_by", "created_at"]
    list_select_related = ["study", "created_by"]
    list_filter = ["choice", "project"]
    search_fields = ["study__name"]


@admin.register(ReviewTask)
class ReviewTaskAdmin(MadeElsewhere, ShowsGold):
    list_display = ["queue_id", "place", "trajectory_id", "step_id"]
    search_fields = ["=queue__id"]

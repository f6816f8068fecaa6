"""Admin of verdicts and what follows from them."""

from django.contrib import admin

from annotations.admin_base import MadeElsewhere, ShowsGold
from annotations.models import (
    BulkAccept,
    Curation,
    CurationChoice,
    Defect,
    Dispute,
    HeldBack,
    SentBack,
    Verdict,
)


@admin.register(Verdict)
class VerdictAdmin(MadeElsewhere, ShowsGold):
    list_display = ["outcome", "round", "version", "reason", "created_at"]
    list_filter = ["outcome"]
    search_fields = ["reason", "assignment__item__session__name"]


@admin.register(SentBack)
class SentBackAdmin(MadeElsewhere, ShowsGold):
    list_display = ["decomposition_id", "rewrite_id", "sender", "reason", "created_at", "mended_at"]
    list_select_related = ["sender"]
    search_fields = ["reason", "rewrite__item__session__name"]


@admin.register(BulkAccept)
class BulkAcceptAdmin(MadeElsewhere):
    list_display = ["campaign", "user", "size", "share", "created_at"]
    list_select_related = ["campaign", "user"]
    list_filter = ["campaign"]
    search_fields = ["campaign__name", "user__username"]


@admin.register(HeldBack)
class HeldBackAdmin(MadeElsewhere):
    list_display = ["item", "bulk"]
    list_select_related = ["item__session", "bulk__user"]
    search_fields = ["item__session__name"]


@admin.register(Dispute)
class DisputeAdmin(MadeElsewhere, ShowsGold):
    list_display = ["assignment_id", "round", "outcome", "decided_by", "opened_at", "decided_at"]
    list_select_related = ["decided_by", "assignment__user", "assignment__item__session"]
    list_filter = ["outcome"]
    search_fields = ["reason", "assignment__item__session__name"]


@admin.register(Curation)
class CurationAdmin(MadeElsewhere, ShowsGold):
    list_display = ["first_id", "second_id", "user", "begun_at", "finished_at", "taken_id"]
    list_select_related = ["user", "first__user", "first__item__session", "second__user", "second__item__session"]
    search_fields = ["first__item__session__name", "user__username"]


@admin.register(CurationChoice)
class CurationChoiceAdmin(MadeElsewhere, ShowsGold):
    list_display = ["curation_id", "step_id", "take", "made_at"]
    list_filter = ["take"]
    search_fields = ["curation__first__item__session__name"]


@admin.register(Defect)
class DefectAdmin(MadeElsewhere, ShowsGold):
    list_display = ["code", "note", "verdict_id"]
    list_filter = ["code"]
    search_fields = ["code", "note"]

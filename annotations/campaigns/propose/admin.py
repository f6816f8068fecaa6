"""Admin of what was proposed."""

from django.contrib import admin

from annotations.admin_base import MadeElsewhere, ShowsGold
from annotations.models import (
    Proposal,
)


@admin.register(Proposal)
class ProposalAdmin(MadeElsewhere, ShowsGold):
    list_display = ["kind", "model_name", "campaign", "outcome", "distance", "created_at"]
    list_select_related = ["campaign"]
    list_filter = ["kind", "outcome", "model_name"]
    search_fields = ["campaign__name", "model_name"]

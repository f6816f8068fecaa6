"""A project's policy over REST: the same rules, and the same rights, as on its page."""

from typing import cast

from django.core.exceptions import ValidationError as Invalid
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from agents.guard.policy import KINDS, OF
from agents.models import GuardRule
from agents.models.guarding import MAX_PATTERN, PassesEveryClick
from annotations.access import rules
from annotations.access.api_rules import ReadOnlyViewSet
from annotations.access.requests import OwnRelatedField, RequestSerializer
from annotations.corpus.serializers import UsernameField
from annotations.models import Project


class GuardRuleSerializer(serializers.ModelSerializer):
    """What the guard compares on a website (empty: on every one), and what it then says (empty kind: harmless)."""

    created_by = UsernameField(source="created_by.username", default=None, read_only=True, allow_null=True)
    warning = serializers.SerializerMethodField(help_text="That no website of the project is called so yet.")

    class Meta:
        model = GuardRule
        fields = ["id", "project", "website", "of", "pattern", "kind", "created_by", "created_at", "warning"]

    def get_warning(self, rule: GuardRule) -> str:
        if not rule.website:
            return ""
        context = cast(dict[str, dict[int, list[str]]], self.context)
        of_projects = context.setdefault("website_names", {})
        if rule.project_id not in of_projects:
            of_projects[rule.project_id] = GuardRule.objects.website_names(rule.project_id)
        return rule.warning(of_projects[rule.project_id])


class GuardRuleRequestSerializer(RequestSerializer):
    """A rule to add."""

    project = OwnRelatedField(slug_field="slug", queryset=Project.objects.all(), help_text="Its slug.")
    website = serializers.CharField(default="", allow_blank=True, max_length=200, help_text="Empty: every website.")
    of = serializers.CharField(help_text=f"What is compared: {', '.join(OF)}.")
    pattern = serializers.CharField(
        default="", allow_blank=True, max_length=MAX_PATTERN, help_text="* stands for anything. None for a price."
    )
    kind = serializers.CharField(default="", allow_blank=True, help_text=f"Empty: harmless; or {', '.join(KINDS)}.")
    sure = serializers.BooleanField(
        default=False, help_text="That a rule is meant which calls every click harmless; it is refused else."
    )


class GuardRuleViewSet(mixins.DestroyModelMixin, ReadOnlyViewSet):
    """Rules of the guard. Admins of a project add and remove them; a change is a removal and an addition."""

    queryset = GuardRule.objects.select_related("created_by", "project")
    serializer_class = GuardRuleSerializer
    filterset_fields = ["project", "website", "of", "kind"]

    @extend_schema(request=GuardRuleRequestSerializer, responses={201: GuardRuleSerializer})
    def create(self, request: Request) -> Response:
        """Add a rule. A run uses the rules that there are when a worker takes it up."""
        wanted = GuardRuleRequestSerializer(data=request.data, context=self.get_serializer_context())
        wanted.is_valid(raise_exception=True)
        rules.require(request.user, "manage", wanted.validated_data["project"])
        try:
            row = GuardRule.objects.add(created_by=request.user, **wanted.validated_data)
        except Invalid as error:
            raise ValidationError(error.message_dict) from error
        except PassesEveryClick as error:
            raise ValidationError({"sure": [str(error)]}) from error
        return Response(self.get_serializer(row).data, status=status.HTTP_201_CREATED)

    def perform_destroy(self, instance: GuardRule) -> None:
        rules.require(self.request.user, "manage", instance.project)
        instance.lift()

"""Comments on work over REST, under the rules of the pages."""

from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.access import idempotency
from annotations.access.api_rules import ReadOnlyViewSet
from annotations.access.people import signed_in
from annotations.access.requests import ReasonField
from annotations.desk.discuss import comments
from annotations.desk.write import opening
from annotations.desk.write.document import readable
from annotations.desk.write.refusals import declined
from annotations.models import Assignment, Comment, Defect, Scope

LARGEST = 2**31 - 1


class CommentSerializer(serializers.ModelSerializer):
    """`defect`: for which the annotation was returned; its writer says by the comment why it is right as it is."""

    class Meta:
        model = Comment
        fields = [
            *("id", "session", "assignment", "parent", "step", "is_about_turn", "node_id", "defect", "author", "text"),
            *("created_at", "resolved_at", "resolved_by"),
        ]


class CommentRequestSerializer(serializers.Serializer):
    """A comment on an annotation, or on one of its steps or parts (`is_about_turn`, by the first step). `answers`: the
    comment that it answers; `defect`: what the annotation was returned for, of `returns/`."""

    assignment = serializers.IntegerField(min_value=1, max_value=LARGEST)
    text = ReasonField()
    step = serializers.IntegerField(min_value=1, max_value=LARGEST, required=False, allow_null=True, default=None)
    is_about_turn = serializers.BooleanField(default=False)
    answers = serializers.IntegerField(min_value=1, max_value=LARGEST, required=False, allow_null=True, default=None)
    defect = serializers.IntegerField(min_value=1, max_value=LARGEST, required=False, allow_null=True, default=None)


class OfComment(filters.FilterSet):
    session = filters.NumberFilter()
    assignment = filters.NumberFilter()
    campaign = filters.NumberFilter(field_name="session__campaign")


class CommentViewSet(ReadOnlyViewSet):
    """Comments; those about one person's annotation are for those who may read it."""

    scopes = {"create": Scope.ANNOTATE}
    queryset = Comment.objects.live().filter(session__deleted_at=None, session__campaign__deleted_at=None)
    serializer_class = CommentSerializer
    filterset_class = OfComment
    gold_split = "session__split"
    gold_project = "session__campaign__project"

    def get_queryset(self) -> QuerySet[Comment]:
        rows = super().get_queryset()
        return rows.filter(assignment=None) | rows.filter(assignment__in=readable(self.request.user))

    @extend_schema(
        request=CommentRequestSerializer, responses={201: CommentSerializer}, parameters=[idempotency.PARAMETER]
    )
    def create(self, request: Request) -> Response:
        """Comment on an annotation, answer a comment, or answer what the annotation was returned for."""
        wanted = CommentRequestSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        asked = wanted.validated_data

        def work() -> Response:
            rows = readable(request.user, Assignment.objects.select_related(*opening.RELATED))
            about = _named(rows, asked, "assignment")
            opening.check_gold(request.user, about)
            session = about.item.session
            if not session.campaign.project.lets_speak(signed_in(request)):
                raise PermissionDenied(f"Readers of {session.campaign.project} do not comment in it.")
            defects = Defect.objects.filter(verdict__assignment__item__session=session)
            made = comments.say(
                session,
                signed_in(request),
                asked["text"],
                assignment=about,
                parent=_named(comments.visible(signed_in(request)).filter(session=session), asked, "answers"),
                step=_named(session.steps(), asked, "step"),
                is_about_turn=asked["is_about_turn"],
                defect=_named(defects, asked, "defect"),
            )
            return Response(self.get_serializer(made).data, status=status.HTTP_201_CREATED)

        with declined():
            return idempotency.once(request, work)


def _named(rows: QuerySet, asked: dict[str, Any], field: str) -> Any:
    """The row that a request names in a field; None where it names none."""
    if asked[field] is None:
        return None
    if (found := rows.filter(pk=asked[field]).first()) is None:
        raise ValidationError({field: ["It does not exist."]})
    return found

"""Verification by programs, under the rules of its page."""

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.access.people import signed_in
from annotations.models import Scope, Verdict
from annotations.work.desk.write import opening
from annotations.work.desk.write.api import UNREADY, AssignmentActions, StandingSerializer
from annotations.work.desk.write.refusals import declined
from annotations.work.verify import verdicts


class JudgeRequestSerializer(serializers.Serializer):
    """`version`: of the annotation that is judged; `checklist`: rubric code -> whether it holds; defects name a code of
    the rubric, and the step they are at."""

    token = serializers.UUIDField()
    version = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    outcome = serializers.ChoiceField(choices=Verdict.Outcome.choices)
    checklist = serializers.DictField(child=serializers.BooleanField(), default=dict)
    reason = serializers.CharField(allow_blank=True, default="", max_length=10_000)
    defects = serializers.ListField(child=serializers.DictField(), default=list)


class VerificationActions(AssignmentActions):
    """What the person of an assignment does with it, verifications with their verdict."""

    scopes = AssignmentActions.scopes | {"judge": Scope.ANNOTATE}

    @extend_schema(request=JudgeRequestSerializer, responses={200: StandingSerializer} | UNREADY)
    @action(detail=True, methods=["post"])
    def judge(self, request: Request, pk: str) -> Response:
        """Accept or return what a verification is about."""
        found = opening.verification(request.user, self.get_object().pk)
        asked = self.asked_in(request, JudgeRequestSerializer)
        with declined(), transaction.atomic():
            found.check_unchanged(signed_in(request), asked["token"], asked["version"])
            outcome = asked["outcome"], asked["checklist"], asked["reason"], asked["defects"]
            verdicts.give(found, *outcome)
        return self.standing(found.pk)

"""The content of the first page over the API: what waits for the caller, and what runs."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agents.cookbook import saved
from agents.training.prepare import preparing
from annotations.access import rules
from annotations.access.people import signed_in
from annotations.campaigns.queue import waiting
from annotations.models import Stage
from annotations.shown_progress import ShownProgress
from evaluation.reviews.questions import answered_for
from evaluation.studies import home


class ReturnedSerializer(serializers.Serializer):
    assignment = serializers.IntegerField(source="pk")
    campaign = serializers.IntegerField(source="item.session.campaign_id")
    stage = serializers.ChoiceField(choices=Stage.choices, source="item.stage")


class WaitingSerializer(serializers.Serializer):
    campaign = serializers.IntegerField(source="campaign.pk")
    name = serializers.CharField(source="campaign.name")
    stage = serializers.ChoiceField(choices=Stage.choices)
    own = serializers.IntegerField(help_text="They have it already.")
    free = serializers.IntegerField(help_text="They would get it by asking; at most 100 are counted.")
    pace = serializers.FloatField(allow_null=True, help_text="Seconds that one takes them; null: not known yet.")


class ToJudgeSerializer(serializers.Serializer):
    queue = serializers.IntegerField()
    study = serializers.IntegerField()
    left = serializers.IntegerField()


class AnsweredSerializer(serializers.Serializer):
    question = serializers.IntegerField(source="pk")
    trajectory = serializers.IntegerField(source="trajectory_id")
    seq = serializers.IntegerField(source="step.seq")
    answered_at = serializers.DateTimeField()


class UnderWaySerializer(serializers.Serializer):
    kind = serializers.ChoiceField(choices=["study", "job"])
    id = serializers.IntegerField()
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=["running", "queued"], help_text="Queued: it waits for its turn.")
    says = serializers.CharField(help_text="How far it is.")


class HindranceSerializer(serializers.Serializer):
    says = serializers.CharField()
    url = serializers.CharField(help_text="The page with its rows.")


class ManagedSerializer(serializers.Serializer):
    campaign = serializers.IntegerField()
    name = serializers.CharField()
    needs = serializers.CharField(help_text="What it needs next.")
    held_up = HindranceSerializer(many=True, help_text="What holds it up, the most pressing first.")


class NextThingSerializer(serializers.Serializer):
    says = serializers.CharField()
    url = serializers.CharField()


class HomeSerializer(serializers.Serializer):
    """What waits for the caller; empty where their roles have no such work."""

    sentence = serializers.CharField()
    returned = ReturnedSerializer(many=True, help_text="Work of theirs that was sent back; it comes first.")
    to_do = WaitingSerializer(many=True, help_text="By campaign and stage, what holds up others first.")
    to_judge = ToJudgeSerializer(many=True, help_text="Queues of review that ask them for steps.")
    answered = AnsweredSerializer(many=True, help_text="Questions of theirs with answers that they have not read.")
    campaigns = ManagedSerializer(many=True, help_text="Open ones that they manage.")
    running = UnderWaySerializer(many=True, help_text="Studies and jobs of their projects: what runs, then what waits.")
    agents_ready = serializers.IntegerField()
    agents = serializers.IntegerField()
    next_thing = NextThingSerializer(allow_null=True, help_text="For who may start studies.")


class HomeView(APIView):
    """What waits for the caller, and what runs."""

    @extend_schema(responses=HomeSerializer)
    def get(self, request: Request) -> Response:
        """What waits for the caller, what runs, and the next sensible thing to do, as on the first page."""
        user = signed_in(request)
        returned, to_do, judging = list(waiting.returned(user)), waiting.waiting(user), home.to_judge(user)
        work = home.UnderWay.of(user)
        listed = saved.listed(user)
        ready = [recipe.name for recipe in preparing.ready(user, listed)]
        may_evaluate = rules.projects(user, "evaluate").exists()
        then = home.next_thing(user, ready, len(listed)) if may_evaluate else None
        answered = answered_for(user)
        waits = sum(one.count for one in to_do) + len(returned) + len(answered) + sum(left for _, left in judging)
        told: dict[str, Any] = {
            "sentence": home.sentence(waits, work),
            "returned": returned,
            "to_do": to_do,
            "to_judge": [{"queue": queue.pk, "study": queue.study_id, "left": left} for queue, left in judging],
            "answered": answered,
            "campaigns": [_managed(one, request) for one in home.campaigns(user)],
            "running": [
                {"kind": kind, "id": row.pk, "name": str(row), "state": live.fields["state"], "says": _says(live)}
                for kind, row, live in work.under_way
            ],
            "agents_ready": len(ready),
            "agents": len(listed),
            "next_thing": then and {"says": then[0], "url": request.build_absolute_uri(then[2])},
        }
        return Response(HomeSerializer(told).data)


def _managed(one: home.Managed, request: Request) -> dict[str, Any]:
    held_up = [{"says": why.text, "url": request.build_absolute_uri(why.url)} for why in one.held_up]
    return {"campaign": one.campaign.pk, "name": one.campaign.name, "needs": one.needs, "held_up": held_up}


def _says(live: ShownProgress) -> str:
    return f"{live.fields['headline']}: {live.fields['detail']}".removesuffix(": ")

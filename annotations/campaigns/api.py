"""The table of a campaign's work over REST: its items, giving them to people and ordering them, and how good and how
fast the work is."""

from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.access import idempotency, rules
from annotations.access.people import signed_in
from annotations.access.requests import RequestSerializer
from annotations.campaigns.assigning import REFUSED, Handover
from annotations.campaigns.forms import WorkFilterForm
from annotations.campaigns.progress import progress_of
from annotations.campaigns.quality import WEIGHTS, CampaignWork, ItemFilter, weeks_left
from annotations.models import Assignment, Campaign, Item, Session, Stage
from annotations.models.work.queue import ItemQuerySet
from annotations.text.amounts import whole

MOST = 1_000  # items that are given or ordered at once, or listed on a page


class WorkPagination(PageNumberPagination):
    """Pages by number, as those of the table: it has orders in which a cursor has no place. 100 rows a page, up to
    1,000 with `page_size`."""

    page_size = 100
    page_size_query_param = "page_size"

    def get_page_size(self, request: Request) -> int | None:
        asked = request.query_params.get(self.page_size_query_param, "")
        if asked and not 1 <= (whole(asked) or 0) <= MOST:
            raise ValidationError({"page_size": [f"Give a whole number from 1 to {MOST:,}."]})
        return super().get_page_size(request)


class PersonQualitySerializer(serializers.Serializer):
    """What became of what a person wrote, verifications aside; means are of finished work, null without any."""

    name = serializers.CharField()
    written = serializers.IntegerField()
    judged = serializers.IntegerField()
    first = serializers.IntegerField(help_text="Passed the first time.")
    returned = serializers.IntegerField()
    faulty = serializers.IntegerField(help_text="With a defect.")
    rounds = serializers.FloatField(allow_null=True, help_text="Mean.")
    seconds = serializers.FloatField(allow_null=True, help_text="Mean of active time.")
    first_yield = serializers.FloatField(allow_null=True)
    return_rate = serializers.FloatField(allow_null=True)


class CodeQualitySerializer(serializers.Serializer):
    """A code of the rubric, and in how many of the judged items verifiers found it."""

    code = serializers.CharField()
    question = serializers.CharField()
    items = serializers.IntegerField()
    judged = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)


class StageCountsSerializer(serializers.Serializer):
    """A number for each stage."""

    decompose = serializers.IntegerField()
    rewrite = serializers.IntegerField()
    verify = serializers.IntegerField()


class WeekOfWorkSerializer(serializers.Serializer):
    """Items submitted in the week from a day on."""

    start = serializers.DateField()
    stages = StageCountsSerializer()


class StageForecastSerializer(serializers.Serializer):
    """What is left of a stage, and how long it takes at the pace of the last four whole weeks."""

    stage = serializers.CharField()
    left = serializers.IntegerField()
    said = serializers.CharField()


class CampaignQualitySerializer(serializers.Serializer):
    """Quality per person and code, items per week, and what is left."""

    people = PersonQualitySerializer(many=True)
    codes = CodeQualitySerializer(many=True)
    weeks = WeekOfWorkSerializer(many=True)
    left = StageForecastSerializer(many=True)


class PlaceSerializer(serializers.ModelSerializer):
    """Who has an item, and how far they are."""

    user = serializers.CharField(source="user.username")

    class Meta:
        model = Assignment
        fields = ["id", "user", "state", "review", "round"]


class WorkItemSerializer(serializers.ModelSerializer):
    """A row of the table of work: an item, its session, and who has it."""

    name = serializers.CharField(source="session.name", help_text="Of its session.")
    split = serializers.CharField(source="session.split")
    priority = serializers.FloatField(source="session.weight", help_text="Of its session: higher is handed out first.")
    seconds = serializers.FloatField(allow_null=True, help_text="Active time of all who had a part in it.")
    rounds = serializers.FloatField(allow_null=True, help_text="Mean of their rounds.")
    assignments = PlaceSerializer(source="taken", many=True, help_text="Who has it.")

    class Meta:
        model = Item
        fields = [
            *("id", "session", "name", "split", "stage", "subject", "state", "overlap", "opened_at", "finished_at"),
            *("priority", "seconds", "rounds", "assignments"),
        ]


class WorkQuerySerializer(serializers.Serializer):
    """Which items are listed, in which order."""

    q = serializers.CharField(required=False, help_text="In the name of the session.")
    stage = serializers.ChoiceField(choices=Stage.choices, required=False)
    state = serializers.ChoiceField(choices=Item.State.choices, required=False)
    person = serializers.CharField(required=False, help_text="The name of somebody who has it.")
    show = serializers.ChoiceField(choices=WorkFilterForm.SHOWS[1:], required=False, help_text="What became of it.")
    code = serializers.CharField(required=False, help_text="A defect that a verifier found.")
    week = serializers.DateField(required=False, help_text="Submitted in the week from this day.")
    order = serializers.ChoiceField(choices=WorkFilterForm.SORTS[1:], required=False, help_text="Else next first.")


class ChosenItemsSerializer(RequestSerializer):
    items = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**63 - 1), min_length=1, max_length=MOST
    )


class GiveRequestSerializer(ChosenItemsSerializer):
    person = serializers.CharField(max_length=150, help_text="The name of a member of the project.")


class StayedSerializer(serializers.Serializer):
    why = serializers.CharField()
    said = serializers.CharField(help_text="In words, of the items: they …")
    items = serializers.IntegerField(help_text="How many.")


class GivenSerializer(serializers.Serializer):
    """How many items the person has now, and why others stayed with whoever has them."""

    given = serializers.IntegerField()
    stayed = StayedSerializer(many=True)


class PriorityRequestSerializer(ChosenItemsSerializer):
    priority = serializers.ChoiceField(choices=list(WEIGHTS), help_text="When they are handed out.")


class WeighedSerializer(serializers.Serializer):
    """A priority is one of whole sessions: all items of these come in the new order."""

    sessions = serializers.IntegerField(help_text="How many.")
    priority = serializers.FloatField()


class CampaignWorkActions(viewsets.GenericViewSet):
    """The table of a campaign's work."""

    def _work(self, ability: str) -> CampaignWork:
        """The work of the campaign of the request; PermissionDenied for those who lack the ability."""
        campaign: Campaign = self.get_object()
        rules.require(signed_in(self.request), ability, campaign.project)
        return CampaignWork(campaign, signed_in(self.request))

    @extend_schema(
        parameters=[WorkQuerySerializer],
        responses=WorkItemSerializer(many=True),
        filters=False,
        operation_id="campaigns_work_list",
    )
    @action(detail=True, pagination_class=WorkPagination)
    def work(self, request: Request, pk: str) -> Response:
        """The items of a campaign as its table of work lists them, for those who review: who has each, its round, time
        and priority. Items of test splits whose gold is hidden from you are left out."""
        found = self._work("review")
        chosen = WorkFilterForm(request.query_params, found.names(), [one.code for one in found.codes()])
        if chosen.errors:
            raise ValidationError({name: [str(one) for one in said] for name, said in chosen.errors.items()})
        rows = ItemFilter(found, chosen.cleaned_data).rows().for_listing()
        return self.get_paginated_response(WorkItemSerializer(self.paginate_queryset(rows), many=True).data)

    @extend_schema(request=GiveRequestSerializer, responses=GivenSerializer, parameters=[idempotency.PARAMETER])
    @action(detail=True, methods=["post"], url_path="work/give")
    def give(self, request: Request, pk: str) -> Response:
        """Give items to a person, in place of somebody who has them, as an admin. What was written goes along, and its
        history says by whom. What cannot be given stays with whoever has it, as what they have open right now, and the
        answer says why."""
        found, asked = self._work("manage"), _asked_in(request, GiveRequestSerializer)

        def work() -> Response:
            chosen = _chosen(found, asked["items"])
            members = User.objects.filter(memberships__project=found.campaign.project)
            person = members.filter(username=asked["person"]).first()
            if person is None:
                raise ValidationError({"person": ["Nobody in this project has this name."]})
            done = Handover(found.campaign, person).of(chosen)
            given = done.pop("", 0)
            stayed = [{"why": why, "said": REFUSED[why], "items": count} for why, count in sorted(done.items())]
            return Response(GivenSerializer({"given": given, "stayed": stayed}).data)

        return idempotency.once(request, work)

    @extend_schema(request=PriorityRequestSerializer, responses=WeighedSerializer, parameters=[idempotency.PARAMETER])
    @action(detail=True, methods=["post"], url_path="work/priority")
    def priority(self, request: Request, pk: str) -> Response:
        """Have items handed out first, as usual, or last, with the others of their sessions, as an admin."""
        found, asked = self._work("manage"), _asked_in(request, PriorityRequestSerializer)

        def work() -> Response:
            sessions = Session.objects.filter(items__in=_chosen(found, asked["items"])).distinct()
            count, weight = sessions.count(), WEIGHTS[asked["priority"]]
            Session.objects.filter(pk__in=sessions.values("pk")).weigh(weight)
            return Response(WeighedSerializer({"sessions": count, "priority": weight}).data)

        return idempotency.once(request, work)

    @extend_schema(responses=CampaignQualitySerializer)
    @action(detail=True, pagination_class=None)
    def quality(self, request: Request, pk: str) -> Response:
        """How good the work is per person and code, how many items are submitted a week, and what is left, for those
        who review. Items of test splits whose gold is hidden from you count in nothing but what is left."""
        found = self._work("review")
        weeks, progress = found.weeks(), progress_of([found.campaign])[found.campaign.pk]
        left = {stage: tally.left for stage, tally in progress.stages.items()}
        said = weeks_left(weeks, timezone.now().date(), left)
        told = {
            "people": found.people(),
            "codes": found.codes(),
            "weeks": weeks,
            "left": [{"stage": stage, "left": left[stage], "said": said[stage]} for stage in Stage.values],
        }
        return Response(CampaignQualitySerializer(told).data)


def _asked_in(request: Request, serializer: type[RequestSerializer]) -> dict[str, Any]:
    wanted = serializer(data=request.data)
    wanted.is_valid(raise_exception=True)
    return wanted.validated_data


def _chosen(found: CampaignWork, keys: list[int]) -> ItemQuerySet:
    """These items of a campaign. ValidationError where the user may not see one of them."""
    chosen = found.items().filter(pk__in=keys)
    if unknown := set(keys) - set(chosen.values_list("pk", flat=True)):
        named = ", ".join(map(str, sorted(unknown)[:5]))
        raise ValidationError({"items": [f"Of this campaign's items that you may see, none has this number: {named}."]})
    return chosen

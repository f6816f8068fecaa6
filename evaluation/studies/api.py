"""Studies, shards and scores; a POST to studies starts an evaluation."""

from typing import Any

from django.db.models import Prefetch, QuerySet
from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from agents.cookbook import saved
from agents.models import Run
from agents.runs.api import RunSerializer, RunViewSet
from annotations.access import idempotency, rules
from annotations.access.api_rules import ForecastThrottle, JobThrottle, ReadOnlyViewSet, StartsWork
from annotations.access.downloads import attachment
from annotations.access.people import signed_in
from annotations.models import Scope
from evaluation.comparing import choosing as comparing
from evaluation.comparing.serializers import ComparisonSerializer
from evaluation.comparing.steps import RunDifferences
from evaluation.models import ReviewedRun, Score, Shard, Study
from evaluation.reports import formats, tables
from evaluation.reports.serializers import ReportTableSerializer, StudyTasksSerializer
from evaluation.reports.task_tables import StudyTasks
from evaluation.scores import exporting
from evaluation.scores.reviewed import store_all_scores
from evaluation.studies import filters, serializers
from evaluation.studies.connecting import Through
from evaluation.studies.expecting import expected
from evaluation.studies.findings import RunFindings
from evaluation.studies.page import RunFailures, failed_steps, plots_context

FAILURES = 200  # steps that one answer names
COMPARED = 200  # conversations that one answer names


class MetricsMixin(viewsets.GenericViewSet):
    """Gives a viewset its metrics, as JSON and as CSV."""

    scopes = {"metrics_csv": Scope.EXPORT, "trajectories_jsonl": Scope.EXPORT}

    def scores(self) -> QuerySet[Score]:
        """The scores of the object that the URL names."""
        raise NotImplementedError

    @extend_schema(responses=serializers.MetricSerializer(many=True), filters=False)
    @action(detail=True, pagination_class=None)
    def metrics(self, request: Request, pk: str) -> Response:
        """Every metric with its interval, for both presets."""
        return Response(exporting.metric_rows(self.scores()))

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.STR}, filters=False)
    def metrics_csv(self, request: Request, pk: str) -> HttpResponseBase:
        """The rows of `metrics` as CSV."""
        text = exporting.to_csv(exporting.METRIC_COLUMNS, exporting.metric_rows(self.scores()))
        name = f"{self.get_queryset().model._meta.model_name}-{pk}-metrics.csv"
        return attachment(HttpResponse(text, content_type="text/csv; charset=utf-8"), name)


class ScoredRunViewSet(MetricsMixin, RunViewSet):
    """Runs: one recipe, one split, one seed; with their metrics."""

    filterset_class = filters.StudyRunFilter

    def get_serializer_class(self) -> type[RunSerializer]:
        return RunSerializer if self.action == "list" else serializers.ScoredRunSerializer

    def scores(self) -> QuerySet[Score]:
        return Score.objects.filter(run=self.get_object())

    @extend_schema(
        responses=ComparisonSerializer,
        filters=False,
        parameters=[OpenApiParameter("runs", str, required=True, description="Two to four ids, with commas.")],
    )
    @action(detail=False, pagination_class=None)
    def compare(self, request: Request) -> Response:
        """Runs on one dataset against the first of them, over the steps that all have decided."""
        asked = [request.query_params.get("runs", "")]
        runs = comparing.chosen(request.user, asked)
        lost = comparing.left_out(request.user, asked, [run.pk for run in runs])
        if said := lost or comparing.problem(runs) or ("" if runs else "Name two to four runs that exist: ?runs=1,2."):
            raise ValidationError({"runs": [said]})
        gold = comparing.tells_gold(rules.rights_of(request), runs)
        found = RunDifferences(runs)
        told = {"runs": comparing.lettered(runs), "gold": gold, "differences": found.paired() if gold else []}
        told["reviewed"] = ReviewedRun.objects.judged_otherwise(runs) if gold else []
        told["slices"] = found.slices() if gold else []
        told["conversations"] = found.conversations()[:COMPARED] if gold else []
        return Response(ComparisonSerializer(told).data)

    @extend_schema(responses=serializers.ScannerFindingSerializer(many=True), filters=False)
    @action(detail=True, pagination_class=None)
    def findings(self, request: Request, pk: str) -> Response:
        """What scanners found in the run's failed steps, of those whose gold the user may see; empty until it is over
        and scanned."""
        run = Run.objects.with_progress().get(pk=self.get_object().pk)
        visible = set(failed_steps(request.user, run).values_list("pk", flat=True))
        found = RunFindings(request.user, run, visible)
        listed = [*found.of_scanners(), *found.of_models()]
        return Response(serializers.ScannerFindingSerializer(listed, many=True).data)

    @extend_schema(
        responses=serializers.FailuresSerializer,
        filters=False,
        parameters=[OpenApiParameter("reason"), OpenApiParameter("website")],
    )
    @action(detail=True, pagination_class=None)
    def failures(self, request: Request, pk: str) -> Response:
        """The run's failed steps by reason, of those whose gold the user may see: the counts, and the first steps. Of a
        live run, its failed episodes by cause, each by its last step."""
        run = Run.objects.with_progress().get(pk=self.get_object().pk)
        failed = RunFailures(request.user, run)
        rows, _ = failed.listed(request.query_params)
        found = {"reasons": [{"key": one.key, "label": one.label, "count": n} for one, n in failed.counted()]}
        return Response(serializers.FailuresSerializer(found | {"steps": rows[:FAILURES]}).data)


class StudyViewSet(StartsWork, MetricsMixin, ReadOnlyViewSet):
    """Studies: planned comparisons."""

    queryset = Study.objects.select_related("created_by", "project").prefetch_related(
        Prefetch("runs", queryset=Run.objects.order_by("id"))
    )
    serializer_class = serializers.StudySerializer
    filterset_class = filters.StudyFilter
    throttle_classes = [JobThrottle]

    def scores(self) -> QuerySet[Score]:
        return Score.objects.filter(run__in=rules.visible(self.request.user, self.get_object().runs.all()))

    @extend_schema(
        request=serializers.StudyRequestSerializer,
        responses={202: serializers.StudySerializer},
        parameters=[idempotency.PARAMETER],
    )
    def create(self, request: Request) -> Response:
        """Start an evaluation; it runs in the background and its runs fill up with steps and scores."""
        from evaluation.studies.running import create_study

        wanted = serializers.StudyRequestSerializer(data=request.data, context=self.get_serializer_context())
        wanted.is_valid(raise_exception=True)
        rules.require(request.user, "evaluate", wanted.validated_data["dataset"].project)

        def work() -> Response:
            try:
                study = create_study(user=signed_in(request), **_study_of(wanted.validated_data))
            except ValueError as error:
                raise ValidationError({"detail": str(error)}) from error
            location = reverse("api:study-detail", [study.pk], request=request)
            data = self.get_serializer(study).data
            return Response(data, status=status.HTTP_202_ACCEPTED, headers={"Location": location})

        return idempotency.once(request, work)

    @extend_schema(request=serializers.StudyRequestSerializer, responses=serializers.ForecastSerializer)
    @action(detail=False, methods=["post"], pagination_class=None, throttle_classes=[ForecastThrottle])
    def forecast(self, request: Request) -> Response:
        """What a study would take: runs, steps, seconds and money, as far as earlier runs tell. Starts nothing."""
        from evaluation.studies.running import check_asked

        wanted = serializers.StudyRequestSerializer(data=request.data, context=self.get_serializer_context())
        wanted.is_valid(raise_exception=True)
        asked = wanted.validated_data
        rules.require(request.user, "evaluate", asked["dataset"].project)
        preset = {"preset": asked["preset"]} if asked["preset"] else {}
        where = (asked["splits"], asked["limit"], asked["websites"], asked["overrides"] | preset)
        through = Through(asked["connection"], asked["encoder"])
        try:
            recipes = [saved.get(name, request.user) for name in asked["recipes"]]
            check_asked(recipes, asked["overrides"], asked["preset"], asked["dataset"], through)
        except ValueError as error:
            raise ValidationError({"detail": str(error)}) from error
        found = expected(request.user, asked["dataset"], recipes, *where, through=through)
        return Response(serializers.ForecastSerializer(found.times(len(asked["seeds"]))).data)

    @extend_schema(
        responses=serializers.PlotSerializer(many=True),
        filters=False,
        parameters=[OpenApiParameter("preset", enum=Study.Preset.values)],
    )
    @action(detail=True, pagination_class=None)
    def plots(self, request: Request, pk: str) -> Response:
        """The points of the study's plots; slices of test splits only for those who may see their gold."""
        found = plots_context(rules.rights_of(request), self.get_object(), request.query_params)
        return Response(serializers.PlotSerializer([plot.data for plot in found["plots"]], many=True).data)

    @extend_schema(
        responses=StudyTasksSerializer,
        filters=False,
        parameters=[OpenApiParameter("runs", str, description="Up to four ids, with commas; else the first.")],
    )
    @action(detail=True, pagination_class=None)
    def tasks(self, request: Request, pk: str) -> Response:
        """Its live runs on MiniWoB++ task by task, beside published numbers."""
        found = StudyTasks(request.user, self.get_object(), request.query_params)
        if found.problem:
            raise ValidationError({"runs": [found.problem]})
        return Response(StudyTasksSerializer(found).data)

    @extend_schema(
        responses=ReportTableSerializer(many=True),
        filters=False,
        parameters=[OpenApiParameter("preset", enum=Study.Preset.values)],
    )
    @action(detail=True, pagination_class=None)
    def report(self, request: Request, pk: str) -> Response:
        """The tables of `manage.py report`, one for each dataset, with the published numbers of each recipe."""
        preset = request.query_params.get("preset", "")
        if preset and preset not in Study.Preset.values:
            raise ValidationError({"preset": f"Choose one of {', '.join(Study.Preset.values)}."})
        sees = tables.seen_by(rules.rights_of(request))
        return Response(formats.objects(tables.report([self.get_object()], preset, sees)))

    @extend_schema(request=None, responses=serializers.StudySerializer)
    @action(detail=True, methods=["post"], throttle_classes=[])
    def cancel(self, request: Request, pk: str) -> Response:
        """Cancel a study after the batch of steps at work; what is stored stays and is scored."""
        study = self.get_object()
        rules.require(request.user, "evaluate", study.project)
        study.cancel(store_all_scores)
        return Response(self.get_serializer(self.get_object()).data)

    @extend_schema(request=serializers.BudgetSerializer, responses=serializers.StudySerializer)
    @action(detail=True, methods=["post"])
    def budget(self, request: Request, pk: str) -> Response:
        """Change the limits on what the study's model calls may use; null lifts one, and one that is not named stays.
        `resume` goes on where it stopped."""
        study = self.get_object()
        rules.require(request.user, "evaluate", study.project)
        wanted = serializers.BudgetSerializer(data=request.data, partial=True)
        wanted.is_valid(raise_exception=True)
        kept = {"tokens": study.budget_tokens, "cost": study.budget_cost, "seconds": study.budget_seconds}
        try:
            study.set_budget(**kept | wanted.validated_data)
        except ValueError as error:
            raise ValidationError({"detail": str(error)}) from error
        return Response(self.get_serializer(self.get_object()).data)

    @extend_schema(request=None, responses=serializers.StudySerializer, parameters=[idempotency.PARAMETER])
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        """Resume a study: decide the steps that have no result yet."""
        from evaluation.studies.running import resume_study

        study = self.get_object()
        rules.require(request.user, "evaluate", study.project)

        def work() -> Response:
            try:
                resume_study(study)
            except ValueError as error:
                raise ValidationError({"detail": str(error)}) from error
            return Response(self.get_serializer(self.get_object()).data)

        return idempotency.once(request, work)


def _study_of(asked: dict[str, Any]) -> dict[str, Any]:
    """A request's fields as arguments of `create_study`."""
    rest = dict(asked)
    through = Through(rest.pop("connection"), rest.pop("encoder"))
    return rest | {"through": through}


class ShardViewSet(ReadOnlyViewSet):
    """Shards: the parts of runs that workers do, each under one lease."""

    queryset = Shard.objects.select_related("run__dataset").defer("run__recipe")
    serializer_class = serializers.ShardSerializer
    filterset_class = filters.ShardFilter


class ScoreViewSet(ReadOnlyViewSet):
    """Scores: metric values of runs with their intervals."""

    queryset = Score.objects.with_conversations()
    serializer_class = serializers.ScoreSerializer
    filterset_class = filters.ScoreFilter

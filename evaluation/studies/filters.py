"""Filters of the API's lists of this app. Parents are numbers, as in `annotations.corpus.filters`."""

from django_filters import rest_framework as filters

from agents.runs.api import RunFilter
from annotations.corpus.filters import CreatedAfter
from evaluation.models import Score, Shard, Study


class StudyFilter(CreatedAfter):
    project = filters.NumberFilter()
    dataset = filters.NumberFilter(field_name="runs__dataset", distinct=True)

    class Meta:
        model = Study
        fields = ["preset"]


class StudyRunFilter(RunFilter):
    study = filters.NumberFilter(field_name="studies")


class ShardFilter(CreatedAfter):
    run = filters.NumberFilter()
    finished_after = filters.IsoDateTimeFilter(field_name="finished_at", lookup_expr="gt")

    class Meta:
        model = Shard
        fields = ["state"]


class ScoreFilter(filters.FilterSet):
    run = filters.NumberFilter()
    study = filters.NumberFilter(field_name="run__studies")
    dataset = filters.NumberFilter(field_name="run__dataset")

    class Meta:
        model = Score
        fields = ["preset", "metric", "grouping", "headline"]

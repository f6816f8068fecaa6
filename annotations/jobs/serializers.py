"""JSON of background jobs and of the requests that start them."""

from typing import Any

from rest_framework import serializers
from rest_framework.reverse import reverse

from annotations.access import rules
from annotations.access.requests import OwnRelatedField, RequestSerializer
from annotations.corpus.serializers import UsernameField
from annotations.forms import MOST
from annotations.models import Dataset, Job, Project


class JobSerializer(serializers.ModelSerializer):
    """An import or export with its progress; the report is in the detail."""

    created_by = UsernameField(source="created_by.username", default=None, read_only=True)
    progress = serializers.SerializerMethodField(help_text="phase, done, total, unit, per_second.")
    file = serializers.SerializerMethodField(help_text="Where the result of a finished export is downloaded.")

    class Meta:
        model = Job
        fields = [
            *(
                "id",
                "kind",
                "project",
                "dataset",
                "params",
                "state",
                "progress",
                "last_error",
                "error_id",
                "peak_memory",
                "gpu_memory",
                "attempt",
            ),
            *("cancel_requested", "created_by", "created_at", "heartbeat_at", "finished_at", "file"),
        ]

    def to_representation(self, instance: Job) -> dict[str, Any]:
        report, last_error = rules.told_of(self.context["rights"], instance)
        row = super().to_representation(instance)
        return row | {"last_error": last_error} | ({"report": report} if "report" in row else {})

    def get_progress(self, job: Job) -> dict[str, Any]:
        return {key: value for key, value in job.progress.items() if key != "resume"}

    def get_file(self, job: Job) -> str | None:
        return reverse("api:job-file", [job.pk], request=self.context["request"]) if job.has_result else None


class JobDetailSerializer(JobSerializer):
    class Meta(JobSerializer.Meta):
        fields = [*JobSerializer.Meta.fields, "report"]


class ImportRequestSerializer(RequestSerializer):
    """What to import: an uploaded file, or a path below the server's import folder."""

    project = OwnRelatedField(slug_field="slug", queryset=Project.objects.all(), help_text="Its slug.")
    format = serializers.CharField(help_text="mt-mind2web, mind2web, weblinx, miniwob-demos, jsonl.")
    name = serializers.CharField(help_text="Of the dataset: a new one, or the one to add to.")
    split = serializers.CharField(required=False, allow_blank=True, default="")
    limit = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1, max_value=MOST)
    file = serializers.FileField(required=False, default=None, allow_empty_file=True)
    path = serializers.CharField(required=False, allow_blank=True, default="")
    replace_judged = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Replace conversations that changed also where that loses what people said of them.",
    )


class ExportRequestSerializer(RequestSerializer):
    """What to export; test splits are left out for those who may not see their gold."""

    dataset = OwnRelatedField(slug_field="name", queryset=Dataset.objects.all(), help_text="Its name.")
    format = serializers.CharField(help_text="mt-mind2web, mind2web, weblinx, jsonl.")
    split = serializers.CharField(required=False, allow_blank=True, default="")
    release = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        help_text="The version of one: its frozen content with checksums, datasheet and data of the annotation. "
        "Without it the dataset as it is.",
    )

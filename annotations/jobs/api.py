"""Imports and exports over the API: starting them, watching, cancelling, retrying, downloading."""

from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.core.exceptions import ValidationError as ModelValidationError
from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from annotations.access import idempotency, rules
from annotations.access.api_rules import AnyAccept, JobThrottle, ReadOnlyViewSet, StartsWork
from annotations.access.downloads import send_file
from annotations.access.json_input import StrictJSONParser
from annotations.corpus import filters
from annotations.jobs.serializers import (
    ExportRequestSerializer,
    ImportRequestSerializer,
    JobDetailSerializer,
    JobSerializer,
)
from annotations.models import Job, Scope

ROOM_FOR_FIELDS = 1024 * 1024  # of a form, besides its file


def as_api_error(error: ModelValidationError) -> serializers.ValidationError:
    """Django's validation error as DRF's: the same messages under the same fields."""
    if hasattr(error, "error_dict"):
        return serializers.ValidationError(error.message_dict)
    return serializers.ValidationError({"detail": error.messages})


class JobViewSet(StartsWork, ReadOnlyViewSet):
    """Imports and exports with their progress."""

    scopes = {"file": Scope.EXPORT}
    queryset = Job.objects.select_related("created_by", "project")
    filterset_class = filters.JobFilter

    def get_serializer_class(self) -> type[JobSerializer]:
        return JobSerializer if self.action == "list" else JobDetailSerializer

    @extend_schema(request=None, responses=JobDetailSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """A queued job ends at once, a running one at its next batch."""

        job = self.get_object()
        rules.require(request.user, job.kind, job.project)
        job.cancel()
        return Response(self.get_serializer(self.get_object()).data)

    @extend_schema(request=None, responses=JobDetailSerializer, parameters=[idempotency.PARAMETER])
    @action(detail=True, methods=["post"], throttle_classes=[JobThrottle])
    def retry(self, request: Request, pk: str) -> Response:
        """Queue a job that ended without success again; it goes on where it stopped."""
        from annotations.jobs import running

        job = self.get_object()
        rules.require(request.user, job.kind, job.project)

        def work() -> Response:
            try:
                again = running.retry(job)
            except ModelValidationError as error:
                raise as_api_error(error) from error
            return Response(self.get_serializer(again).data)

        return idempotency.once(request, work)

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    @action(detail=True, content_negotiation_class=AnyAccept)
    def file(self, request: Request, pk: str) -> HttpResponseBase:
        """The result of an export, with ETag and byte ranges."""
        job = self.get_object()
        if not job.has_result:
            raise Http404
        rules.require_download(request.user, job)
        return send_file(request._request, job.file, job.download_name, "application/zip", job.project)


class StartsJob(StartsWork):
    """A POST that queues a job and answers 202 with it."""

    throttle_classes = [JobThrottle]
    ability = ""

    def start(self, **values: Any) -> Job:
        raise NotImplementedError

    def create(self, request: Request) -> Response:
        # Asked before the body is read, which may be gigabytes; the project named in it is checked by `start`.
        if not rules.projects(request.user, self.ability).exists():
            raise PermissionDenied("Your role may not start this in any project; ask an admin of yours.")
        wanted = self.get_serializer(data=request.data)
        wanted.is_valid(raise_exception=True)

        def work() -> Response:
            try:
                job = self.start(user=request.user, **wanted.validated_data)
            except ModelValidationError as error:
                raise as_api_error(error) from error
            context = {**self.get_serializer_context(), "rights": rules.rights_of(request)}
            data = JobDetailSerializer(job, context=context).data
            location = reverse("api:job-detail", [job.pk], request=request)
            return Response(data, status=status.HTTP_202_ACCEPTED, headers={"Location": location})

        return idempotency.once(request, work)


_STARTED: dict[str, Any] = {"responses": {202: JobDetailSerializer}, "parameters": [idempotency.PARAMETER]}


class ImportViewSet(StartsJob):
    """Start an import."""

    serializer_class = ImportRequestSerializer
    ability = "import"
    parser_classes = [MultiPartParser, StrictJSONParser]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Refuses what is too large before anything reads it: checking a session's CSRF token reads the whole form."""
        if int(request.META.get("CONTENT_LENGTH") or 0) > settings.MAX_UPLOAD_BYTES + ROOM_FOR_FIELDS:
            said = f"At most {settings.MAX_UPLOAD_BYTES:,} bytes; put larger files into the server's import folder."
            return JsonResponse({"detail": said}, status=413)
        return super().dispatch(request, *args, **kwargs)

    @extend_schema(**_STARTED)
    def create(self, request: Request) -> Response:
        """Import an uploaded file (multipart) or a path below the server's import folder, as a background job."""
        return super().create(request)

    def start(self, **values: Any) -> Job:
        from annotations.jobs.running import start_import

        return start_import(upload=values.pop("file"), **values)


class ExportViewSet(StartsJob):
    """Start an export."""

    scopes = {"create": Scope.EXPORT}
    serializer_class = ExportRequestSerializer
    ability = "export"

    @extend_schema(**_STARTED)
    def create(self, request: Request) -> Response:
        """Export a dataset, or a release of it, as a background job; the job's `file` is the download."""
        return super().create(request)

    def start(self, **values: Any) -> Job:
        from annotations.jobs.running import start_export

        return start_export(**values)

"""The `Idempotency-Key` header: the same key of the same user within 24 hours gives the same answer."""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.access import rules
from annotations.access.people import signed_in
from annotations.models.accounts.idempotency import IdempotencyKey

KEPT = timedelta(hours=24)
REPLAYED = "Idempotency-Replayed"
PARAMETER = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="Any text of at most 200 characters, new for each piece of work. A request that is sent again with the "
    "same key within 24 hours starts nothing and gets the first answer, with the header Idempotency-Replayed; where "
    "roles have changed since, it starts nothing either and is refused (409).",
)


class KeyReused(APIException):
    """The key belongs to another request."""

    status_code = 422
    default_code = "idempotency_key_reused"
    default_detail = "This Idempotency-Key was used for another request; choose a new one."


class RightsChanged(APIException):
    """The first answer shows what could be seen then."""

    status_code = 409
    default_code = "rights_changed"
    default_detail = (
        "This request was answered before and starts nothing again; what you may see and do has changed since, so the "
        "answer is not repeated. Look for what it started in the lists."
    )


def once(request: Request, work: Callable[[], Response]) -> Response:
    """The answer of `work`, or the stored one when this request was answered before.

    Key, work and answer are one transaction: two requests at the same time wait for one another on the unique index,
    and work that fails leaves no key behind. Raises KeyReused, RightsChanged and ValidationError.
    """
    key = request.headers.get("Idempotency-Key", "")
    if not key:
        return work()
    if len(key) > 200:
        raise ValidationError({"Idempotency-Key": ["At most 200 characters."]})
    mine = IdempotencyKey.objects.filter(user=signed_in(request))
    mine.filter(created_at__lt=timezone.now() - KEPT).delete()
    sha256, rights = _digest(request), rules.rights_of(request).epoch
    try:
        with transaction.atomic():
            row = IdempotencyKey.objects.create(user=signed_in(request), key=key, request_sha256=sha256, rights=rights)
            response = work()
            row.status, row.response = response.status_code, json.loads(JSONRenderer().render(response.data))
            row.save(update_fields=["status", "response"])
            return response
    except IntegrityError:
        before = mine.filter(key=key).first()
        if before is None:  # another constraint, in the work itself
            raise
    if before.request_sha256 != sha256:
        raise KeyReused
    if before.rights != rights:
        raise RightsChanged
    return Response(before.response, status=before.status, headers={REPLAYED: "true"})


def _digest(request: Request) -> str:
    """A digest of what makes two requests the same: method, path and content; an uploaded file counts by its name and
    size, as reading gigabytes would take long."""
    sent: Any = request.data  # a list, or a mere text, where the body is not read further
    if isinstance(sent, dict):
        sent = {name: [it.name, it.size] if isinstance(it, UploadedFile) else it for name, it in sent.items()}
    text = json.dumps([request.method, request.path, sent], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()

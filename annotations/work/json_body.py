"""JSON that browsers send to the workbench."""

import json
from typing import Any

from django.http import HttpRequest

from annotations.work.operations import BadEdit


def read_body(request: HttpRequest) -> dict[str, Any]:
    """The object in a request's body; BadEdit (answered 400) for anything else."""
    try:
        body = json.loads(request.body or b"{}")
    except ValueError as error:
        raise BadEdit("The request is no JSON.") from error
    if not isinstance(body, dict):
        raise BadEdit("The request is no JSON object.")
    return body

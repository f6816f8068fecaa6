"""JSON that browsers send to the workbench."""

from typing import Any

from django.http import HttpRequest

from annotations.access.json_input import BadJson, parse_json
from annotations.work.desk.edits.operations import BadEdit


def read_body(request: HttpRequest) -> dict[str, Any]:
    """The object in a request's body; BadEdit (answered 400) for anything else."""
    try:
        body = parse_json(request.body or b"{}")
    except BadJson as error:
        raise BadEdit(str(error)) from error
    if not isinstance(body, dict):
        raise BadEdit("The request is no JSON object.")
    return body

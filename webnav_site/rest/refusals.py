"""Adds to the API schema what the API answers when it refuses a request: said once, as the same code refuses in all
views."""

from typing import Any

DETAIL = {
    "type": "object",
    "properties": {"detail": {"type": "string"}},
    "required": ["detail"],
    "description": "Why not, in a sentence.",
}
MISTAKES = {
    "type": "object",
    "additionalProperties": {
        "anyOf": [
            {"type": "string"},
            {"type": "array", "items": {"anyOf": [{"type": "string"}, {"$ref": "#/components/schemas/Mistakes"}]}},
            {"$ref": "#/components/schemas/Mistakes"},
        ]
    },
    "description": "What is wrong, by field, filter or header; `detail` for the whole request.",
}
WORDS = {
    "400": "Something in the request is wrong; nothing was changed.",
    "401": "Nobody is signed in, or the token is unknown or has expired.",
    "403": "The role, or the scope of the token, does not allow it.",
    "404": "There is nothing at this address that you may see.",
    "422": "The Idempotency-Key belongs to another request.",
    "429": "Too much was started within an hour; `Retry-After` says in how many seconds there is room again.",
}


def tell_refusals(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """Add the refusals to every operation of the schema; a postprocessing hook of drf-spectacular."""
    result["components"]["schemas"] |= {"Refusal": DETAIL, "Mistakes": MISTAKES}
    for path, operations in result["paths"].items():
        for operation in operations.values():
            for status in _refusals(path, operation):
                operation["responses"].setdefault(status, _response(status))
    return result


def _refusals(path: str, operation: dict[str, Any]) -> set[str]:
    places = {parameter["in"] for parameter in operation.get("parameters", [])}
    return (
        {"401"}
        | ({"400"} if "requestBody" in operation or places & {"query", "header"} else set())
        | ({"403"} if {} not in operation.get("security", []) else set())
        | ({"404"} if "{" in path else set())
        | ({"422"} if "header" in places else set())  # an Idempotency-Key
        | ({"429"} if "header" in places and "201" not in operation["responses"] else set())  # it starts work
    )


def _response(status: str) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{'Mistakes' if status == '400' else 'Refusal'}"}
    return {"description": WORDS[status], "content": {"application/json": {"schema": schema}}}

"""The OpenAPI schema of the app, as the generator makes it."""

from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator


@cache
def api_schema() -> dict[str, Any]:
    """Made once for all tests of a process, which read it: it takes half a second of a processor."""
    return SchemaGenerator().get_schema(public=True)

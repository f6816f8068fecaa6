"""Cursor pagination of the API: links stay valid while rows are added."""

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError as RefusedValue
from django.db.models import QuerySet
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.views import APIView

from annotations.text.amounts import whole


class StablePagination(CursorPagination):
    """Pages in the order of the primary key, or of the view's `page_order`; 100 rows a page, up to 1,000 with
    `page_size`."""

    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 1000

    def get_page_size(self, request: Request) -> int:
        """The number of rows of a page. A number that is too large is an error: who asks for 5,000 rows and gets 1,000
        takes these for all."""
        asked = request.query_params.get(self.page_size_query_param, "")
        if not asked:
            return self.page_size
        size = whole(asked) or 0
        if not 1 <= size <= self.max_page_size:
            raise ValidationError({"page_size": [f"Give a whole number from 1 to {self.max_page_size:,}."]})
        return size

    def paginate_queryset(
        self, queryset: QuerySet | Sequence[Any], request: Request, view: APIView | None = None
    ) -> list[Any] | None:
        """The rows of a page. A cursor that somebody has written, with a place that the column cannot have, is no
        cursor."""
        try:
            return super().paginate_queryset(queryset, request, view)
        except (RefusedValue, TypeError, ValueError) as error:
            if self.cursor_query_param not in request.query_params:
                raise
            raise NotFound(self.invalid_cursor_message) from error

    def get_ordering(self, request: Request, queryset: QuerySet, view: APIView) -> tuple[str]:
        return (getattr(view, "page_order", "id"),)

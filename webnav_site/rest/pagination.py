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
        cursor = self.decode_cursor(request)
        if isinstance(queryset, QuerySet) and cursor is not None and cursor.position is not None:
            (order,) = self.get_ordering(request, queryset, view)
            try:
                queryset.model._meta.get_field(order).to_python(cursor.position)
            except RefusedValue as error:
                raise NotFound(self.invalid_cursor_message) from error
        return super().paginate_queryset(queryset, request, view)

    def get_ordering(self, request: Request, queryset: QuerySet, view: APIView | None) -> tuple[str]:
        return (getattr(view, "page_order", "id"),)

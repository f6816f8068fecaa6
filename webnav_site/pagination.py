"""Cursor pagination: links stay valid while rows are added."""

from typing import Any

from django.db.models import QuerySet
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request


class StablePagination(CursorPagination):
    """By primary key, or by the view's `page_order`; 100 rows a page, up to 1,000 with `page_size`."""

    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 1000

    def get_ordering(self, request: Request, queryset: QuerySet, view: Any) -> tuple[str]:
        return (getattr(view, "page_order", "id"),)

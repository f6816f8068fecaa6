"""Cursor pagination: links stay valid while rows are added."""

from rest_framework.pagination import CursorPagination


class StablePagination(CursorPagination):
    """By primary key, 100 rows a page, up to 1,000 with `page_size`."""

    ordering = "id"
    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 1000

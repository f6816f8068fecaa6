"""Filters of the API's lists. A filter that a list does not have is an error, as `?spilt=train` would else give every
row."""

from typing import Any

from django.db.models import ForeignKey, QuerySet
from django.http import HttpRequest
from django_filters import BooleanFilter, NumberFilter
from django_filters.rest_framework import DjangoFilterBackend, FilterSet
from rest_framework.exceptions import ValidationError
from rest_framework.settings import api_settings


class ParentsAsNumbers(FilterSet):
    """Filters of fields that are only named. As a choice of rows, which is django-filter's own, a parent of another
    project would be told from one that does not exist."""

    FILTER_DEFAULTS = {**FilterSet.FILTER_DEFAULTS, ForeignKey: {"filter_class": NumberFilter}}


class KnownFilters(DjangoFilterBackend):
    """django-filter's backend with errors for unknown filters. It filters lists only: details have parameters of their
    own."""

    filterset_base = ParentsAsNumbers

    def filter_queryset(self, request: HttpRequest, queryset: QuerySet, view: Any) -> QuerySet:
        if view.action == "list":
            filterset = self.get_filterset(request, queryset, view)
            known = dict(filterset.filters) if filterset else {}
            allowed = {*known, *_of_pages(view.paginator), api_settings.URL_FORMAT_OVERRIDE}
            if strange := sorted(set(request.GET) - allowed):
                there = f"There are: {', '.join(known)}." if known else "This list has none."
                raise ValidationError({name: [f"There is no such filter. {there}"] for name in strange})
            if unclear := [name for name, of in known.items() if _is_no_truth(of, request.GET.get(name, ""))]:
                raise ValidationError({name: ["Say true or false."] for name in unclear})
        return super().filter_queryset(request, queryset, view)


def _is_no_truth(of: Any, value: str) -> bool:
    """Whether this value of a yes-or-no filter is neither; django-filter would ignore the filter then, and give every
    row."""
    return isinstance(of, BooleanFilter) and value.lower() not in ("", "true", "false")


def _of_pages(paginator: Any) -> list[str]:
    return [paginator.cursor_query_param, paginator.page_size_query_param] if paginator else []

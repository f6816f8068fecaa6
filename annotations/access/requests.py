"""What serializers share that read what clients send: a field that nobody reads is an error and is not ignored, and a
row of another project does not exist."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotations.access import rules
from annotations.models.choices import MAX_REASON, as_reason


class RequestSerializer(serializers.Serializer):
    """Refuses fields that it does not have: `split` for `splits` would run a study on everything."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (strange := sorted(set(data) - set(self.fields) - {"csrfmiddlewaretoken"})):
            known = ", ".join(self.fields)
            raise serializers.ValidationError(
                {name: [f"There is no such field. There are: {known}."] for name in strange}
            )
        return super().to_internal_value(data)


@extend_schema_field({"type": "string", "maxLength": MAX_REASON})
class ReasonField(serializers.CharField):
    """Why somebody does something. One that is too long is refused in the words of pages."""

    def to_internal_value(self, data: Any) -> str:
        return as_reason(super().to_internal_value(data), serializers.ValidationError)


class OwnRows(serializers.RelatedField):
    """Finds rows of the user's projects; one of another project gives the same message as one that does not exist."""

    def get_queryset(self) -> QuerySet[Any]:
        rows = super().get_queryset()
        assert rows is not None
        return rules.visible(self.context["request"].user, rows)


class OwnRowField(OwnRows, serializers.PrimaryKeyRelatedField):
    """A row by its id."""


class OwnRelatedField(OwnRows, serializers.SlugRelatedField):
    """A row named by its slug."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, str) and "\0" in data:  # of a form: the database refuses to look for it
            self.fail("does_not_exist", slug_name=self.slug_field, value=data.replace("\0", ""))
        return super().to_internal_value(data)

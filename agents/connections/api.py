"""Connections over the API, for superusers. A key goes in and never comes out."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import permissions, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from agents.connections import views
from agents.llm.stored_endpoints import faults
from agents.models import Connection


class ConnectionSerializer(serializers.ModelSerializer):
    """`api_key` is written only; a change of `base_url` needs it again."""

    api_key = serializers.CharField(write_only=True, required=False, allow_blank=True, max_length=500)
    has_key = serializers.SerializerMethodField()

    class Meta:
        model = Connection
        fields = [
            *("id", "name", "kind", "base_url", "model", "api_key", "has_key", "price_prompt", "price_completion"),
            *("timeout", "concurrency", "attempts", "private", "is_default", "tested_at", "found"),
        ]
        read_only_fields = ["tested_at", "found"]

    def get_has_key(self, row: Connection) -> bool:
        return bool(row.sealed_key)

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        row = Connection.objects.get(pk=self.instance.pk) if isinstance(self.instance, Connection) else Connection()
        key = values.pop("api_key", None)
        if key is None and row.sealed_key and values.get("base_url", row.base_url) != row.base_url:
            raise serializers.ValidationError({"api_key": "The address is another one: give the key again."})
        for name, value in values.items():
            setattr(row, name, value)
        if key is not None:
            row.key = key
            values["sealed_key"] = row.sealed_key
        if found := faults(row):
            raise serializers.ValidationError({("api_key" if name == "key" else name): found[name] for name in found})
        return values | {"found": {}, "tested_at": None}  # the test was of the old settings


class ForSuperusers(permissions.BasePermission):
    """Lets superusers alone in, as a connection says where keys are sent and may reach into private networks."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)


class ConnectionViewSet(viewsets.ModelViewSet):
    """Endpoints that agents may ask. `POST …/test/` tests one and keeps what the test found out."""

    queryset = Connection.objects.all()
    serializer_class = ConnectionSerializer
    lookup_field = "name"

    def get_permissions(self) -> list[Any]:
        return [*super().get_permissions(), ForSuperusers()]

    def perform_create(self, serializer: BaseSerializer) -> None:
        serializer.save(created_by=self.request.user)

    @extend_schema(request=None, responses=ConnectionSerializer)
    @action(detail=True, methods=["post"])
    def test(self, request: Request, name: str) -> Response:
        found = self.get_object()
        views.test(found)
        return Response(self.get_serializer(found).data)

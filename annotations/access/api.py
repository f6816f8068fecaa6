"""Tokens over the API, and who one is."""

from datetime import timedelta

from django.contrib.auth import authenticate
from django.db.models import Q
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from knox.auth import TokenAuthentication
from knox.models import AuthToken
from knox.settings import knox_settings
from rest_framework import serializers, status
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotations.serializers import MeSerializer


class LoginSerializer(serializers.Serializer):
    username = serializers.CharField(max_length=150)
    password = serializers.CharField(max_length=1000, trim_whitespace=False, style={"input_type": "password"})
    days = serializers.IntegerField(min_value=1, max_value=365, default=30, help_text="Until the token expires.")


class TokenSerializer(serializers.Serializer):
    token = serializers.CharField(help_text="Shown once: only its digest is stored. Send `Authorization: Token …`.")
    expires_at = serializers.DateTimeField()


class LoginView(APIView):
    """A new token for a username and password."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    def get_authenticate_header(self, request: Request) -> str:
        return knox_settings.AUTH_HEADER_PREFIX  # so that a wrong password is 401, not 403

    @extend_schema(request=LoginSerializer, responses=TokenSerializer, auth=[])
    def post(self, request: Request) -> Response:
        """Exchange username and password for a token. Wrong ones give 401 whether or not the user exists."""
        wanted = LoginSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        values = wanted.validated_data
        user = authenticate(request._request, username=values["username"], password=values["password"])
        if user is None:
            raise AuthenticationFailed("Wrong username or password.")
        alive = AuthToken.objects.filter(Q(expiry=None) | Q(expiry__gt=timezone.now()), user=user)
        if alive.count() >= knox_settings.TOKEN_LIMIT_PER_USER:
            raise PermissionDenied(f"You have {alive.count()} tokens already: revoke one first.")
        row, token = AuthToken.objects.create(user, expiry=timedelta(days=values["days"]))
        return Response(TokenSerializer({"token": token, "expires_at": row.expiry}).data)


class LogoutView(APIView):
    """The end of a token."""

    authentication_classes = (TokenAuthentication,)

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request) -> Response:
        """Revoke the token that this request is made with."""
        request.auth.delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


class MeView(APIView):
    """The user that a request is made as."""

    @extend_schema(responses=MeSerializer)
    def get(self, request: Request) -> Response:
        """Name, projects, roles and what they allow."""
        return Response(MeSerializer(request.user).data)

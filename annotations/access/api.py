"""REST endpoints of signing in: making and ending tokens, and who the caller is."""

from django.conf import settings
from django.contrib.auth import authenticate, get_user_model
from django.contrib.auth.signals import user_logged_in
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from knox.settings import knox_settings
from rest_framework import serializers, status, viewsets
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotations.access import factors, rules
from annotations.access.people import signed_in
from annotations.access.sign_in.forms import is_right_code
from annotations.access.tokens.granting import TokenHeader, TooManyTokens, make_token, revoke
from annotations.access.trail import reading as trail
from annotations.models import AccessEvent, Membership, Scope


class OwnMembershipSerializer(serializers.ModelSerializer):
    """A membership as its holder sees it: with what it allows."""

    project_slug = serializers.CharField(source="project.slug", read_only=True)
    abilities = serializers.SerializerMethodField()

    class Meta:
        model = Membership
        fields = ["project", "project_slug", "role", "sees_test_gold", "abilities"]

    def get_abilities(self, membership: Membership) -> list[str]:
        return sorted(rules.ABILITIES[membership.role])


class MeSerializer(serializers.ModelSerializer):
    memberships = OwnMembershipSerializer(many=True, read_only=True)

    class Meta:
        model = get_user_model()
        fields = ["id", "username", "is_superuser", "memberships"]


class LoginSerializer(serializers.Serializer):
    username = serializers.CharField(max_length=150)
    password = serializers.CharField(max_length=1000, trim_whitespace=False, style={"input_type": "password"})
    code = serializers.CharField(
        max_length=20, default="", help_text="One-time or recovery code; needed where the account has a second factor."
    )
    name = serializers.CharField(max_length=80, default="", help_text="What the token is for.")
    days = serializers.IntegerField(
        min_value=1, max_value=settings.TOKEN_LONGEST_DAYS, default=30, help_text="Until the token expires."
    )
    scopes = serializers.ListField(
        child=serializers.ChoiceField(Scope.choices),
        default=list(Scope.values),
        allow_empty=False,
        help_text="What the token may be used for.",
    )


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
        if factors.has_factor(user) and not is_right_code(request._request, user, values["code"]):
            raise AuthenticationFailed("Give a code of your authenticator app as `code`, or make a token on the page.")
        user_logged_in.send(type(user), request=request._request, user=user)
        try:
            row, token = make_token(user, values["scopes"], values["days"], values["name"])
        except TooManyTokens as error:
            raise PermissionDenied(str(error)) from error
        return Response(TokenSerializer({"token": token, "expires_at": row.expiry}).data)


class LogoutView(APIView):
    """Revoking the token of a request."""

    scopes = {"post": None}  # any token may end itself

    authentication_classes = (TokenHeader,)

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request) -> Response:
        """Revoke the token that this request is made with."""
        revoke(signed_in(request), pk=request.auth.pk)
        return Response(status=status.HTTP_204_NO_CONTENT)


class MeView(APIView):
    """The user that a request is made as."""

    @extend_schema(responses=MeSerializer)
    def get(self, request: Request) -> Response:
        """Name, projects, roles and what they allow."""
        return Response(MeSerializer(request.user).data)


class AccessEventSerializer(serializers.ModelSerializer):
    class Meta:
        model = AccessEvent
        fields = trail.COLUMNS


class AccessEventViewSet(viewsets.ReadOnlyModelViewSet):
    """The trail of access: sign-ins, rights, tokens, exports and downloads. Superusers see all of it, admins what
    happened in their projects, others nothing."""

    queryset = AccessEvent.objects.all()
    serializer_class = AccessEventSerializer
    filterset_class = trail.TrailFilter
    scopes = {"list": Scope.MANAGE, "retrieve": Scope.MANAGE}

    def get_queryset(self) -> QuerySet[AccessEvent]:
        return trail.visible(self.request.user)

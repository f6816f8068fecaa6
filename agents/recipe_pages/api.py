"""Endpoints of recipes: reading, and preparing what one lacks."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.core.exceptions import ValidationError as Invalid
from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from agents.cookbook import saved, starters
from agents.recipe_pages.serializers import PreparationSerializer, RecipeSerializer
from agents.recipes import literature
from agents.training.prepare import preparing
from annotations.access import idempotency, rules
from annotations.access.api_rules import JobThrottle, StartsWork
from annotations.access.people import signed_in
from annotations.models.accounts.projects import User

BY_NAME = OpenApiParameter("id", str, OpenApiParameter.PATH)


class RecipeViewSet(StartsWork):
    """Every recipe, what it needs and whether it can run now; `POST …/prepare/` makes what it lacks."""

    serializer_class = PreparationSerializer
    pagination_class = None
    filter_backends = ()
    throttle_classes = [JobThrottle]

    @extend_schema(responses=RecipeSerializer(many=True))
    def list(self, request: Request) -> Response:
        """All recipes in one answer, without pages."""
        listed = saved.listed(request.user)
        return Response(
            [_recipe(*pair) for pair in zip(listed, _lacking_and_stand_ins(request.user, listed), strict=True)]
        )

    @extend_schema(responses=RecipeSerializer, parameters=[BY_NAME])
    def retrieve(self, request: Request, pk: str) -> Response:
        """One recipe by its name."""
        found = self._named(pk)
        return Response(_recipe(found, *_lacking_and_stand_ins(request.user, [found])))

    @extend_schema(responses=PreparationSerializer, parameters=[BY_NAME])
    @action(detail=True)
    def prepare(self, request: Request, pk: str) -> Response:
        """What can be made here for it, or is being made, with about how long that takes. Starts nothing."""
        return Response(self._preparation(self._named(pk)))

    @extend_schema(
        request=None,
        responses={202: PreparationSerializer},
        parameters=[BY_NAME, idempotency.PARAMETER],
    )
    @prepare.mapping.post
    def prepare_now(self, request: Request, pk: str) -> Response:
        """Start what makes it ready, as jobs. What is made or being made already is not started again."""
        found = self._named(pk)

        def work() -> Response:
            try:
                preparing.begin([found], signed_in(request))
            except Invalid as error:
                raise ValidationError({"detail": " ".join(error.messages)}) from error
            return Response(self._preparation(found), status=status.HTTP_202_ACCEPTED)

        return idempotency.once(request, work)

    def _named(self, name: str) -> literature.Recipe:
        found = next((recipe for recipe in saved.listed(self.request.user) if recipe.name == name), None)
        if found is None:
            raise Http404
        return found

    def _preparation(self, recipe: literature.Recipe) -> dict[str, Any]:
        """What preparing this recipe would make and is making, for the user who asks. Who may train in no project sees
        only what is being made in their projects."""
        user = self.request.user
        may = rules.projects(user, "train").exists()
        offer = preparing.of_user(user, may_prepare=may).offer(recipe)
        parts = offer.parts if may else offer.running
        return PreparationSerializer(
            {
                "recipe": recipe.name,
                "missing": _lacking_and_stand_ins(self.request.user, [recipe])[0][0],
                "seconds": offer.seconds if may else 0,
                "running_seconds": offer.running_seconds,
                "parts": parts,
            }
        ).data


def _lacking_and_stand_ins(
    user: User, recipes: Sequence[literature.Recipe]
) -> list[tuple[list[str], list[starters.StandIn]]]:
    return preparing.told_of(recipes, rules.projects(user))


def _recipe(recipe: literature.Recipe, told: tuple[list[str], list[starters.StandIn]]) -> dict:
    lacking, stand_ins = told
    return {
        "name": recipe.name,
        "can_run": not lacking,
        "missing": lacking,
        "stands_in": [asdict(one) for one in stand_ins],
        "recipe": literature.to_dict(recipe),
    }

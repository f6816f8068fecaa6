"""Recipes that people derived from others."""

from collections.abc import Mapping

from django.conf import settings
from django.db import models

from annotations.models import Project
from annotations.models.accounts.projects import User


class SavedRecipeQuerySet(models.QuerySet["SavedRecipe"]):
    def names(self) -> list[str]:
        return list(self.order_by("name").values_list("name", flat=True))

    def keep(
        self, name: str, parent: str, changes: Mapping[str, str], *, project: Project, by: User, description: str = ""
    ) -> "SavedRecipe":
        """Store a recipe of a project: the name of its parent, and the settings that differ from the parent's."""
        told = {"name": name, "description": description, "parent": parent, "changes": dict(changes)}
        return self.create(**told, project=project, created_by=by)


class SavedRecipe(models.Model):
    """A recipe that somebody derived from another: its parent's name and the settings that differ."""

    name = models.SlugField(max_length=100, unique=True)
    description = models.CharField(max_length=300, blank=True)
    parent = models.CharField(max_length=100)
    changes = models.JSONField(default=dict, blank=True, help_text="Dotted name of a setting -> its value as text.")
    project = models.ForeignKey(Project, models.CASCADE, related_name="recipes")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SavedRecipeQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

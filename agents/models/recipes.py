"""Recipes that people derived from others."""

from django.conf import settings
from django.db import models

from annotations.models import Project


class SavedRecipe(models.Model):
    """A recipe that somebody derived from another: its parent's name and the settings that differ."""

    name = models.SlugField(max_length=100, unique=True)
    description = models.CharField(max_length=300, blank=True)
    parent = models.CharField(max_length=100)
    changes = models.JSONField(default=dict, blank=True, help_text="Dotted name of a setting -> its value as text.")
    project = models.ForeignKey(Project, models.CASCADE, related_name="recipes")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

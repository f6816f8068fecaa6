"""Prompt packs that people made: copies with changed texts, and texts read from an author's repository."""

from typing import Any, Self

from django.conf import settings
from django.db import models, transaction

from agents.prompts.catalogue import misfit
from agents.prompts.packs import PACKAGED, NoSuchText, Pack, checked, packaged_pack, parted, webnav
from annotations.models import Project


class PromptPackQuerySet(models.QuerySet["PromptPack"]):
    def newest(self) -> Self:
        """The last version of each pack."""
        last = self.order_by("project", "name", "-version").distinct("project", "name")
        return self.filter(pk__in=last.values("pk"))

    def pack(self, reference: str, project: Project) -> Pack:
        """The pack that a recipe names in a project; without a version the newest. Raises NoSuchText."""
        if found := packaged_pack(reference):
            return found
        name, version = parted(reference)
        rows = self.filter(project=project, name=name)
        row = rows.filter(version=version).first() if version else rows.order_by("-version").first()
        if row is None:
            named = ", ".join([PACKAGED, *self._references(project)])
            raise NoSuchText(f"there is no prompt pack {reference} in {project}; there are {named}")
        return row.pack()

    def known(self, reference: str, project: Project) -> Pack | None:
        try:
            return self.pack(reference, project)
        except NoSuchText:
            return None

    def holding(self, reference: str, project: Project, *names: str) -> Pack:
        """The pack that a recipe names, in which each of these texts has a form that its use can show. Raises
        NoSuchText."""
        found = self.pack(reference, project)
        for name in names:
            if said := misfit(found.prompt(name)):
                raise NoSuchText(f"the prompt pack {found.reference} cannot be used: its {name!r} {said}")
        return found

    def _references(self, project: Project) -> list[str]:
        return [str(row) for row in self.filter(project=project).newest().order_by("name").defer("texts")]

    @transaction.atomic
    def add(self, project: Project, pack: Pack, **fields: Any) -> "PromptPack":
        """Store the pack as the next version of its name, or as the first. BadText says which text is not valid."""
        checked(pack)
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)  # two edits at once get two numbers
        last = self.filter(project=project, name=pack.name).order_by("-version").values_list("version", flat=True)
        number = (last.first() or 0) + 1
        made = Pack(pack.name, number, dict(pack.texts))
        return self.create(
            project=project, name=pack.name, version=number, texts=made.texts, sha256=made.sha256, **fields
        )


class PromptPack(models.Model):
    """One version of a pack. It never changes, as runs are planned with it; an edit makes the next version."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="prompt_packs")
    LONGEST_NAME = 60

    name = models.SlugField(max_length=LONGEST_NAME)
    version = models.PositiveIntegerField()
    texts = models.JSONField(help_text="Name of a text -> the text.")
    sha256 = models.CharField(max_length=64, help_text="Of the texts: equal ones are the same pack, whatever its name.")
    base = models.CharField(max_length=100, blank=True, help_text="The pack that it came from, such as webnav.")
    base_sha256 = models.CharField(max_length=64, blank=True)
    source = models.CharField(max_length=300, blank=True, help_text="The files that it was read from.")
    note = models.CharField(max_length=300, blank=True, help_text="What is different.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = PromptPackQuerySet.as_manager()

    class Meta:
        ordering = ["name", "-version"]
        constraints = [models.UniqueConstraint(fields=["project", "name", "version"], name="one_row_of_each_version")]

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"

    def pack(self) -> Pack:
        return Pack(self.name, self.version, self.texts)

    def base_pack(self) -> Pack | None:
        """The pack whose texts it was made from; None where it was made from none, or where that one is gone."""
        return type(self).objects.known(self.base, self.project) if self.base else None

    def comparable(self) -> list[str]:
        """The packs that it can be compared with: the one that it was made from, the packaged one, its other
        versions."""
        packs = type(self).objects
        versions = packs.filter(project=self.project, name=self.name).exclude(pk=self.pk)
        found = [self.base, webnav().reference, *map(str, versions.defer("texts"))]
        return [reference for reference in dict.fromkeys(found) if reference and packs.known(reference, self.project)]

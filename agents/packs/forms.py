"""Forms of prompt packs: a copy of one, and the texts of its next version."""

from typing import Any

from django import forms
from django.db.models import QuerySet

from agents.models import PromptPack
from agents.prompts.catalogue import MAX_TEXT, TEXTS, check_text
from agents.prompts.marks import BadText
from agents.prompts.packs import PACKAGED, Pack
from annotations.forms import offer_projects
from annotations.models import Project
from annotations.models.accounts.projects import User

ROWS = 3, 24  # of a field, at least and at most


class CopyPackForm(forms.Form):
    """The name of a copy, and the project that it belongs to."""

    name = forms.RegexField(
        r"^[a-z0-9][a-z0-9_-]*$",
        max_length=PromptPack.LONGEST_NAME,
        help_text="Small letters, digits, hyphens and underscores. Recipes call it so: prompts.pack=NAME.",
        error_messages={"invalid": "Use small letters, digits, hyphens and underscores."},
    )
    project = forms.ModelChoiceField(queryset=Project.objects.none(), help_text="Its studies can use it.")

    def __init__(self, *args: Any, projects: QuerySet[Project], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_projects(self, projects)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        name, project = values.get("name"), values.get("project")
        if name == PACKAGED:
            self.add_error("name", f"{PACKAGED} comes with the site; choose another name.")
        elif name and PromptPack.objects.filter(project=project, name=name).exists():
            self.add_error("name", f"{project} has a pack {name} already.")
        return values


class TextsForm(forms.Form):
    """A field for every text that a pack may have. A field left empty means that the pack has no such text."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    note = forms.CharField(max_length=300, required=False, help_text="One sentence: what is different?")

    def __init__(self, data: Any = None, *, row: PromptPack) -> None:
        super().__init__(data, initial={"version": row.version, **row.texts})
        self.row = row
        for name, kind in TEXTS.items():
            lines = row.texts.get(name, "").count("\n") + len(row.texts.get(name, "")) // 110 + 1
            filled = f" Filled in: {', '.join(f'{{{{{one}}}}}' for one in sorted(kind.filled))}." if kind.filled else ""
            self.fields[name] = forms.CharField(
                required=False,
                strip=False,
                max_length=MAX_TEXT,
                label=name,
                help_text=f"{kind.what[0].upper()}{kind.what[1:]}.{filled}",
                widget=forms.Textarea({"rows": min(max(lines, ROWS[0]), ROWS[1]), "spellcheck": "false"}),
            )

    def texts(self) -> dict[str, str]:
        """The texts that are not empty, by name, with the line breaks of files instead of those that browsers send."""
        said = {name: self.cleaned_data.get(name, "").replace("\r\n", "\n") for name in TEXTS}
        return {name: text for name, text in said.items() if text}

    def clean(self) -> dict[str, Any]:
        super().clean()
        for name, text in self.texts().items():
            try:
                check_text(name, text)
            except BadText as error:
                self.add_error(name, f"{error}.")
        newest = PromptPack.objects.filter(project=self.row.project, name=self.row.name).order_by("-version").first()
        if newest is not None and newest.version != self.cleaned_data.get("version"):
            self.add_error(None, f"Somebody has saved {newest} meanwhile: open it and make your changes there.")
        if not self.errors and self.texts() == self.row.texts:
            self.add_error(None, "Change at least one text: this is the version as it is.")
        if not self.errors and not self.texts():
            self.add_error(None, "A pack has at least one text.")
        return self.cleaned_data

    def text_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in TEXTS]

    def save(self, user: User) -> PromptPack:
        """Store the texts as the next version of the pack; the form must be valid."""
        row = self.row
        pack = Pack(row.name, row.version, self.texts())
        kept = {"base": row.base, "base_sha256": row.base_sha256, "source": row.source}
        return PromptPack.objects.add(row.project, pack, created_by=user, note=self.cleaned_data["note"], **kept)

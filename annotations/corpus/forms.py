"""Forms of datasets: what is shown of one, imports and exports; what is wrong is said at the field."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet

from annotations.datasets import READERS, WRITERS
from annotations.forms import MOST, FilterForm, choice_field, offer_projects
from annotations.models import Conversation, ConversationTally, Dataset, Project, Split, Turn

AS_THE_SOURCE_SAYS = ("", "as the source says")


class ConversationFilterForm(FilterForm):
    """The list of a dataset's conversations; everything is in the URL, and what makes no sense is ignored."""

    split = forms.ChoiceField(required=False)
    website = forms.ChoiceField(required=False)
    q = forms.CharField(
        required=False, max_length=200, widget=forms.TextInput({"type": "search", "placeholder": "Search instructions"})
    )

    def __init__(self, data, dataset: Dataset) -> None:
        super().__init__(data)
        self.dataset = dataset
        used = ConversationTally.by_split(dataset.pk).values_list("split", flat=True)
        names = dataset.websites.order_by("name").values_list("name", flat=True).distinct()
        choice_field(self, "split").choices = [("", "all splits"), *((split, split) for split in used)]
        choice_field(self, "website").choices = [("", "all websites"), *((name, name) for name in names)]
        self.is_valid()

    def query(self) -> str:
        """ "?split=train&q=…", or "" without a filter."""
        return f"?{urlencode(self.active())}" if self.active() else ""

    def apply(self, conversations: QuerySet[Conversation]) -> QuerySet[Conversation]:
        chosen = self.active()
        if "split" in chosen:
            conversations = conversations.filter(split=chosen["split"])
        if "website" in chosen:
            conversations = conversations.filter(website__name=chosen["website"])
        if "q" in chosen:
            said = Turn.objects.filter(conversation=OuterRef("pk"), instruction__icontains=chosen["q"])
            conversations = conversations.filter(Exists(said))
        return conversations

    def count(self, applied: QuerySet[Conversation, Any]) -> int:
        """How many rows `apply` has left: stored counts say it, except for words that are searched."""
        chosen = self.active()
        if "q" in chosen:
            return applied.count()
        names = {"split": "split", "website": "website__name"}
        return ConversationTally.count_of(self.dataset.pk, **{names[field]: value for field, value in chosen.items()})


class ExportForm(forms.Form):
    format = forms.ChoiceField(choices=[(name, name) for name in WRITERS])
    split = forms.ChoiceField(required=False)

    def __init__(self, *args, splits: Iterable[str], **kwargs) -> None:
        super().__init__(*args, **kwargs)
        choice_field(self, "split").choices = [("", "all splits"), *((split, split) for split in splits)]


class ImportForm(forms.Form):
    """An import: what, from where, into which dataset."""

    project = forms.ModelChoiceField(Project.objects.none(), empty_label=None)
    format = forms.ChoiceField(choices=[("", "choose a format"), *((name, name) for name in READERS)])
    name = forms.CharField(
        label="Dataset",
        max_length=100,
        help_text="A new name, or that of a dataset to add to: lower-case letters, digits and hyphens.",
        widget=forms.TextInput({"list": "dataset-names", "autocomplete": "off", "spellcheck": "false"}),
    )
    split = forms.ChoiceField(
        required=False,
        choices=[AS_THE_SOURCE_SAYS, *Split.choices],
        help_text="Only where the files do not say it themselves, or say it wrongly.",
    )
    limit = forms.IntegerField(
        required=False, min_value=1, max_value=MOST, help_text="Read only so many records. Empty: all."
    )
    upload = forms.FileField(
        required=False,
        label="Upload a file",
        help_text=f"Up to {settings.MAX_UPLOAD_BYTES // 1024**3} GB: .json, .jsonl, .gz, .xz or .zip.",
    )
    path = forms.CharField(
        required=False,
        label="Or read from the server",
        help_text="A file or folder below the server's import folder.",
        widget=forms.TextInput({"list": "import-paths", "autocomplete": "off", "spellcheck": "false"}),
    )
    replace_judged = forms.BooleanField(
        required=False,
        label="Replace what people judged",
        help_text="Conversations that changed take with them the corrections, risk labels, rationales and redactions "
        "that fit no more. Otherwise such conversations stay as they are, and the report names them.",
    )

    def __init__(self, *args, projects: QuerySet[Project], **kwargs) -> None:
        super().__init__(*args, **kwargs)
        offer_projects(self, projects)

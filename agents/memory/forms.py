"""Forms of workflows and of the memory jobs."""

from collections.abc import Iterable

from django import forms

from agents.encoders import weights
from agents.memory.workflow_rows import lines
from agents.models import Workflow
from annotations.forms import FilterForm, choice_field, row_field
from annotations.models import Dataset, Split, Website


class WorkflowForm(forms.ModelForm):
    """A workflow as a person writes or corrects it."""

    class Meta:
        model = Workflow
        fields = ["website", "name", "description", "body"]
        widgets = {
            "name": forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
            "description": forms.TextInput({"autocomplete": "off"}),
            "body": forms.Textarea({"rows": 10, "spellcheck": "false"}),
        }
        help_texts = {
            "description": "One line: where it applies and what it does. It is found by this text.",
            "body": "One action per line, as agents see them; placeholders in braces: [input]  Search -> TYPE: {what}",
        }

    def __init__(self, *args, dataset: Dataset, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.dataset = dataset
        row_field(self, "website").queryset = Website.objects.filter(dataset=dataset).order_by("name")
        row_field(self, "website").empty_label = "any website"

    def clean_description(self) -> str:
        return " ".join(self.cleaned_data["description"].split())

    def clean_body(self) -> str:
        return lines(self.cleaned_data["body"])

    def clean(self) -> dict:
        values = super().clean() or {}
        website, name = values.get("website"), values.get("name")
        same = self.dataset.workflows.named(name or "", website.pk if website else None).exclude(pk=self.instance.pk)
        if name and same.exists():
            self.add_error("name", "Another workflow of this website has this name.")
        return values


class WorkflowFilterForm(FilterForm):
    """The filters of the list of a dataset's workflows. They stand in the URL, and a value that makes no sense is
    ignored."""

    website = forms.ChoiceField(required=False)
    origin = forms.ChoiceField(
        required=False, choices=[("", "all origins"), *((value, label) for value, label in Workflow.Origin.choices)]
    )
    q = forms.CharField(
        required=False, max_length=200, widget=forms.TextInput({"type": "search", "placeholder": "Search workflows"})
    )

    def __init__(self, data, websites: Iterable[str]) -> None:
        super().__init__(data)
        choice_field(self, "website").choices = [("", "all websites"), *((name, name) for name in websites)]
        self.is_valid()


class EmbedForm(forms.Form):
    """What to embed the memory with."""

    encoder = forms.CharField(
        max_length=200,
        required=False,
        initial=weights.MINILM,
        help_text="all-MiniLM-L6-v2 comes with WebNav; or a model trained here, below the model folder, or at the "
        "embedding endpoint (endpoint:text-embedding-ada-002).",
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
    )

    def clean_encoder(self) -> str:
        name = self.cleaned_data["encoder"].strip() or weights.MINILM
        try:
            weights.require_open({"encoder": name})
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error
        return name


class InduceForm(EmbedForm):
    """The websites to induce workflows of, and how."""

    website = forms.ChoiceField(required=False)
    style = forms.ChoiceField(required=False, choices=Workflow.Style.choices)

    def __init__(self, *args, websites: Iterable[str], **kwargs) -> None:
        super().__init__(*args, **kwargs)
        choice_field(self, "website").choices = [("", "all train websites"), *((name, name) for name in websites)]
        self.fields["encoder"].help_text = "Embeds the descriptions, by which workflows are found."

    def clean_style(self) -> str:
        return self.cleaned_data["style"] or Workflow.Style.CONCRETE


class RefineForm(forms.Form):
    """The split whose steps get rationales."""

    split = forms.ChoiceField(required=False, choices=[("", "all splits"), *Split.choices])


class TransitionForm(EmbedForm):
    """What to find transitions by, and whether a language model puts them into words."""

    describe = forms.BooleanField(
        required=False,
        label="In words, too",
        help_text="The configured model describes each: what the language models trained here learn from.",
    )

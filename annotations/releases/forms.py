"""Forms of releases."""

from collections.abc import Iterable

from django import forms

from annotations.forms import choice_field
from annotations.releases.checking import Concern


class ReleaseForm(forms.Form):
    """A new release: what people say about it, and which concerns they have looked at."""

    version = forms.CharField(
        max_length=40,
        help_text="Begins with a digit: 1.0, 2026.1, 2.0-rc1. A release never changes.",
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false", "autofocus": True}),
    )
    licence = forms.CharField(max_length=200, help_text="Under which it may be used, such as CC BY 4.0.")
    consent = forms.CharField(
        help_text="What the people whose data it holds have agreed to.", widget=forms.Textarea({"rows": 3})
    )
    notes = forms.CharField(
        required=False, help_text="What is new, for the datasheet.", widget=forms.Textarea({"rows": 3})
    )
    accepted_findings = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple, label="Accepted")

    def __init__(self, *args, concerns: Iterable[Concern], **kwargs) -> None:
        super().__init__(*args, **kwargs)
        choice_field(self, "accepted_findings").choices = [(concern.key, concern.sentence) for concern in concerns]

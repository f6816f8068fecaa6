"""The form that asks people to judge steps of a study."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import QuerySet

from annotations.forms import row_field
from evaluation.models import ReviewChoice, ReviewQueue, Study
from evaluation.reviews.choosing import LARGEST, MOST_PEOPLE
from evaluation.reviews.deciding import ask_for_reviews

OFFERED = 200  # newest studies in the list to choose from


class ReviewQueueForm(forms.Form):
    """Asks people to judge steps of a study. What a scanner found is asked for where it is shown, on the page of
    failures, so its choice is offered here only where that page's form was refused."""

    study = forms.ModelChoiceField(Study.objects.none(), empty_label=None)
    choice = forms.CharField(label="Steps", widget=forms.Select)
    scanner = forms.CharField(required=False, widget=forms.HiddenInput)
    size = forms.IntegerField(
        label=f"How many, at most {LARGEST:,}", initial=50, widget=forms.NumberInput({"min": 1, "max": LARGEST})
    )
    overlap = forms.IntegerField(
        label=f"People that judge each, at most {MOST_PEOPLE}",
        initial=1,
        widget=forms.NumberInput({"min": 1, "max": MOST_PEOPLE}),
        help_text="Reviewers of the project go through them in the replay, by key; each step leads to the next.",
    )

    def __init__(self, data: Mapping[str, Any] | None, studies: QuerySet[Study], asked: int | None) -> None:
        super().__init__(data, initial={"study": asked})
        row_field(self, "study").queryset = studies
        self.fields["study"].widget.choices = [(one.pk, str(one)) for one in studies[:OFFERED]]
        left_out = () if self["scanner"].value() else (ReviewChoice.SCANNER,)
        self.fields["choice"].widget.choices = [row for row in ReviewChoice.choices if row[0] not in left_out]

    def ask(self, user: User) -> ReviewQueue | None:
        """The queue that it asks for; None where it is refused, and its errors say why."""
        if not self.is_valid():
            return None
        try:
            return ask_for_reviews(user, **self.cleaned_data)
        except ValueError as error:
            self.add_error(None, str(error))
        return None

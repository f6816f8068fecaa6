"""The forms that ask people to judge steps of a study, or whole trajectories."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import QuerySet

from annotations.forms import MOST_BIG, row_field
from evaluation.models import ReviewChoice, ReviewQueue, Study
from evaluation.reviews.choosing import LARGEST, MOST_PEOPLE, QueueDemand
from evaluation.reviews.deciding import ask_for_reviews
from evaluation.reviews.wholes import WHOLE_CHOICES

OFFERED = 200  # newest studies in the list to choose from


class _QueueForm(forms.Form):
    """How much a queue holds, and by how many people each is judged."""

    size = forms.IntegerField(
        label=f"How many, at most {LARGEST:,}", initial=50, widget=forms.NumberInput({"min": 1, "max": LARGEST})
    )
    overlap = forms.IntegerField(
        label=f"People that judge each, at most {MOST_PEOPLE}",
        initial=1,
        widget=forms.NumberInput({"min": 1, "max": MOST_PEOPLE}),
        help_text="Reviewers of the project go through them in the replay, by key; each leads to the next.",
    )

    def _store(self, user: User, study: Study, demand: QueueDemand) -> ReviewQueue | None:
        try:
            return ask_for_reviews(user, study, demand)
        except ValueError as error:
            self.add_error(None, str(error))
        return None


class ReviewQueueForm(_QueueForm):
    """Asks people to judge steps of a study, or whole trajectories. What a scanner found, and what a list shows, is
    asked for where it is shown, so a scanner's choice is offered here only where that page's form was refused; what is
    like a failure, where a step was named."""

    study = forms.ModelChoiceField(Study.objects.none(), empty_label=None)
    choice = forms.CharField(label="What", widget=forms.Select)
    scanner = forms.CharField(required=False, widget=forms.HiddenInput)
    failure = forms.IntegerField(required=False, min_value=1, max_value=MOST_BIG, widget=forms.HiddenInput)
    field_order = ("study", "choice")

    def __init__(
        self, data: Mapping[str, Any] | None, studies: QuerySet[Study], asked: Mapping[str, int | str | None]
    ) -> None:
        super().__init__(data, initial=dict(asked))
        row_field(self, "study").queryset = studies
        self.fields["study"].widget.choices = [(one.pk, str(one)) for one in studies[:OFFERED]]
        named = {ReviewChoice.SCANNER: "scanner", ReviewChoice.NEAREST: "failure"}
        unnamed = (choice for choice, name in named.items() if not self[name].value())
        left_out = [ReviewChoice.ASKED, ReviewChoice.WHOLE_LISTED, *unnamed]
        offered = [row for row in ReviewChoice.choices if row[0] not in left_out]
        steps = [(key, f"steps, {words}") for key, words in offered if key not in WHOLE_CHOICES]
        wholes = [(key, words) for key, words in offered if key in WHOLE_CHOICES]
        self.fields["choice"].widget.choices = [("Steps", steps), ("Whole trajectories", wholes)]

    def ask(self, user: User) -> ReviewQueue | None:
        """The queue that it asks for; None where it is refused, and its errors say why."""
        if not self.is_valid():
            return None
        asked = dict(self.cleaned_data)
        if asked["choice"] != ReviewChoice.NEAREST:  # chosen instead, though the form was opened at a failure
            asked["failure"] = None
        return self._store(user, asked.pop("study"), QueueDemand(**asked))


class ListedQueueForm(_QueueForm):
    """Asks people to judge the first of listed whole trajectories, in the order of the list."""

    def ask_of(self, user: User, study: Study, listed: Iterable[int]) -> ReviewQueue | None:
        """The queue that it asks for, of a list that may be longer than it; None where it is refused."""
        if not self.is_valid():
            return None
        asked = self.cleaned_data
        first = list(islice(listed, max(asked["size"], 0)))
        if not first and asked["size"] > 0:
            self.add_error(None, "The list is empty.")
            return None
        return self._store(user, study, QueueDemand(ReviewChoice.WHOLE_LISTED, trajectories=first, **asked))

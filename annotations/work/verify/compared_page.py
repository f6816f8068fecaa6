"""The rows behind the numbers of agreement: the page of what people of a campaign did independently of each other."""

from collections.abc import Callable, Iterable
from typing import Any

from django import forms
from django.http import QueryDict

from annotations.forms import FilterForm, choice_field
from annotations.models import Assignment, Campaign
from annotations.work.verify.compared import ComparedWork, DecidedWork, IndependentWork
from annotations.work.verify.gold import HiddenGold

KINDS: dict[str, tuple[str, str, Callable[[Campaign], Iterable[ComparedWork | DecidedWork]]]] = {
    # word of the address -> what they are called, what one of them is, and the rows
    "cuts": ("decompositions of one session", "comparison", lambda one: IndependentWork(one).decompositions()),
    "words": ("rewrites of the same steps", "comparison", lambda one: IndependentWork(one).rewrites()),
    "defects": ("entries of the rubric, judged by several", "comparison", lambda one: IndependentWork(one).entries()),
    "verdicts": ("verdicts that somebody decided between", "verdict", lambda one: IndependentWork(one).verdicts()),
    "differences": ("differences of two versions", "difference", lambda one: IndependentWork(one).differences()),
    "made": ("items whose two versions somebody made one", "item", lambda one: IndependentWork(one).made()),
    "gold": ("hidden gold items", "item", lambda one: HiddenGold(one).compared()),
}
OF_MANAGERS = {"gold"}
DECIDED = {"verdicts", "differences", "made"}


class ComparedForm(FilterForm):
    """Which of them are listed; everything is in the URL."""

    kind = forms.ChoiceField(required=False, label="What was compared")
    person = forms.ChoiceField(required=False)
    other = forms.ChoiceField(required=False, label="Second person")
    code = forms.ChoiceField(required=False, label="Defect")

    def __init__(self, data: QueryDict, campaign: Campaign, *, manages: bool) -> None:
        super().__init__(data)
        offered = {word: label for word, (label, _, _) in KINDS.items() if manages or word not in OF_MANAGERS}
        wanted = data.get("kind", "")
        self.shown_kind = wanted if wanted in offered else "cuts"
        self._rows = list(KINDS[self.shown_kind][2](campaign))
        at_work = Assignment.objects.filter(item__session__campaign=campaign).values_list("user__username", flat=True)
        names = {user.get_username() for row in self._rows for user in row.people} | {*at_work}
        people = [(name, name) for name in sorted(names)]
        choice_field(self, "kind").choices = list(offered.items())
        choice_field(self, "person").choices = [("", "everybody"), *people]
        choice_field(self, "other").choices = [("", "and anybody"), *people]
        codes = [entry["code"] for entry in campaign.rubric]
        choice_field(self, "code").choices = [("", "any entry"), *((code, code) for code in codes)]
        self.is_valid()

    @property
    def noun(self) -> str:
        return KINDS[self.shown_kind][1]

    @property
    def is_decided(self) -> bool:
        """Whether somebody has decided between people in these rows."""
        return self.shown_kind in DECIDED

    def rows(self) -> list[Any]:
        """Those that the filter leaves; where agreement is measured, what is least alike comes first."""
        names = {name for key in ("person", "other") if (name := self.cleaned_data.get(key))}
        code = self.cleaned_data.get("code") if self.shown_kind == "defects" else ""
        left = [
            row
            for row in self._rows
            if names <= {user.get_username() for user in row.people} and (not code or row.place == code)
        ]
        return left if self.is_decided else sorted(left, key=lambda row: row.value)

"""The form that has a language model explain the failures of a study's runs."""

from django import forms
from django.contrib.auth.models import User

from annotations.models import Job
from evaluation.asking.forms import AskingForm
from evaluation.explaining.explaining import Explaining
from evaluation.scanners.asking import ASKING


class ExplainingForm(AskingForm):
    """Chooses a scanner, whom it asks in which words, and what that may cost."""

    scanner = forms.ChoiceField(choices=lambda: [(name, one.label or name) for name, one in ASKING.items()])
    field_order = ("run", "scanner")
    first = {"scanner": "reason"}

    def opened(self) -> Explaining:
        said = self.cleaned_data
        return Explaining(said["scanner"], self.study.project, connection=said["connection"], pack=said["pack"])

    def queued(self, user: User) -> Job:
        said = {name: self.cleaned_data[name] for name in ("connection", "pack", "max_cost")}
        return Explaining.start(self.cleaned_data["scanner"], user=user, runs=self.chosen(), **said)

"""The form that lets a judge look at the runs of a study."""

from typing import Any

from django import forms
from django.contrib.auth.models import User

from annotations.models import Job
from evaluation.asking.forms import AskingForm
from evaluation.judges import JUDGES
from evaluation.judges.judging import Judging


class JudgingForm(AskingForm):
    """Chooses a judge, whom it asks in which words, and what that may cost."""

    judge = forms.ChoiceField(choices=lambda: [(name, one.label or name) for name, one in JUDGES.items()])
    field_order = ("run", "judge")
    first = {"judge": "webjudge"}

    def asked(self) -> dict[str, Any]:
        """Whom it asks in which words, as `Judging` takes it; nobody, for rules."""
        said = self.cleaned_data
        texts = JUDGES[said["judge"]].texts
        return {"connection": said["connection"], "pack": said["pack"]} if texts else {}

    def opened(self) -> Judging:
        return Judging(self.cleaned_data["judge"], self.study.project, **self.asked())

    def queued(self, user: User) -> Job:
        said = self.cleaned_data
        return Judging.start(said["judge"], user=user, runs=self.chosen(), max_cost=said["max_cost"], **self.asked())

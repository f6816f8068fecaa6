"""The form that lets a judge look at the runs of a study."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import QueryDict

from agents.models import Connection, PromptPack, Run
from agents.prompts.packs import PACKAGED
from annotations.forms import choice_field
from annotations.models import Job
from evaluation.judges import JUDGES
from evaluation.judges.expecting import JudgingForecast
from evaluation.judges.jobs import start_judging
from evaluation.judges.judging import Judging
from evaluation.models import Study


class JudgingForm(forms.Form):
    """Chooses a judge, whom it asks in which words, and what that may cost."""

    run = forms.TypedChoiceField(label="Runs", required=False, coerce=int, empty_value=None)
    judge = forms.ChoiceField(choices=lambda: [(name, one.label or name) for name, one in JUDGES.items()])
    connection = forms.ChoiceField(label="Language model", required=False)
    pack = forms.ChoiceField(label="Prompt pack")
    max_cost = forms.FloatField(
        label="At most, in money",
        required=False,
        min_value=0,
        help_text="It stops before it costs more. Empty: no limit.",
    )

    def __init__(self, study: Study, data: QueryDict) -> None:
        super().__init__({"judge": "webjudge", "pack": PACKAGED} | data.dict())
        self.study = study
        self.runs = list(study.runs.select_related("dataset__project").order_by("pk"))
        choice_field(self, "run").choices = [("", "all"), *((run.pk, str(run)) for run in self.runs)]
        answering = Connection.objects.filter(kind=Connection.Kind.LLM).values_list("name", flat=True)
        choice_field(self, "connection").choices = [("", "what answers here"), *((name, name) for name in answering)]
        own = PromptPack.objects.filter(project=study.project).newest().order_by("name").defer("texts")
        choice_field(self, "pack").choices = [(PACKAGED, PACKAGED), *((str(row), str(row)) for row in own)]

    def asked(self) -> dict[str, Any]:
        """What is chosen, as `Judging` takes it."""
        said = self.cleaned_data
        texts = JUDGES[said["judge"]].texts
        return {"connection": said["connection"], "pack": said["pack"]} if texts else {}

    def chosen(self) -> list[Run]:
        wanted = self.cleaned_data["run"]
        return [run for run in self.runs if wanted in (None, run.pk)]

    def forecast(self) -> JudgingForecast | None:
        """What that would take; None where it cannot be done, and the errors say why."""
        if not self.is_valid() or not self.runs:
            return None
        asked = self.asked()
        try:
            judging = Judging(self.cleaned_data["judge"], self.study.project, **asked)
            return JudgingForecast.of(judging, self.chosen(), asked.get("connection", ""))
        except ValueError as error:
            self.add_error(None, str(error))
        return None

    def start(self, user: User) -> Job | None:
        """The job that does it; None where it is refused, and the errors say why."""
        if not self.is_valid():
            return None
        try:
            said = self.cleaned_data
            return start_judging(
                user=user, runs=self.chosen(), judge=said["judge"], max_cost=said["max_cost"], **self.asked()
            )
        except ValidationError as error:
            self.add_error(None, error.messages)
        return None

"""The form that has something asked of the runs of a study."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import QueryDict

from agents.models import Connection, PromptPack, Run
from agents.prompts.packs import PACKAGED
from annotations.forms import choice_field
from annotations.models import Job
from evaluation.asking.expecting import AskingForecast
from evaluation.asking.of_runs import AskingOfRuns
from evaluation.models import Study


class AskingForm(forms.Form):
    """Chooses of which runs is asked, whom, in which words, and what that may cost; a form derives from it for each
    kind of asker, with the field that names one."""

    run = forms.TypedChoiceField(label="Runs", required=False, coerce=int, empty_value=None)
    connection = forms.ChoiceField(label="Language model", required=False)
    pack = forms.ChoiceField(label="Prompt pack")
    max_cost = forms.FloatField(
        label="At most, in money",
        required=False,
        min_value=0,
        help_text="It stops before it costs more. Empty: no limit.",
    )
    first: dict[str, str] = {}

    def __init__(self, study: Study, data: QueryDict) -> None:
        super().__init__(self.first | {"pack": PACKAGED} | data.dict())
        self.study = study
        self.runs = list(study.runs.select_related("dataset__project").order_by("pk"))
        choice_field(self, "run").choices = [("", "all"), *((run.pk, str(run)) for run in self.runs)]
        answering = Connection.objects.filter(kind=Connection.Kind.LLM).values_list("name", flat=True)
        choice_field(self, "connection").choices = [("", "what answers here"), *((name, name) for name in answering)]
        own = PromptPack.objects.filter(project=study.project).newest().order_by("name").defer("texts")
        choice_field(self, "pack").choices = [(PACKAGED, PACKAGED), *((str(row), str(row)) for row in own)]

    def opened(self) -> AskingOfRuns[Any]:
        """The asker that is chosen. ValueError says what it lacks."""
        raise NotImplementedError

    def queued(self, user: User) -> Job:
        """The job that does it. ValidationError where it is refused."""
        raise NotImplementedError

    def chosen(self) -> list[Run]:
        wanted = self.cleaned_data["run"]
        return [run for run in self.runs if wanted in (None, run.pk)]

    def forecast(self) -> AskingForecast | None:
        """What that would take; None where it cannot be done, and the errors say why."""
        if not self.is_valid() or not self.runs:
            return None
        try:
            return AskingForecast.of(self.opened(), self.chosen(), self.cleaned_data["connection"])
        except ValueError as error:
            self.add_error(None, str(error))
        return None

    def start(self, user: User) -> Job | None:
        """The job that does it; None where it is refused, and the errors say why."""
        if not self.is_valid():
            return None
        try:
            return self.queued(user)
        except ValidationError as error:
            self.add_error(None, error.messages)
        return None

"""The page where a person begins to show how something is done."""

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from agents.environments.protocol import NoSuchTask
from agents.environments.task_sets import FREE, OPEN
from agents.live.showing import LONGEST_GOAL, WHERE, ShownGoal, shown_tasks
from annotations.access import rules
from annotations.access.people import signed_in
from annotations.forms import MOST, choice_field, offer_projects
from annotations.models import Project
from evaluation.studies.taking_part.showing import show


class ShowForm(forms.Form):
    """What is shown, and where. `environment` decides which tasks there are."""

    project = forms.ModelChoiceField(Project.objects.none(), empty_label=None)
    environment = forms.ChoiceField(label="Where", choices=list(WHERE.items()))
    task = forms.ChoiceField()
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MOST,
        help_text="The same seed is the same page. Empty: a new one of a task; a website as it was recorded.",
    )
    words = forms.CharField(
        required=False,
        label="What is to be done",
        max_length=LONGEST_GOAL,
        help_text="As somebody would ask for it. Leave it empty to say it when it is done.",
        widget=forms.TextInput({"autocomplete": "off"}),
    )

    def __init__(self, *args, projects: QuerySet[Project], environment: str, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        offer_projects(self, projects)
        self.problem = ""
        try:
            tasks = shown_tasks(environment)
        except NoSuchTask as error:
            tasks, self.problem = [], str(error)
        choice_field(self, "task").choices = [(name, self._named(environment, name)) for name in tasks]
        self.fields["task"].label = {"miniwob": "Task", "sample-sites": "Conversation"}.get(environment, "Website")
        if environment in OPEN:
            begins = ", ".join(tasks)
            help_text = f"Any address on these hosts: {begins}" if tasks else ""
            self.fields["task"] = forms.CharField(label="Address", max_length=180, help_text=help_text)
        if environment not in FREE:
            del self.fields["words"]
        self.initial = {"environment": environment, **self.initial}

    def _named(self, environment: str, task: str) -> str:
        """A task as it is offered: a recorded conversation with its split, which what is shown of it keeps."""
        return f"{task} ({ShownGoal(environment, task).split})" if environment == "sample-sites" else task


def demonstrate(request: HttpRequest) -> HttpResponse:
    """The form; with an environment in the address, the tasks of that. POST leads to the episode, in which its maker
    acts."""
    projects = rules.projects(request.user, "review").order_by("name")
    if not projects:
        raise PermissionDenied("Showing how it is done needs the role of a reviewer or admin in a project.")
    asked = request.POST if request.method == "POST" else request.GET
    environment = asked.get("environment", "")
    environment = environment if environment in WHERE else next(iter(WHERE))
    form = ShowForm(request.POST or None, projects=projects, environment=environment)
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        goal = ShownGoal(values["environment"], values["task"], values["seed"], values.get("words", ""))
        try:
            begun = show(signed_in(request), values["project"], goal)
        except ValueError as error:
            form.add_error(None, str(error))
        else:
            if not begun.is_new:
                messages.info(request, "You are still showing this: bring it to its end before you begin another.")
            return redirect("trajectory", begun.trajectory.pk)
    context = {"form": form, "projects": projects, "environment": environment}
    return render(request, "evaluation/demonstrate.html", context)

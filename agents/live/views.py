"""The page that makes live goals."""

from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from agents.environments.task_sets import TASKS
from agents.live.forms import GoalsForm
from agents.live.jobs import start_goals
from annotations.access import rules
from annotations.access.people import signed_in
from annotations.models import Job

ESTIMATED = ("environment", "task_set", "tasks", "episodes", "first_seed", "split", "steps", "seconds")


def goals_new(request: HttpRequest) -> HttpResponse:
    """The form. Where the address has its fields, the page says how many goals they ask for and how long these take to
    make."""
    projects = rules.projects(request.user, Job.Kind.GOALS).order_by("name")
    if not projects:
        raise PermissionDenied("Making live goals needs the role of an admin in a project; ask one of its admins.")
    asked = request.POST if request.method == "POST" else request.GET
    environment = asked.get("environment", "")
    environment = environment if environment in TASKS else next(iter(TASKS))
    form = GoalsForm(request.POST or None, projects=projects, environment=environment)
    if request.method == "POST" and form.is_valid():
        try:
            return redirect("job", start_goals(user=signed_in(request), **form.cleaned_data).pk)
        except ValidationError as error:
            form.add_error(None, error)
    told = {name: form[name].initial for name in ESTIMATED} | {name: asked[name] for name in ESTIMATED if name in asked}
    told |= {"environment": environment, "task_set": told["task_set"] or "all", "project": projects[0].pk, "name": "x"}
    estimate = GoalsForm(told, projects=projects, environment=environment)
    context = {"form": form, "expected": estimate.expected(), "projects": projects}
    return render(request, "agents/goals_new.html", context)

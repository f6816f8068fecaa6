"""The page where a person begins to talk with an agent."""

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from agents.cookbook import saved
from agents.cookbook.starters import missing_of
from agents.live.showing import LONGEST_GOAL, example_goals, shown_tasks
from annotations.access import rules
from annotations.access.people import signed_in
from annotations.forms import choice_field, offer_projects
from annotations.models import Project
from evaluation.studies.taking_part.talking import ENVIRONMENT, acts, talk


class TalkForm(forms.Form):
    """Who is talked with, where, and what is said first."""

    project = forms.ModelChoiceField(Project.objects.none(), empty_label=None)
    recipe = forms.ChoiceField(label="Agent")
    website = forms.ChoiceField()
    words = forms.CharField(
        label="What it is to do first",
        max_length=LONGEST_GOAL,
        widget=forms.TextInput({"autocomplete": "off"}),
        help_text="What comes after it, you say when it has done that.",
    )

    def __init__(self, *args, projects: QuerySet[Project], recipes: list[str], **kwargs) -> None:
        super().__init__(*args, **kwargs)
        offer_projects(self, projects)
        choice_field(self, "recipe").choices = [(name, name) for name in recipes]
        choice_field(self, "website").choices = [(name, name) for name in shown_tasks(ENVIRONMENT)]


def converse(request: HttpRequest) -> HttpResponse:
    """The form. POST leads to the episode, beside which its maker goes on talking."""
    projects = rules.projects(request.user, "evaluate").order_by("name")
    if not projects:
        raise PermissionDenied("Talking with an agent needs the role of an admin in a project; ask one of its admins.")
    listed = [one for one in saved.listed(request.user) if acts(one)]
    ready = [one.name for one, lacking in zip(listed, missing_of(listed), strict=True) if not lacking]
    form = TalkForm(request.POST or None, projects=projects, recipes=ready, initial={"recipe": "grounded"})
    if request.method == "POST" and form.is_valid():
        try:
            begun = talk(signed_in(request), **form.cleaned_data)
        except ValueError as error:
            form.add_error(None, str(error))
        else:
            if not begun.is_new:
                messages.info(request, "You are still in this conversation: end it before you begin another.")
            return redirect("trajectory", begun.trajectory.pk)
    context = {"form": form, "projects": projects, "examples": example_goals()}
    return render(request, "evaluation/converse.html", context)

"""The page where a person begins to talk with an agent."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from agents.cookbook import saved
from agents.cookbook.starters import missing_of
from agents.live.showing import LONGEST_GOAL, example_goals, shown_tasks
from agents.models import TrainedModel, Trajectory
from agents.recipes.literature import Recipe
from agents.replay.views import UNSAID
from annotations.access import rules
from annotations.access.people import signed_in
from annotations.access.rules import User
from annotations.forms import choice_field, offer_projects
from annotations.models import Project
from evaluation.studies.taking_part import planners, talked_agent
from evaluation.studies.taking_part.talked_agent import TalkedAgent
from evaluation.studies.taking_part.talking import ENVIRONMENT, talk, talk_again, talks, under_way

USUAL = "grounded"
STILL = "You are still in this conversation. What you had typed stands below: say it here, or end it first."
KEPT = "talk_form"  # in the session: the form from which a planner is prepared


class TalkForm(forms.Form):
    """Who is talked with, where, and what is said first. The recipe decides which planners there are, and whether the
    agent can ask."""

    project = forms.ModelChoiceField(Project.objects.none(), empty_label=None)
    recipe = forms.ChoiceField(label="Agent")
    website = forms.ChoiceField()
    model = forms.ChoiceField(label="Trained planner", required=False)
    asks = forms.BooleanField(required=False, label="It asks where two readings are close")
    holds = forms.BooleanField(required=False, label="What is risky (buying, sending, deleting) waits for my yes")
    words = forms.CharField(
        label="What it is to do first",
        max_length=LONGEST_GOAL,
        widget=forms.TextInput({"autocomplete": "off"}),
        help_text="What comes after it, you say when it has done that.",
    )

    def __init__(self, *args, projects: QuerySet[Project], recipes: dict[str, Recipe], user: User, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        offer_projects(self, projects)
        choice_field(self, "recipe").choices = [(name, name) for name in recipes]
        choice_field(self, "website").choices = [(name, name) for name in shown_tasks(ENVIRONMENT)]
        chosen = recipes.get(str(self["recipe"].value()))
        self.trained = planners.planners_for(user, chosen) if chosen else []
        self.takes_trained = chosen is not None and planners.takes_trained(chosen)
        if chosen is not None:
            self._set_up(chosen)

    def _set_up(self, recipe: Recipe) -> None:
        """Offer what can be chosen of the agent."""
        own = f"{recipe.plan.model}, as the recipe says" if recipe.plan.model else "none: as the recipe is"
        offered = [(model.name, _said(model)) for model in self.trained]
        choice_field(self, "model").choices = [*offered, ("", own)]
        best = self.trained[0].name if self.trained and not recipe.plan.model else ""
        usual = {"model": best, "asks": talked_agent.asks(recipe), "holds": talked_agent.holds(recipe)}
        self.initial = usual | dict(self.initial)
        if not self.trained:
            del self.fields["model"]
        if not talked_agent.may_ask(recipe):
            del self.fields["asks"]

    @property
    def agent(self) -> TalkedAgent:
        """The agent as it was chosen, of a form that is valid."""
        chosen = self.cleaned_data
        return TalkedAgent(chosen.get("model", ""), chosen.get("asks"), chosen.get("holds"))


def _said(model: TrainedModel) -> str:
    """A planner as it is offered: what it learned from, and how it did on what it did not learn from."""
    headline = model.headline()
    named = {"dev_step_success": "step success on dev", "dev_success": "success on dev"}
    measured = f", {named[headline[0]]} {headline[1]:.2f}" if headline and headline[0] in named else ""
    return f"{model.name}, trained on {model.dataset_name}{measured}"


def converse(request: HttpRequest) -> HttpResponse:
    """The form; with a recipe in the address, what can be chosen of that. POST leads to the episode, beside which its
    maker goes on talking; with `prepare` it has a planner trained first."""
    projects = rules.projects(request.user, "evaluate").order_by("name")
    if not projects:
        raise PermissionDenied("Talking with an agent needs the role of an admin in a project; ask one of its admins.")
    listed = [one for one in saved.listed(request.user) if talks(one)]
    ready = {one.name: one for one, lacking in zip(listed, missing_of(listed), strict=True) if not lacking}
    if request.method == "POST" and "prepare" in request.POST:
        return _prepared(request, [*projects])
    initial = _initial(request, ready)
    form = TalkForm(request.POST or None, projects=projects, recipes=ready, user=request.user, initial=initial)
    if request.method == "POST" and form.is_valid():
        values = {name: form.cleaned_data[name] for name in ("project", "recipe", "website", "words")}
        try:
            begun = talk(signed_in(request), **values, agent=form.agent)
        except ValueError as error:
            form.add_error(None, str(error))
        else:
            if not begun.is_new:
                messages.info(request, STILL)
                request.session[UNSAID] = {str(begun.trajectory.pk): form.cleaned_data["words"]}
            return redirect("trajectory", begun.trajectory.pk)
    return render(request, "evaluation/converse.html", _context(request, form, projects))


@require_POST
def converse_again(request: HttpRequest, pk: int) -> JsonResponse:
    """Begin a conversation anew whose browser was lost; {url} of the new one."""
    mine = rules.visible(request.user, Trajectory.objects.filter(run__created_by=signed_in(request)))
    lost = get_object_or_404(mine.select_related("run__dataset__project", "conversation"), pk=pk)
    if not lost.lost_text(lost.waits_text()):
        return JsonResponse({"error": "The browser of this conversation is not lost."}, status=409)
    try:
        begun = talk_again(signed_in(request), lost.pk)
    except ValueError as error:
        return JsonResponse({"error": str(error)}, status=409)
    return JsonResponse({"url": reverse("trajectory", args=[begun.trajectory.pk])})


def _context(request: HttpRequest, form: TalkForm, projects: QuerySet[Project]) -> dict[str, Any]:
    prepared = str(form["recipe"].value()) == planners.PREPARED_FOR
    can_prepare = prepared and not form.trained and any(planners.teaching(project) for project in projects)
    return {
        "form": form,
        "projects": projects,
        "examples": example_goals(),
        "job": planners.preparing(request.user),
        "can_prepare": can_prepare,
        "under_way": under_way(signed_in(request), [project.pk for project in projects]),
    }


def _prepared(request: HttpRequest, projects: list[Project]) -> HttpResponse:
    """Have a planner trained in the first of the projects in which one can be."""
    project = next((one for one in projects if planners.teaching(one)), projects[0])
    try:
        planners.prepare(signed_in(request), project)
    except (ValueError, ValidationError) as error:
        said = error.messages if isinstance(error, ValidationError) else [str(error)]
        messages.error(request, " ".join(said))
    request.session[KEPT] = {name: request.POST[name] for name in TalkForm.base_fields if name in request.POST}
    return redirect("converse")


def _initial(request: HttpRequest, ready: dict[str, Recipe]) -> dict[str, Any]:
    """What the form begins with: as it was where a planner was prepared from it, else with the agent of the address."""
    kept = request.session.pop(KEPT, None) if request.method == "GET" else None
    named = request.GET.get("recipe", "") or (kept or {}).get("recipe", "")
    recipe = {"recipe": named if named in ready else USUAL}
    if kept is None:
        return recipe
    return kept | {name: name in kept for name in ("asks", "holds")} | recipe

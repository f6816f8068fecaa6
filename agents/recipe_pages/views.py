"""Pages of recipes: all of them by family, one with its stages, preparing them, and the form that derives a new one."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from agents.cookbook import saved
from agents.recipe_pages.forms import DeriveForm
from agents.recipe_pages.page import list_context, recipe_context
from agents.recipes.literature import Recipe
from agents.training.prepare import preparing
from annotations.access import rules
from annotations.access.people import signed_in
from annotations.text.amounts import amount


def recipes(request: HttpRequest) -> HttpResponse:
    """Every recipe by family (the paper that describes it), with what it lacks here."""
    return render(request, "agents/recipes.html", list_context(request.user))


def recipe(request: HttpRequest, name: str) -> HttpResponse:
    return render(request, "agents/recipe.html", recipe_context(request.user, _get(request, name)))


@require_POST
def prepare(request: HttpRequest, name: str = "") -> HttpResponse:
    """Start the jobs that make what a recipe lacks, or, without a name, what all of them lack."""
    chosen = [_get(request, name)] if name else saved.listed(request.user)
    try:
        begun = preparing.begin(chosen, signed_in(request))
        jobs = amount(len(begun), "job")
        messages.success(request, f"{jobs} begun; how far is said below." if begun else "Nothing is left to be made.")
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect("recipe", name) if name else redirect("recipes")


def derive(request: HttpRequest, name: str) -> HttpResponse:
    """The form that varies a recipe and saves the variation under a name of its own."""
    parent = _get(request, name)
    projects = rules.projects(request.user, "evaluate").order_by("name")
    if not projects.exists():
        raise PermissionDenied("Deriving a recipe needs the role of an admin in a project; ask one of its admins.")
    form = DeriveForm(request.POST or None, parent=parent, projects=projects)
    if request.method == "POST" and form.is_valid():
        return redirect("recipe", form.save(request.user).name)
    return render(request, "agents/recipe_derive.html", {"form": form, "parent": parent})


def _get(request: HttpRequest, name: str) -> Recipe:
    found = next((recipe for recipe in saved.listed(request.user) if recipe.name == name), None)
    if found is None:
        raise Http404(f"There is no recipe {name}.")
    return found

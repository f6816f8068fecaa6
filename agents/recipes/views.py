"""Pages of recipes: all of them by family, one with its stages, and the form that derives a new one."""

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from agents.models import SavedRecipe
from agents.recipes import deviations, published, saved, sentences
from agents.recipes.forms import DeriveForm
from agents.recipes.literature import Recipe, missing
from annotations.access import rules


def recipes(request: HttpRequest) -> HttpResponse:
    """Every recipe by family (the paper that describes it), with what it lacks here."""
    families = {
        family: [(recipe, missing(recipe)) for recipe in found]
        for family, found in saved.families(saved.listed(request.user)).items()
    }
    ready = sum(not lacking for rows in families.values() for _, lacking in rows)
    context = {"families": families, "ready": ready, "total": sum(map(len, families.values()))}
    return render(request, "agents/recipes.html", context | {"may_evaluate": _may_evaluate(request)})


def recipe(request: HttpRequest, name: str) -> HttpResponse:
    """One recipe: its stages in words, what differs from its parent, its quirks, what papers print for it."""
    found = _get(request, name)
    ancestors = saved.ancestors(found, request.user)
    parent = ancestors[0] if ancestors else None
    everything = saved.listed(request.user)
    context = {
        "recipe": found,
        "parent": parent,
        "children": [other for other in everything if other.parent == found.name],
        "family": saved.family(found),
        "saved": SavedRecipe.objects.select_related("project", "created_by").filter(name=name).first(),
        "lacking": missing(found),
        "stages": sentences.stages(found, parent, ancestors[1:]),
        "quirks": sentences.quirks(found, parent),
        "deviations": deviations.of_recipe(found),
        "published": published.tables_of(name),
        "may_evaluate": _may_evaluate(request),
    }
    return render(request, "agents/recipe.html", context)


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


def _may_evaluate(request: HttpRequest) -> bool:
    return rules.projects(request.user, "evaluate").exists()

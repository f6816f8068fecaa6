"""Pages of prompt packs, and of the prompts that they make of a recorded step."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from agents.cookbook import saved
from agents.models import PromptPack
from agents.models.prompts import PromptPackQuerySet
from agents.packs.comparing import compared, differing
from agents.packs.forms import CopyPackForm, TextsForm
from agents.prompts.packs import PACKAGED, Pack, webnav
from agents.recipes.literature import Recipe
from agents.stages.kind import CannotRun
from agents.stages.registry import texts_of
from annotations.access import rules
from annotations.models import Conversation, Split, Step
from annotations.text.amounts import whole

PREVIEWED = "self-map"  # the recipe that a preview begins with


def prompt_packs(request: HttpRequest) -> HttpResponse:
    """The packaged pack, and the newest version of every pack of the user's projects."""
    found = [(row, row.base_pack()) for row in _visible(request).newest().select_related("project", "created_by")]
    rows = [(row, base, differing(row.pack(), base) if base else []) for row, base in found]
    context = {"packaged": webnav(), "rows": rows, "may_copy": _projects(request).exists()}
    return render(request, "agents/prompt_packs.html", context)


def packaged_pack(request: HttpRequest) -> HttpResponse:
    """The texts that come with the site."""
    context = {
        "pack": webnav(),
        "texts": list(compared(webnav(), None)),
        "may_copy": _projects(request).exists(),
        "step": _first_step(request),
    }
    return render(request, "agents/prompt_pack.html", context)


def prompt_pack(request: HttpRequest, pk: int) -> HttpResponse:
    """One version of a pack: its texts, and what differs from the pack that it was made from, or from another that is
    asked for."""
    row = _row(request, pk)
    against = request.GET.get("against") or row.base
    before = PromptPack.objects.known(against, row.project) if against else None
    texts = sorted(compared(row.pack(), before), key=lambda text: not text.differs)
    context = {
        "pack": row.pack(),
        "row": row,
        "against": before,
        "others": row.comparable(),
        "texts": texts,
        "differing": sum(text.differs for text in texts),
        "has_moved": before is not None and against == row.base and row.base_sha256 not in ("", before.sha256),
        "versions": PromptPack.objects.filter(project=row.project, name=row.name).select_related("created_by"),
        "may_edit": rules.can(request.user, "evaluate", row.project),
        "may_copy": _projects(request).exists(),
        "step": _first_step(request, row),
    }
    return render(request, "agents/prompt_pack.html", context)


def prompt_pack_new(request: HttpRequest) -> HttpResponse:
    """The form that copies a pack to a new name, to be edited. `?of=`: the number of the pack's row, without it the
    packaged one."""
    projects = _projects(request)
    if not projects.exists():
        raise PermissionDenied("Copying a prompt pack needs the role of an admin in a project; ask one of its admins.")
    of, source = _pack(request, request.GET.get("of", PACKAGED))
    form = CopyPackForm(request.POST or None, projects=projects)
    if request.method == "POST" and form.is_valid():
        made = Pack(form.cleaned_data["name"], 1, of.texts)
        kept = {"base": of.reference, "base_sha256": of.sha256, "source": source, "created_by": request.user}
        row = PromptPack.objects.add(form.cleaned_data["project"], made, **kept)
        return redirect("prompt-pack-edit", row.pk)
    return render(request, "agents/prompt_pack_new.html", {"form": form, "of": of})


def prompt_pack_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """The texts of a version; saving makes the next one."""
    row = _row(request, pk)
    rules.require(request.user, "evaluate", row.project)
    form = TextsForm(request.POST or None, row=row)
    if request.method == "POST" and form.is_valid():
        made = form.save(request.user)
        messages.success(request, f"Saved {made}. Runs that are planned with {row} keep its texts.")
        return redirect("prompt-pack", made.pk)
    return render(request, "agents/prompt_pack_edit.html", {"row": row, "form": form})


def prompt_preview(request: HttpRequest, pk: int) -> HttpResponse:
    """The prompts that a recipe (`?recipe=`) makes of a step in the words of a pack (`?pack=`). Only for those who see
    the step's gold, as prompts show what was done before."""
    from agents.packs.preview import preview

    steps = rules.visible(request.user, Step.objects.select_related("turn__conversation__dataset__project"))
    step = get_object_or_404(steps, pk=pk)
    conversation = step.turn.conversation
    rules.require_gold(request.user, conversation.dataset.project, conversation.split)
    pack, _ = _pack(request, request.GET.get("pack", PACKAGED))
    recipes = _asking(request, conversation)
    recipe = _chosen(recipes, request.GET.get("recipe", PREVIEWED))
    context = {"step": step, "conversation": conversation, "pack": pack, "recipes": recipes, "recipe": recipe}
    context |= {"asked_pack": request.GET.get("pack", PACKAGED), "packs": _visible(request).newest()}
    if recipe is not None:
        try:
            context["preview"] = preview(recipe, pack, step)
        except CannotRun as error:
            context["refused"] = str(error)
    context["before"], context["after"] = (
        reverse("prompt-preview", args=[pk]) if pk is not None else "" for pk in step.beside()
    )
    return render(request, "agents/prompt_preview.html", context)


def _visible(request: HttpRequest) -> PromptPackQuerySet:
    return rules.visible(request.user, PromptPack.objects.all())


def _row(request: HttpRequest, pk: int) -> PromptPack:
    return get_object_or_404(_visible(request).select_related("project", "created_by"), pk=pk)


def _pack(request: HttpRequest, key: str) -> tuple[Pack, str]:
    """The pack with this row number, or the packaged one, and the source that it was read from."""
    if key == PACKAGED:
        return webnav(), ""
    number = whole(key)
    if number is None:
        raise Http404("There is no such prompt pack.")
    row = _row(request, number)
    return row.pack(), row.source


def _projects(request: HttpRequest) -> QuerySet:
    return rules.projects(request.user, "evaluate").order_by("name")


def _asking(request: HttpRequest, conversation: Conversation) -> list[Recipe]:
    """The recipes that can decide this conversation's data and give models texts of a pack."""
    is_weblinx = conversation.dataset.source_format == "weblinx"
    fitting = [one for one in saved.listed(request.user) if not one.needs and (one.data == "weblinx") == is_weblinx]
    return [one for one in fitting if texts_of(one)]


def _chosen(recipes: list[Recipe], name: str) -> Recipe | None:
    return next((one for one in recipes if one.name == name), recipes[0] if recipes else None)


def _first_step(request: HttpRequest, row: PromptPack | None = None) -> Step | None:
    """A step to preview: the last step of the first train conversation that the user may see, of a pack's project if
    one is given."""
    rows = rules.visible(request.user, Conversation.objects.filter(split=Split.TRAIN))
    if row is not None:
        rows = rows.filter(dataset__project=row.project)
    conversation = rows.order_by("pk").first()
    if conversation is None:
        return None
    return Step.objects.filter(turn__conversation=conversation).order_by("-turn__index", "-index").first()

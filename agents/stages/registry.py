"""What the kinds of a recipe say, each of what it is asked. Core."""

from collections.abc import Mapping, Sequence
from typing import Any

from agents.prompts.catalogue import misfit
from agents.prompts.packs import Pack
from agents.recipes.declaring import value_of
from agents.recipes.kinds import PLANNERS_OWN
from agents.recipes.literature import Recipe
from agents.stages.act.done import TakenAction
from agents.stages.imagine.loops import takes_sample_of_that_place
from agents.stages.kind import CannotRun, StageKind
from agents.stages.known import kinds
from agents.stages.plan.kinds import Planning, PublishedJudging

# Stage -> the kinds of model that are trained for it.
MODELS = {"rank": ("cross_encoder", "dual_encoder"), "plan": ("seq2seq", "causal", "grounded")}
LANGUAGE_MODELS = {"seq2seq", "causal"}  # either kind answers the prompts of planners that ask
NOTHING = ("none", "False", PLANNERS_OWN)  # what a setting says where no kind is wanted of it


def chosen(recipe: Recipe, setting: str) -> type[StageKind] | None:
    """The kind that a setting of the recipe chooses; None where it chooses none. CannotRun for a kind that does not
    exist."""
    stage, _, field = setting.partition(".")
    value = str(getattr(getattr(recipe, stage), field))
    kind = kinds()[setting].get(value)
    if kind is None and value not in NOTHING:
        raise CannotRun(f"{setting}={value}: there is no such kind yet; there are {', '.join(kinds()[setting])}")
    return kind


def working(recipe: Recipe, setting: str) -> type[StageKind] | None:
    """The kind that a setting chooses; that of none where 0 are asked for of what the chosen one gives, or where a
    planner that ranks by itself leaves it to nobody."""
    kind = chosen(recipe, setting)
    return kinds()[setting].get("none") if kind and (kind.gives_none(recipe) or _is_left(kind, recipe)) else kind


def _is_left(kind: type[StageKind], recipe: Recipe) -> bool:
    """Whether a planner whose network also ranks takes nothing of what a kind of recall gives, nor do those beside
    it."""
    planner = planner_of(recipe)
    ranking = planner.ranking(recipe)
    if ranking is None or kind.stage != "recall" or not kind.gives:
        return False
    beside = [ranking, *before_planner(recipe), *(one for one in (chosen(recipe, "imagine.kind"),) if one)]
    return not any(kind.gives & one.taken(recipe) for one in beside)


def planner_named(kind: str) -> type[Planning] | None:
    """The kind of `plan` of that name; None where there is none."""
    planner = kinds()["plan.kind"].get(kind)
    return planner if planner is not None and issubclass(planner, Planning) else None


def ranks_only(recipe: Mapping[str, Any]) -> bool:
    """Whether an agent by this recipe, as a run stores it, ranks elements and plans no operation."""
    planner = planner_named(recipe.get("plan", {}).get("kind", ""))
    return planner is not None and planner.ranks_only


def trained_on_prompts() -> list[str]:
    """The kinds of `plan` that ask a model and say how one is trained for them."""
    asking = [(name, kind) for name in kinds()["plan.kind"] if (kind := planner_named(name)) and kind.asks]
    return [name for name, kind in asking if any("training" in vars(one) for one in kind.mro() if one is not StageKind)]


def installed(recipe: Recipe, setting: str) -> type[StageKind] | None:
    """The kind that a setting of a stored recipe chooses; None where it chooses none, or where the package that brought
    the kind is gone."""
    try:
        return chosen(recipe, setting)
    except CannotRun:
        return None


def planner_of(recipe: Recipe) -> type[Planning]:
    """The kind of `plan` that the recipe chooses."""
    kind = chosen(recipe, "plan.kind")
    assert kind is not None, "a recipe has a planner"
    assert issubclass(kind, Planning), "kinds of plan are plannings"
    return kind


def before_planner(recipe: Recipe) -> list[type[StageKind]]:
    """The kinds of `simplify` and `compose` that make the planner's prompt: its own, or in their place those that the
    recipe names."""
    named = {stage: chosen(recipe, f"{stage}.kind") for stage in ("simplify", "compose")}
    return list(dict.fromkeys(named.get(kind.stage) or kind for kind in planner_of(recipe).before()))


def installed_planner(recipe: Recipe) -> type[Planning] | None:
    """The kind of `plan` of a stored recipe; None where the package that brought it is gone."""
    kind = installed(recipe, "plan.kind")
    return kind if kind is not None and issubclass(kind, Planning) else None


def may_overrule(recipe: Recipe) -> bool:
    """Whether an agent may do another action than the one whose value it found best."""
    kind = kinds()["imagine.kind"].get(recipe.imagine.kind)
    reads = kind is not None and "quirks.wq23_takes_sample_of_that_place" in kind.reads
    return reads and takes_sample_of_that_place(recipe)


def judging_of(recipe: Recipe) -> PublishedJudging | None:
    """How the published evaluation of a stored recipe's planner judges steps; None where it judges as ours."""
    planner = installed_planner(recipe)
    return planner.judged(recipe) if planner else None


def ranking_of(recipe: Recipe) -> type[StageKind] | None:
    """The kind of `rank`: the planner's own, or the one that the recipe names."""
    return planner_of(recipe).ranking(recipe) or chosen(recipe, "rank.kind")


def recipe_kinds(recipe: Recipe) -> list[type[StageKind]]:
    """All kinds of a recipe in the order of the stages; recall comes before a ranking that takes what it gives."""
    observing = [kind for kind in (chosen(recipe, "observe.observation"),) if kind]
    ranking = [kind for kind in (ranking_of(recipe),) if kind]
    recalling = [kind for setting in kinds() if setting.startswith("recall.") if (kind := working(recipe, setting))]
    first, second = (recalling, ranking) if any(kind.takes for kind in ranking) else (ranking, recalling)
    planner = planner_of(recipe)
    imagining = [kind for kind in (chosen(recipe, "imagine.kind"),) if kind]
    if any("imagine.value" in kind.reads for kind in imagining):
        imagining += [kind for kind in (chosen(recipe, "imagine.value"),) if kind]
    asking = [kind for kind in (chosen(recipe, "act.ask"),) if kind]
    guarding = [kind for kind in (chosen(recipe, "act.guard"),) if kind]
    return [*observing, *first, *second, *before_planner(recipe), planner, *imagining, *asking, TakenAction, *guarding]


def asking_endpoint(recipe: Recipe) -> list[type[StageKind]]:
    """The kinds of a recipe that ask a language model at an endpoint."""
    nobody_plans = not planner_of(recipe).asks
    return [kind for kind in recipe_kinds(recipe) if kind.asks_llm(recipe) or (kind.asks_as_planner and nobody_plans)]


def sees_text(recipe: Recipe) -> bool:
    """Whether a prompt shows the page as text, not as a screenshot alone."""
    kind = chosen(recipe, "observe.observation")
    return kind is None or getattr(kind, "text", True)


def predicts_objective(recipe: Recipe) -> bool:
    """Whether `recall` is told the pages so far, to have the next action's objective predicted."""
    return any("history" in kind.told(recipe) for kind in recipe_kinds(recipe) if kind.stage == "recall")


def rankings_wanted(recipe: Recipe) -> list[str]:
    """The values of rank.kind that the recipe's planner needs; empty where it goes with the chosen one."""
    ranking = chosen(recipe, "rank.kind")
    if not planner_of(recipe).takes_told or (ranking and ranking.tells_best):
        return []
    return [value for value, kind in kinds()["rank.kind"].items() if kind.tells_best]


def overlooked(recipe: Recipe) -> list[str]:
    """Settings of recall, with the values that would count: of a planner that reads no prompt and takes nothing of what
    the chosen kinds give, so that they would only look as if they counted."""
    if not planner_of(recipe).takes_told:
        return []
    taken, found = frozenset().union(*(kind.takes for kind in recipe_kinds(recipe))), []
    for setting, by_value in kinds().items():
        giving = working(recipe, setting) if setting.startswith("recall.") else None
        if giving and giving.gives and not giving.gives & taken:
            taking = [value for value, kind in by_value.items() if kind.gives & taken]
            found.append(f"{setting}={' or '.join([nothing_of(recipe, setting), *taking])}")
    return found


def nothing_of(recipe: Recipe, setting: str) -> str:
    """The value by which a setting that chooses a kind chooses none."""
    return "false" if isinstance(value_of(recipe, setting), bool) else "none"


def needs_ranking(recipe: Recipe) -> bool:
    """Whether the planner needs a ranking and the recipe makes none."""
    return planner_of(recipe).needs_ranking and ranking_of(recipe) is None


def induces_online(recipe: Recipe) -> bool:
    """Whether the run itself writes the workflows that it shows."""
    return recipe.recall.induction == "online" and working(recipe, "recall.workflows") is not None


def embeds_apart(recipe: Recipe) -> bool:
    """Whether what is recalled is compared by vectors of another encoder than the ranking's."""
    return not ranker_embeds(recipe) and any(kind.embeds for kind in recipe_kinds(recipe))


def ranker_embeds(recipe: Recipe) -> bool:
    """Whether what is recalled is compared by the vectors of the ranking model."""
    ranking = ranking_of(recipe)
    return ranking is not None and ranking.embeds_memory


def fails_unasked(recipe: Recipe) -> bool:
    """Whether a step whose gold element is not among the top_k is failed without asking, as published (Q27)."""
    return recipe.quirks.q27_fails_unasked and planner_of(recipe).fails_unasked


def stage_served(model: str) -> str:
    """The stage that a kind of model is trained for; "" for what is none."""
    return next((stage for stage, models in MODELS.items() if model in models), "")


def training_of(recipe: Recipe, kind: str = "") -> tuple[str, dict[str, Any]]:
    """The kind of model that is trained for a recipe, and the settings of that training that the recipe decides. `kind`
    "" is the planner. ValueError where the recipe trains nothing of that kind."""
    stage = chosen(recipe, "rank.kind") if stage_served(kind) == "rank" else planner_of(recipe)
    own, settings = stage.training(recipe) if stage else ("", {})
    if not own or (kind and kind != own and not {kind, own} <= LANGUAGE_MODELS):
        what = f"a {kind}" if kind else "a planner"
        raise ValueError(f"{recipe.name} has no use for {what} trained here" + (f"; it uses a {own}" if own else ""))
    return kind or own, settings


def trained_for(recipe: Recipe, kinds: Sequence[str]) -> str:
    """The first of these kinds of model that the recipe uses; "" for none of them."""
    stages = [stage for stage in (planner_of(recipe), chosen(recipe, "rank.kind")) if stage]
    return next((kind for stage in stages if (kind := stage.training(recipe)[0]) in kinds), "")


def texts_of(recipe: Recipe) -> dict[str, type[StageKind]]:
    """The name of each text of a prompt pack that a recipe gives to models -> the kind of stage that gives it."""
    return {name: kind for kind in recipe_kinds(recipe) for name in sorted(kind.texts(recipe))}


def unfit(recipe: Recipe, pack: Pack) -> str:
    """Why a recipe cannot use a pack: the first text that is missing or has a form that its use cannot show; "" where
    it can."""
    for name, kind in texts_of(recipe).items():
        if name not in pack.texts:
            return f"the prompt pack {pack.reference} has no text {name!r}, which {recipe.name} needs to {kind.stage}"
        if said := misfit(pack.prompt(name)):
            return f"{recipe.name} cannot use the prompt pack {pack.reference} to {kind.stage}: its {name!r} {said}"
    return ""


def too_many_examples(recipe: Recipe, pack: Pack) -> str:
    """Why a recipe cannot show as many worked examples of a pack as it asks for; "" where it can. An author's pack may
    have fewer than a packaged recipe asks for: all of them are shown then."""
    for kind in recipe_kinds(recipe):
        for name, wanted in kind.shown_examples(recipe).items():
            if wanted and wanted > (there := len(pack.prompt(name).messages()) // 2):
                return f"compose.shots={wanted}: the prompt pack {pack.reference} has {there} worked examples ({name})"
    return ""


def searched(recipe: Recipe) -> frozenset[str]:
    """What a dataset must hold before the recipe runs on it, as `StageKind.searches` says it."""
    return frozenset().union(*(kind.searches(recipe) for kind in recipe_kinds(recipe)))


def told(recipe: Recipe) -> frozenset[str]:
    """What observations must tell the kinds of a recipe beside the page."""
    return frozenset().union(*(kind.told(recipe) for kind in recipe_kinds(recipe)))

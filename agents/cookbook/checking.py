"""Refuses a change of a recipe that would change nothing, and says what would read the setting. Core.

The kinds that a recipe chooses say which settings they read, which of those are idle beside the others, and which
blocks (memory, exemplars, workflows) they give and take. Stored recipes are not checked.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from agents.prompts.packs import Pack, packaged_pack
from agents.recipes import differences, literature
from agents.recipes.declaring import out_of_bounds, settings_of, value_of, values_of
from agents.recipes.differences import based_on
from agents.recipes.literature import Recipe
from agents.stages.kind import Beside, StageKind
from agents.stages.known import kinds
from agents.stages.plan.kinds import Planning, compared_by
from agents.stages.registry import (
    NOTHING,
    chosen,
    needs_ranking,
    nothing_of,
    planner_of,
    ranking_of,
    rankings_wanted,
    recipe_kinds,
    sees_text,
    too_many_examples,
    unfit,
    working,
)

ALWAYS = frozenset({"preset", "batch_size"})
TOLD_BY_KINDS = ("observe.observation", "imagine.value")  # they choose a kind, and other kinds say whether they count
SHOWN = {
    "recall.memory": "recalled steps",
    "recall.exemplars": "exemplars",
    "recall.workflows": "workflows",
    "recall.rewrite_instruction": "rewritten instructions",
}


def vary(parent: Recipe, changes: Mapping[str, str]) -> Recipe:
    """The parent with settings changed by dotted name, values as text. ValueError names the first that is wrong, that
    no stage would read, or that does not go with the others."""
    recipe = literature.override(parent, dict(changes))
    check(parent, recipe, [*changes])
    return recipe


def check(parent: Recipe, recipe: Recipe, names: Collection[str]) -> None:
    """ValueError unless every one of these settings that differs from the parent's is read, and all go together. What a
    parent was derived by counts as if it were set together with these, so that the order of changes does not matter;
    of weights that are named beside what they are to be trained from, `check_base` tells."""
    by = derived_by(parent, names)
    root = based_on(parent) if _is_derived(parent) else parent
    before, after = values_of(literature.in_preset(root, recipe.preset)), values_of(recipe)
    changed = [name for name in (*names, *sorted(by)) if before[name] != after[name]]
    if wrong := out_of_bounds(recipe):
        raise ValueError(f"{next(iter(wrong.values()))}, as {parent.name} was stored before these bounds")
    _check_built(changed, after)
    _check_together(changed, recipe)
    _check_still_shown(root, recipe, changed)
    _check_compared(recipe, changed)
    _check_at_most(recipe, changed, read_by(recipe))
    read, was_read = read_by(recipe), read_by(root)
    for name in changed:
        if name in was_read and _is_off(name, after[name], root, recipe):
            continue  # what read it was turned off beside it
        if (wants := _wants_any(name, root, recipe)) or (name not in read and (wants := _wants(name, recipe))):
            value = f"={after[name]}" if name in kinds() or name in by else ""
            undo = str(before[name]).lower() if isinstance(before[name], bool) else before[name]
            by_it = f"; {parent.name} was derived by it, so set {name}={undo}, too" if name in by else ""
            raise ValueError(f"{name}{value} would change nothing in {recipe.name}: it needs {wants}{by_it}")
    if pack := packaged_pack(recipe.prompts.pack):  # which pack another name means depends on the project: `check_pack`
        check_shots(recipe, pack, changed)


def derived_by(recipe: Recipe, names: Collection[str] = ()) -> frozenset[str]:
    """The settings by which somebody derived a recipe and that count in it, or turn off what counted; none of a
    packaged one. What was stored before it had to be read is left out, and so is what a change of `names` sets anew."""
    if not _is_derived(recipe):
        return frozenset()
    root = based_on(recipe)
    own = differences.changed(recipe, literature.in_preset(root, recipe.preset))
    read, was_read = read_by(recipe), read_by(root)
    anew = {*names} | {f"{stage}.base" for stage in ("rank", "plan") if f"{stage}.model" in names}
    counting = {
        name
        for name, (_, now) in own.items()
        if name in read or (name in was_read and _is_off(name, now, root, recipe))
    }
    return frozenset(counting - anew)


def _is_derived(recipe: Recipe) -> bool:
    """Whether somebody derived it here from a packaged one."""
    return recipe.name not in literature.RECIPES and bool(differences.base_name(vars(recipe)))


def _is_off(name: str, value: object, root: Recipe, recipe: Recipe) -> bool:
    """Whether a setting says none, or counts the one that there always is; or is 0 or a switch that nobody turned on,
    where a kind was turned off, or where it says how many there are of something that another kind gives now."""
    is_default = value == settings_of(Recipe)[name].default
    if value == 0:
        return (is_default or value is not False) and (_turns_off(root, recipe) or _counted_no_more(name, root, recipe))
    return value in ("none", "") or (value == 1 and value is not True and is_default)


def _counted_no_more(name: str, root: Recipe, recipe: Recipe) -> bool:
    reading = {kind for kind in recipe_kinds(root) if name in kind.reads}
    counting = {kind.counted_by for by_value in kinds().values() for kind in by_value.values()}
    return name in counting and not reading & {*recipe_kinds(recipe)}


def _turns_off(root: Recipe, recipe: Recipe) -> bool:
    """Whether some kind of the one is gone in the other, and none stands in its place."""

    def works(one: Recipe, setting: str) -> bool:
        return working(one, setting) not in (None, kinds()[setting].get("none"))

    return any(works(root, setting) and not works(recipe, setting) for setting in kinds())


def check_shots(recipe: Recipe, pack: Pack, changed: Collection[str]) -> None:
    """ValueError where `compose.shots` was set to more worked examples than the pack has. A recipe that nobody changed
    shows as many as there are."""
    if "compose.shots" in changed and (said := too_many_examples(recipe, pack)):
        raise ValueError(said)


def check_pack(recipe: Recipe, pack: Pack) -> None:
    """ValueError naming the text that the recipe needs of a prompt pack and does not find, or cannot show."""
    if said := unfit(recipe, pack):
        raise ValueError(said)


def read_by(recipe: Recipe) -> frozenset[str]:
    """The dotted names of the settings that count in a recipe."""
    beside = _beside(recipe)
    counting = [kind for kind in recipe_kinds(recipe) if not kind.gives or kind.gives & beside.blocks]
    found = set(ALWAYS).union(*(kind.reads - kind.idle(beside).keys() for kind in counting))
    left_out = [kind for kind in _left_out(recipe) if kind.gives & _taken(recipe)]
    found |= {kind.counted_by for kind in left_out}  # of 0, too: it is how they are left out
    found |= {name for name in kinds() if name not in TOLD_BY_KINDS and _chooses(name, recipe, counting)}
    return frozenset(found - _overruled(recipe).keys())


def _beside(recipe: Recipe) -> Beside:
    ranking = ranking_of(recipe)
    ranked = ranking is not None and not ranking.takes
    return Beside(recipe, _blocks(recipe), ranked, planner_of(recipe).asks, sees_text(recipe))


def _overruled(recipe: Recipe) -> dict[str, str]:
    """The settings that would change nothing beside some kind, whoever reads them, with what they need in words."""
    return {name: wants for kind in recipe_kinds(recipe) for name, wants in kind.overrules(recipe).items()}


def _blocks(recipe: Recipe) -> frozenset[str]:
    """The blocks that a kind gives and another takes."""
    return _given(recipe) & _taken(recipe)


def _left_out(recipe: Recipe) -> list[type[StageKind]]:
    """The kinds that a recipe chooses and goes without, as it asks for 0 of what they give."""
    found = [chosen(recipe, setting) for setting in SHOWN]
    return [kind for kind in found if kind and kind.gives_none(recipe)]


def _given(recipe: Recipe) -> frozenset[str]:
    return frozenset().union(*(kind.gives for kind in recipe_kinds(recipe)))


def _taken(recipe: Recipe) -> frozenset[str]:
    """The blocks that the kinds of a recipe take. A planner whose network also ranks takes none."""
    planner = planner_of(recipe)
    takers = [kind for kind in recipe_kinds(recipe) if kind is not planner or planner.ranking(recipe) is None]
    return frozenset().union(*(kind.taken(recipe) for kind in takers))


def _chooses(name: str, recipe: Recipe, counting: Sequence[type[StageKind]]) -> bool:
    """Whether the value of a setting that chooses a kind counts: it chooses none, or a kind that works."""
    kind = kinds()[name].get(str(value_of(recipe, name)))
    return kind is None or kind in counting


def _check_built(changed: Sequence[str], after: Mapping[str, object]) -> None:
    for name in changed:
        value = str(after[name])
        if name in kinds() and value not in NOTHING and value not in kinds()[name]:
            built = ["none", *kinds()[name]] if name.startswith("imagine.") else [*kinds()[name]]
            raise ValueError(f"{name}={value} is not built yet; {name} takes {either(built)}")


def _check_together(changed: Sequence[str], recipe: Recipe) -> None:
    """ValueError where settings do not go together, such as a planner and a ranking, or a comparison and one sample."""
    if (comparing := compared_by(recipe)) and (said := _nothing_to_compare(recipe, comparing)):
        raise ValueError(said)
    if said := next(filter(None, (kind.unsuited(recipe) for kind in recipe_kinds(recipe))), ""):
        raise ValueError(said)
    if said := next(filter(None, (_unlike_own(recipe, stage) for stage in ("simplify", "compose"))), ""):
        raise ValueError(said)
    if not {"rank.kind", "plan.kind", "plan.model"} & set(changed):
        return
    if wanted := rankings_wanted(recipe):
        pair = f"rank.kind={recipe.rank.kind} does not go with plan.kind={recipe.plan.kind}"
        raise ValueError(f"{pair}, which takes {either(wanted)}")
    if needs_ranking(recipe) and not recipe.needs:
        raise ValueError(f"rank.kind=none does not go with plan.kind={recipe.plan.kind}, which takes a ranking")


def _unlike_own(recipe: Recipe, stage: str) -> str:
    """Why a kind of simplify or compose that the recipe names cannot stand in the place of the planner's own, with
    which it shares the state; "" where it can."""
    kind, planner = chosen(recipe, f"{stage}.kind"), planner_of(recipe)
    own = [one for one in planner.before() if one.stage == stage]
    if kind is None or not own:
        return ""
    said = f"{stage}.kind={value_of(recipe, f'{stage}.kind')} does not go with plan.kind={recipe.plan.kind}"
    if not any(issubclass(kind, one) for one in own):
        return f"{said}: it does not derive from {either([one.__name__ for one in own])}, in whose place it would stand"
    if planner.form is not None and getattr(kind, "form", None) is not planner.form:
        return f"{said}, which reads answers of the form {planner.form.name}"
    return ""


def _nothing_to_compare(recipe: Recipe, kind: str) -> str:
    plan = recipe.plan
    drawing = {value: kind for value, kind in kinds()["plan.kind"].items() if getattr(kind, "draws", False)}
    if not planner_of(recipe).draws:
        return f"{kind} does not go with plan.kind={plan.kind}; it takes {either([*drawing])}"
    counting = chosen(recipe, "imagine.kind")
    if counting and counting.counts_equals and not planner_of(recipe).repeats:
        repeating = either([value for value, planner in drawing.items() if getattr(planner, "repeats", False)])
        said = f"{kind} counts equal samples, and plan.kind={plan.kind} gives each action once"
        return f"{said}; it takes plan.kind={repeating}"
    if plan.samples < 2 or not plan.temperature:
        return f"{kind} compares samples: set plan.samples of at least 2 and plan.temperature above 0"
    return ""


def _check_still_shown(parent: Recipe, recipe: Recipe, changed: Sequence[str]) -> None:
    """ValueError where another planner or ranking leaves a block that the parent shows without anything that shows
    it. A trained planner goes without what the packaged recipe shows, but not without what somebody has chosen."""
    causing = ("plan.kind", "rank.kind", "simplify.kind", "compose.kind", "recall.weight", "plan.model")
    causes = [name for name in causing if name in changed]
    if causes in ([], ["plan.model"]):
        return
    for setting, words in SHOWN.items():
        kind = chosen(recipe, setting)
        if kind is None or setting in changed or not kind.gives & _blocks(parent) or kind.gives & _taken(recipe):
            continue
        if not kind.gives_none(recipe):
            said = f"{causes[0]}={value_of(recipe, causes[0])} would leave {words} that nothing shows"
            raise ValueError(f"{said}: set {setting}={nothing_of(recipe, setting)}, too")


def _check_compared(recipe: Recipe, changed: Collection[str]) -> None:
    """ValueError where several replies of each prompt would be paid for, and the first alone be used."""
    plan, planner = recipe.plan, planner_of(recipe)
    if not planner.asks or plan.samples < 2 or compared_by(recipe):
        return
    if not {"imagine.kind", "act.ask", "plan.kind", "plan.samples"} & set(changed):
        return
    comparing = ", or imagine.kind or act.ask to what compares them" if planner.draws else ""
    said = f"plan.samples={plan.samples} would draw {plan.samples} replies of each prompt that nothing compares"
    raise ValueError(f"{said}: set plan.samples=1{comparing}")


def _check_at_most(recipe: Recipe, changed: Collection[str], read: Collection[str]) -> None:
    """ValueError where somebody asks for more of something than there is: as many as there are would be taken."""
    imagined, drawn = recipe.imagine.samples, recipe.plan.samples
    shown, kept = recipe.simplify.group_size, recipe.rank.top_k
    for name, wanted, of, most, why in (
        ("imagine.samples", imagined, "plan.samples", drawn, "as no more are drawn"),
        ("simplify.group_size", shown, "rank.top_k", kept, "as no more elements are kept"),
    ):
        if name in changed and name in read and wanted > most:
            said = f"{name}={wanted} would change nothing beside {of}={most}, {why}"
            least = settings_of(Recipe)[name].least or 0
            fewer = f"{name}={most}, or " if most >= least else ""
            raise ValueError(f"{said}: set {fewer}{of} of at least {wanted}")


def _wants_any(name: str, parent: Recipe, recipe: Recipe) -> str:
    """What a setting of recall needs, in words, where neither its old kind nor the new one is asked for any of what it
    gives; "" elsewhere."""
    if name not in SHOWN or working(parent, name) is not working(recipe, name):
        return ""
    found = chosen(recipe, name) or chosen(parent, name)
    return f"{found.counted_by} of at least 1" if found and found.gives_none(recipe) else ""


def _wants(name: str, recipe: Recipe) -> str:
    """What would read a setting, in words; "" where the setting only turns off what did not work before either."""
    if name in SHOWN:
        return _wants_shown(name, recipe)
    beside, overruled = _beside(recipe), _overruled(recipe)
    reading = [kind for kind in recipe_kinds(recipe) if name in kind.reads]
    if name in overruled and (reading or name in kinds()):
        return overruled[name]
    if idle := [wants for kind in reading if (wants := kind.idle(beside).get(name))]:
        return idle[0]
    if counted := [kind.counted_by for kind in _left_out(recipe) if name in kind.reads and kind.gives & _taken(recipe)]:
        return f"{counted[0]} of at least 1"
    for setting in SHOWN:
        kind = chosen(recipe, setting)
        if kind and (kind in reading or (name in kind.reads and working(recipe, setting) is not kind)):
            return _wants_shown(setting, recipe)  # what it gives is taken by none
    none_built = f"a kind of {name.partition('.')[0]} that reads it, and none is built yet"
    return ", or ".join(_readers(name, beside)) or settings_of(Recipe)[name].set_by or none_built


def _wants_shown(name: str, recipe: Recipe) -> str:
    """What would take the block that a setting of recall chooses, in words."""
    kind = kinds()[name].get(str(value_of(recipe, name)))
    if kind is None:
        return ""
    if kind.gives & _taken(recipe):
        return f"{kind.counted_by} of at least 1"
    if planner_of(recipe).ranking(recipe) is not None:
        return "an empty plan.model: a trained planner takes no memory"
    takers = [value for value, planner in kinds()["plan.kind"].items() if kind.gives & _all_of(planner, "takes")]
    return f"a prompt that shows {SHOWN[name]}: plan.kind={either(takers)}"


def _readers(name: str, beside: Beside) -> Iterator[str]:
    """The kinds that read a setting, and what else it needs there: "plan.kind=generation with plan.backend=local"."""
    for setting, by_value in kinds().items():
        values: dict[str, list[str]] = {}
        for value, kind in by_value.items():
            own = [one for one in _with_its_own(kind) if name in one.reads]
            reading = [one for one in own if name not in one.overrules(beside.recipe)]
            if reading:
                values.setdefault(reading[-1].idle(beside).get(name, ""), []).append(value)
        if setting not in (name, "observe.observation"):
            for wants, named in values.items():
                yield f"{setting}={either(named)}{f' with {wants}' if wants else ''}"


def either(values: Sequence[str]) -> str:
    """The values in a row: "a, b or c"."""
    *first, last = values
    return f"{', '.join(first)} or {last}" if first else last


def _all_of(kind: type[StageKind], what: str) -> frozenset[str]:
    """What a kind, and the kinds that go with a planner, read or take; `what` is "reads" or "takes"."""
    return frozenset().union(*(getattr(one, what) for one in _with_its_own(kind)))


def _with_its_own(kind: type[StageKind]) -> tuple[type[StageKind], ...]:
    return (*kind.before(), kind) if issubclass(kind, Planning) else (kind,)

"""A changed setting counts or is refused, in one sentence that names it and what would read it."""

import dataclasses
import re
from functools import cache

import pytest

from agents.cookbook import checking
from agents.prompts.packs import webnav
from agents.recipes import literature
from agents.recipes.declaring import settings_of, values_of
from agents.recipes.literature import RECIPES, Recipe
from agents.stages.kind import StageKind
from agents.stages.known import kinds
from agents.stages.registry import recipe_kinds

NOTHING = "would change nothing in"


@pytest.mark.parametrize(
    ("recipe", "changes", "named", "accepted"),
    [
        ("mindact", "rank.history_turns=7", "rank.history_turns", "recorded WebLINX turns"),
        ("mindact-car", "recall.k=5", "recall.k", "recall.memory=multifaceted, fixed or task_knn"),
        ("mindact", "recall.k=5", "recall.k", "recall.memory=multifaceted, fixed or task_knn"),
        ("grounded", "compose.shots=2", "compose.shots", "plan.kind=multichoice, generation or trajectory"),
        ("mindact", "imagine.samples=20", "imagine.samples", "imagine.kind=world_model"),
        ("cot", "imagine.predicts=page", "imagine.predicts", "imagine.kind=world_model"),
        ("wma", "imagine.kind=value_only imagine.depth=2", "imagine.depth", "imagine.kind=world_model"),
        (
            "wma",
            "preset=corrected imagine.loop=mind2web",
            "imagine.loop",
            "preset=faithful, or .*: elsewhere leave it out",
        ),
        (
            "deberta",
            "plan.temperature=1",
            "plan.temperature",
            "plan.kind=grounded with .*, or plan.kind=multichoice, generation, ",
        ),
        ("grounded", "rank.exact=true", "rank.exact", "rank.kind=dmr"),
        ("self-map", "rank.kind=score_file rank.base=other", "rank.base", "rank.kind=cross_encoder or dmr"),
        ("mindact-icl", "compose.context_tokens=100", "compose.context_tokens", "plan.kind=trajectory"),
        ("mindact-icl", "plan.constrained=true", "plan.constrained", "plan.backend=local"),
        ("mindact", "observe.observation=image", "observe.observation=image", "plan.backend=endpoint"),
        ("bare", "recall.rationales=stored", "recall.rationales", "recall.memory other than none"),
        ("synapse", "recall.induction_style=abstract", "recall.induction_style", "recall.induction=online"),
        ("grounded", "recall.sort_by=time", "recall.sort_by", "recalled steps that a prompt shows"),
        ("self-map", "recall.k=1 recall.sort_by=time", "recall.sort_by", "recall.k of at least 2"),
        ("synapse-conversation", "recall.k=1 recall.sort_by=time", "recall.sort_by", "recall.k of at least 2"),
        ("grounded", "recall.state_in_query=true", "recall.state_in_query", "a ranking before it recalls: rank.kind"),
        (
            "grounded",
            "recall.state_in_query=true simplify.page_elements=9",
            "recall.state_in_query",
            "a ranking before",
        ),
        (
            "mindact-icl",
            "simplify.page_elements=9",
            "simplify.page_elements",
            "recall.memory=multifaceted with recall.state_in_query=true",
        ),
        ("exemplar-environment", "recall.encoder=other", "recall.encoder", "recall.exemplars=semantic"),
        ("grounded", "recall.encoder=other", "recall.encoder", "rank.kind other than dual_encoder"),
        ("deberta", "recall.rewrite_instruction=true", "recall.rewrite_instruction=True", "plan.kind=multichoice"),
        ("deberta", "rank.top_k=3", "rank.top_k", "plan.kind other than first, which takes the best element"),
        ("mindact", "quirks.q18_gold_in_top_k=false", "quirks.q18_gold_in_top_k", "plan.kind=trajectory"),
        # what a later stage does not show
        (
            "grounded",
            "recall.workflows=semantic",
            "recall.workflows=semantic",
            "a prompt that shows workflows: plan.kind",
        ),
        ("deberta", "recall.memory=fixed", "recall.memory=fixed", "a prompt that shows recalled steps: plan.kind"),
        ("grounded", "recall.memory=fixed", "recall.memory=fixed", "a prompt that shows recalled steps: plan.kind"),
        ("mindact-icl", "recall.exemplars=semantic", "recall.exemplars=semantic", "recall.exemplar_k of at least 1"),
        ("grounded", "plan.model=x recall.k=9", "recall.k", "an empty plan.model"),
        (
            "self-map",
            "recall.memory=none recall.rationales=stored",
            "recall.rationales",
            "recall.memory other than none",
        ),
        ("self-map", "recall.k=0 recall.rationales=stored", "recall.rationales", "recall.k of at least 1"),
        ("self-map", "recall.k=0 recall.encoder=x", "recall.encoder", "recall.k of at least 1"),
        ("self-map", "recall.k=0 recall.state_in_query=true", "recall.state_in_query", "recall.k of at least 1"),
        ("self-map", "recall.k=0 simplify.memory_pages=whole", "simplify.memory_pages", "recalled steps or exemplars"),
        (
            "self-map",
            "recall.k=0 quirks.q11_item_without_trajectory=false",
            "quirks.q11_item_without_trajectory",
            "recall.k of at",
        ),
        ("mindact", "recall.memory=fixed", "recall.memory=fixed", "recall.k of at least 1"),
        ("bare", "preset=corrected rank.top_k=20", "rank.top_k", "quirks.q27_fails_unasked=true"),
        ("grounded", "rank.top_k=1", "rank.top_k", "plan.kind other than grounded, which takes the best element"),
        ("weblinx-flan-t5", "rank.kind=none rank.top_k=3", "rank.top_k", "rank.kind other than none"),
        ("weblinx-flan-t5", "rank.kind=none compose.candidates=5", "compose.candidates", "rank.kind other than none"),
        ("weblinx-flan-t5", "rank.kind=none rank.element_limit=50", "rank.element_limit", "rank.kind other than none"),
        (
            "weblinx-flan-t5",
            "rank.kind=score_file compose.candidates=0 rank.element_limit_unit=tokens",
            "rank.element_limit_unit",
            "compose.candidates of at least 1",
        ),
        ("bare", "observe.observation=image simplify.page_elements=9", "simplify.page_elements", "other than image"),
        ("bare", "observe.observation=image quirks.q18_gold_in_top_k=false", "quirks.q18_gold_in_top_k", "than image"),
        (
            "synapse-miniwob",
            "observe.observation=image simplify.abstraction=words",
            "simplify.abstraction",
            "observe.observation other than image",
        ),
        ("bare", "plan.backend=local compose.context_tokens=999", "compose.context_tokens", "plan.backend=endpoint"),
        ("grounded", "recall.k=0 recall.weight=0.5", "recall.weight", "recall.memory=multifaceted with recall.k of"),
        ("mims", "recall.workflow_k=0 recall.induction=online", "recall.induction", "recall.workflow_k of at least 1"),
        ("mims", "recall.workflow_k=0 recall.exemplar_k=0 recall.encoder=x", "recall.encoder", "recall.exemplar_k of"),
        ("awm-online", "recall.workflow_k=1", "recall.workflow_k", "recall.workflows=semantic or recall.induction="),
        ("weblinx-flan-t5-w10", "rank.element_limit_unit=tokens", "rank.element_limit_unit", "rank.element_limit of "),
        # snippets are embedded by a ranking model in their published form
        (
            "self-map",
            "rank.kind=dual_encoder rank.model=x quirks.q11_item_without_trajectory=false",
            "quirks.q11_item_without_trajectory",
            "rank.kind other than dual_encoder, which embeds memory itself",
        ),
        # what is usual elsewhere counts as little as any other value
        ("awm-online", "recall.workflows=none recall.induction=offline", "recall.induction", "recall.workflows=env"),
        ("mims", "recall.workflow_k=0 recall.workflow_query=task", "recall.workflow_query", "recall.workflow_k of at"),
        ("bare", "preset=corrected rank.top_k=50", "rank.top_k", "quirks.q27_fails_unasked=true"),
        # what a model that is named was trained from
        (
            "dmr-minilm",
            "rank.base=BAAI/bge-small-en-v1.5",
            "rank.base",
            "an empty rank.model, or a model trained from it: manage.py train_ranker DATASET --recipe dmr-minilm --set "
            "rank.base=BAAI/bge-small-en-v1.5 --name NAME, then rank.model=NAME alone",
        ),
        (
            "self-map",
            "rank.model=mine rank.base=other",
            "rank.base",
            "train_ranker DATASET --recipe self-map --set rank",
        ),
        (
            "self-map",
            "plan.model=mine plan.base=other",
            "plan.base",
            "train_planner DATASET --recipe self-map --set pl",
        ),
        ("bare", "plan.backend=local plan.model=mine plan.base=other", "plan.base", "an empty plan.model"),
        (
            "bare",
            "preset=corrected plan.kind=multichoice quirks.q18_gold_in_top_k=true",
            "quirks.q18_gold_in_top_k",
            "",
        ),
        (
            "synapse-abstraction",
            "plan.kind=multichoice compose.trajectory=true",
            "compose.trajectory",
            "",
        ),
        (
            "self-map",
            "preset=corrected recall.memory=none quirks.q11_item_without_trajectory=true",
            "quirks.q11_item_without_trajectory",
            "",
        ),
        ("mindact-icl", "plan.base=other", "plan.base", "plan.backend=local"),
        # what is drawn without chance is the same each time
        ("wma", "imagine.temperature=0 imagine.top_p=0.5", "imagine.top_p", "imagine.temperature above 0"),
        (
            "wma",
            "imagine.temperature=0 imagine.value_samples=9",
            "imagine.value_samples",
            "imagine.temperature above 0",
        ),
        # 0 turns off nothing where what read it gave way to another kind
        ("wma", "imagine.kind=majority imagine.temperature=0", "imagine.temperature", "imagine.kind=world_model"),
        ("awm", "recall.induction=online recall.workflow_k=0", "recall.workflow_k", "recall.induction=offline"),
        ("dmr-minilm", "rank.kind=score_file rank.history_turns=0", "rank.history_turns", "rank.kind=cross_encoder"),
        ("dmr-minilm", "rank.kind=cross_encoder rank.exact=false", "rank.exact", "rank.kind=dmr"),
        ("weblinx-flan-t5", "plan.kind=trajectory compose.history_turns=0", "compose.history_turns", "action_string"),
        # a planner that gives each action once, the best first, of which one alone is imagined
        ("grounded-world-model", "imagine.samples=1 plan.temperature=0.9", "plan.temperature", "imagine.samples of at"),
        ("grounded-world-model", "imagine.samples=1 plan.samples=9", "plan.samples", "imagine.samples of at least 2"),
    ],
)
def test_a_setting_that_nothing_reads_is_refused_with_what_would_read_it(
    recipe: str, changes: str, named: str, accepted: str
) -> None:
    with pytest.raises(ValueError, match=f"^{named} {NOTHING} {recipe}: it needs .*{accepted}"):
        checking.vary(RECIPES[recipe], dict(change.split("=") for change in changes.split()))


def test_no_more_actions_are_imagined_than_are_drawn() -> None:
    parent = RECIPES["grounded-world-model"]  # draws 5
    said = (
        r"imagine\.samples=9 would change nothing beside plan\.samples=5, as no more are drawn: set imagine\.samples=5"
    )
    with pytest.raises(ValueError, match=said):
        checking.vary(parent, {"imagine.samples": "9"})
    both = checking.vary(parent, {"imagine.samples": "9", "plan.samples": "9"})
    assert (both.imagine.samples, both.plan.samples) == (9, 9)
    assert checking.vary(parent, {"imagine.samples": "4"}).imagine.samples == 4


def test_no_group_of_elements_is_larger_than_what_is_kept() -> None:
    said = r"simplify\.group_size=9 would change nothing beside rank\.top_k=5, .*: set simplify\.group_size=5, or"
    with pytest.raises(ValueError, match=said):
        checking.vary(RECIPES["mindact-icl"], {"rank.top_k": "5", "simplify.group_size": "9"})
    assert checking.vary(RECIPES["mindact-icl"], {"rank.top_k": "9", "simplify.group_size": "9"}).rank.top_k == 9
    alone = {"rank.top_k": "1", "quirks.q7_single_candidate_fails": "false", "simplify.group_size": "3"}
    with pytest.raises(ValueError, match=r"no more elements are kept: set rank\.top_k of at least 3$"):
        checking.vary(RECIPES["mindact-icl"], alone)


@pytest.mark.parametrize(
    ("recipe", "changes", "said"),
    [
        (
            "mindact-icl",
            "rank.top_k=1",
            "rank.top_k=1 does not go with quirks.q7_single_candidate_fails=true, by which",
        ),
        (
            "self-map",
            "rank.top_k=1 recall.rationales=model",
            "rank.top_k=1 does not go with quirks.q7_single_candidate",
        ),
        (  # ran once, and not one of 22 prompts held a workflow or an exemplar, or asked for more than one sample
            "mindact-icl",
            "recall.workflows=semantic recall.exemplars=semantic imagine.kind=world_model imagine.samples=20",
            "imagine.kind=world_model does not go with plan.kind=multichoice",
        ),
        ("mindact", "imagine.kind=majority", "imagine.kind=majority does not go with plan.kind=multichoice"),
        ("cot", "plan.temperature=0", "imagine.kind=majority compares samples: set plan.samples of at least 2"),
        ("grounded", "rank.kind=cross_encoder", "rank.kind=cross_encoder does not go with plan.kind=grounded"),
        ("deberta", "rank.kind=none", "rank.kind=none does not go with plan.kind=first"),
        (
            "mindact",
            "plan.kind=action_string",
            "plan.kind=action_string does not go with mindact, which reads no recor",
        ),
        (
            "synapse-miniwob",
            "recall.exemplar_k=0",
            "recall.exemplars=voted does not go with recall.exemplar_k=0: .* at lea",
        ),
        (
            "wma",
            "imagine.kind=none",
            "plan.samples=20 would draw 20 replies of each prompt that nothing compares: set plan.samples=1, or imagi",
        ),
        ("bare", "rank.kind=none", "rank.kind=none does not go with plan.kind=trajectory, which takes a ranking"),
    ],
)
def test_what_does_not_go_together_is_refused(recipe: str, changes: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        checking.vary(RECIPES[recipe], dict(change.split("=") for change in changes.split()))


COMPARING = ", or imagine.kind or act.ask to what compares them"


@pytest.mark.parametrize(
    ("recipe", "changes", "mend"),
    [
        ("wma", "imagine.kind=none plan.samples=19", COMPARING),
        ("cot", "imagine.kind=none plan.temperature=0", COMPARING),  # an endpoint gives all of them then, too
        ("bare", "plan.samples=20", COMPARING),
        *(
            (name, "plan.temperature=1 plan.samples=20", mend)
            for name, mend in {
                **dict.fromkeys(("bare", "weblinx-flan-t5"), COMPARING),
                **dict.fromkeys(("mindact-icl", "mindact", "synapse-miniwob"), ""),  # planners that use the first one
            }.items()
        ),
    ],
)
def test_replies_that_nothing_compares_are_not_paid_for(recipe: str, changes: str, mend: str) -> None:
    wanted = dict(change.split("=") for change in changes.split())
    said = rf"^plan\.samples=\d+ would draw .* of each prompt that nothing compares: set plan\.samples=1{mend}$"
    with pytest.raises(ValueError, match=said):
        checking.vary(RECIPES[recipe], wanted)
    assert checking.vary(RECIPES[recipe], wanted | {"plan.samples": "1"}).plan.samples == 1


@pytest.mark.parametrize("name", ["plan.temperature", "imagine.temperature"])
def test_a_temperature_at_which_no_number_is_left_is_refused(name: str) -> None:
    for text in ("1e-320", "0.0009"):
        with pytest.raises(ValueError, match=rf"^{name} must be 0, or at least 0\.001, got "):
            checking.vary(RECIPES["wma"], {name: text})
    assert checking.vary(RECIPES["wma"], {name: "0.001"})


def test_how_many_replies_are_drawn_has_an_end() -> None:
    with pytest.raises(ValueError, match=r"^plan\.samples must lie in 1\.\.100, got 101$"):
        checking.vary(RECIPES["wma"], {"plan.samples": "101"})
    assert checking.vary(RECIPES["wma"], {"plan.samples": "100"}).plan.samples == 100


@pytest.mark.parametrize(
    ("recipe", "changes"),
    [
        ("mindact", "recall.memory=fixed recall.k=5"),
        ("mindact-icl", "recall.workflows=semantic recall.exemplars=semantic recall.exemplar_k=2"),
        ("mindact-icl", "observe.observation=text+image"),
        ("awm", "recall.memory=multifaceted recall.k=2 recall.rationales=stored"),
        ("self-map", "recall.exemplars=semantic recall.exemplar_k=1"),
        ("mindact-weblinx", "rank.history_turns=7"),
        ("grounded", "recall.memory=none"),
        ("awm", "recall.exemplar_k=0"),
        ("self-map", "rank.base=other"),  # it names no ranker: one is to be trained from it
        ("grounded", "recall.k=9 recall.weight=0.5 plan.model="),
        ("bare", "recall.rewrite_instruction=true"),
        ("mims", "simplify.page_elements=9 plan.backend=local compose.max_tokens=99"),
        ("awm-online", "recall.induction_style=abstract"),
        (
            "mindact-icl",
            "recall.workflows=semantic recall.workflow_query=objective simplify.history_elements=1",
        ),
        ("mindact", "preset=corrected quirks.q7_single_candidate_fails=true"),
        # a kind is turned off together with what depends on it
        ("self-map", "recall.memory=none recall.rationales=none"),
        ("self-map", "recall.k=0 recall.rationales=none"),
        ("awm", "recall.exemplars=none recall.exemplar_k=0"),
        ("grounded-world-model", "imagine.kind=none plan.samples=1 plan.temperature=0"),
        ("wma", "imagine.kind=none plan.samples=1 plan.temperature=0"),
        ("synapse-miniwob", "recall.exemplars=own recall.exemplar_k=0"),
        ("grounded", "compose.shots=0 rank.kind=dual_encoder recall.workflow_k=9"),  # the parent's values
    ],
)
def test_mixtures_that_count_are_taken(recipe: str, changes: str) -> None:
    found = checking.vary(RECIPES[recipe], dict(change.split("=") for change in changes.split()))
    assert dataclasses.replace(found, name="") == dataclasses.replace(
        literature.override(RECIPES[recipe], dict(change.split("=") for change in changes.split())), name=""
    )


# Values that no stage reads, in recipes whose stored hash should stay: the whole conversation has no k, what is derived
# keeps how pages of memory were shown, and MiniLM is there without being trained.
LEFT = {"mindact": {"recall.k"}, "mindact-icl": {"recall.k"}, "mindact-car": {"simplify.memory_pages"}}
LEFT |= {name: {"rank.base"} for name in ("dmr-minilm", "weblinx-flan-t5", "weblinx-flan-t5-w10")}


@pytest.mark.parametrize("name", RECIPES)
def test_published_recipes_set_nothing_that_is_not_read(name: str) -> None:
    recipe, known = RECIPES[name], settings_of(Recipe)
    values, read = values_of(recipe), checking.read_by(recipe)
    told = {one for one in known if values[one] != known[one].default and not one.startswith(("quirks.", "preset"))}
    assert told - read == LEFT.get(name, set())
    parent = RECIPES.get(recipe.parent)
    if parent and not recipe.needs:
        checking.check(parent, recipe, sorted(told - LEFT.get(name, set())))


@pytest.mark.parametrize("name", settings_of(Recipe))
def test_every_setting_is_read_by_some_recipe(name: str) -> None:
    if name not in ("quirks.wq13_strips_w_and_dots", "recall.rewrite_instruction"):
        assert name in read_by_some()


@cache
def read_by_some() -> frozenset[str]:
    varied = [literature.override(recipe, changes) for recipe in RECIPES.values() for changes in MIXTURES]
    return frozenset().union(*map(checking.read_by, varied))


MIXTURES: list[dict[str, str]] = [
    {},
    {"act.guard": "policy"},
    {"act.ask": "close"},
    {"imagine.loop": "mind2web"},
    {"imagine.kind": "trained", "imagine.value": "progress"},
    {"plan.backend": "endpoint", "recall.memory": "multifaceted", "recall.rationales": "stored"},
    {"recall.workflows": "environment", "recall.induction": "online"},
]


@pytest.mark.parametrize(
    ("loop", "quirk"),
    [("webarena", "wq21_stop_wins"), ("mind2web", "wq22_imagines_every_sample")],
)
def test_a_loop_counts_in_any_preset_once_a_quirk_of_it_is_set_as_its_refusal_says(loop, quirk) -> None:
    changes = {"preset": "corrected", "imagine.loop": loop, f"quirks.{quirk}": "true"}
    varied = checking.vary(RECIPES["wma"], changes)
    assert {"imagine.loop", f"quirks.{quirk}"} <= checking.read_by(varied)
    (other,) = {"webarena", "mind2web"} - {loop}
    with pytest.raises(ValueError, match=f"quirks.{quirk} would change nothing in wma: it needs imagine.loop={loop}"):
        checking.vary(RECIPES["wma"], {**changes, "imagine.loop": other})


def test_what_the_kinds_read_is_declared() -> None:
    names = set(settings_of(Recipe))
    assert set(kinds()) <= names
    for by_value in kinds().values():
        for kind in by_value.values():
            assert checking._all_of(kind, "reads") <= names, kind


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_conditions_are_of_settings_that_are_read(recipe: Recipe) -> None:
    """What a kind calls idle is a setting, and what it overrules some kind reads or a setting chooses."""
    names, beside = set(settings_of(Recipe)), checking._beside(recipe)
    every = [one for by_value in kinds().values() for kind in by_value.values() for one in checking._with_its_own(kind)]
    read = set(kinds()).union(*(kind.reads for kind in every))
    for kind in every:
        assert kind.idle(beside).keys() <= names, kind
        assert kind.overrules(recipe).keys() <= read, kind


@pytest.mark.parametrize("changes", [{"imagine.kind": "value_only"}, {"imagine.predicts": "page"}])
@pytest.mark.parametrize("value", ["progress", "embedded"])
def test_what_values_a_change_in_words_is_not_given_something_else(changes: dict[str, str], value: str) -> None:
    with pytest.raises(ValueError, match=rf"does not go with imagine\.value={value}"):
        checking.vary(literature.get("wma"), changes | {"imagine.value": value})


@pytest.mark.parametrize(("recipe", "text"), [("mindact-icl", "page_shots_multichoice"), ("bare", "abstraction_demos")])
def test_no_more_worked_examples_are_promised_than_the_pack_has(recipe: str, text: str) -> None:
    parent = literature.override(RECIPES[recipe], {} if recipe == "mindact-icl" else {"compose.trajectory": "false"})
    assert checking.vary(parent, {"compose.shots": "1"}).compose.shots == 1
    said = rf"compose.shots=4: the prompt pack \S+ has 3 worked examples \({text}\)"
    with pytest.raises(ValueError, match=said):
        checking.vary(parent, {"compose.shots": "4"})


@pytest.mark.parametrize(
    ("recipe", "setting"),
    [
        ("awm", "recall.workflows"),
        ("mims", "recall.exemplars"),
        ("self-map", "recall.memory"),
        ("mindact-car", "recall.rewrite_instruction"),
    ],
)
def test_another_planner_leaves_nothing_behind_that_it_does_not_show(recipe: str, setting: str) -> None:
    asked = {"plan.kind": "first"}
    named = re.compile(r"plan\.kind=first would leave .+ that nothing shows: set (\S+)=(\w+), too")
    while setting not in asked:  # each block is named in turn
        with pytest.raises(ValueError, match=named) as refused:
            checking.vary(RECIPES[recipe], asked)
        asked.update([named.findall(str(refused.value))[0]])
    assert len(asked) <= 5


BESIDE: list[dict[str, str]] = [{}, {"rank.kind": "dual_encoder", "rank.model": "x"}, {"plan.backend": "endpoint"}]


def in_vain(recipe: Recipe) -> list[type[StageKind]]:
    """The kinds that give what no kind takes, those among them that ask a model."""
    taken = checking._blocks(recipe)
    return [kind for kind in recipe_kinds(recipe) if kind.gives and not kind.gives & taken]


@pytest.mark.parametrize(
    "parent", [recipe for recipe in RECIPES.values() if not recipe.needs], ids=lambda one: one.name
)
def test_whatever_planner_is_taken_shows_all_that_is_recalled(parent: Recipe) -> None:
    assert in_vain(parent) == []
    varied = [vary_or_none(parent, {"plan.kind": kind, **more}) for kind in kinds()["plan.kind"] for more in BESIDE]
    taken = [recipe for recipe in varied if recipe is not None]
    assert taken
    assert {recipe.plan.kind: in_vain(recipe) for recipe in taken if in_vain(recipe)} == {}


def vary_or_none(parent: Recipe, changes: dict[str, str]) -> Recipe | None:
    try:
        return checking.vary(parent, changes)
    except ValueError:
        return None


def test_what_a_ranking_alone_took_is_not_left_behind_by_another_ranking_or_weight() -> None:
    ranked = {"rank.kind": "dual_encoder", "rank.model": "x", "recall.weight": "0.5"}
    parent = checking.vary(RECIPES["self-map-no-rationale"], {"plan.kind": "first", **ranked})
    said = "would leave recalled steps that nothing shows: set recall.memory=none, too"
    with pytest.raises(ValueError, match=f"^rank.kind=cross_encoder {said}"):
        checking.vary(parent, {"rank.kind": "cross_encoder"})
    with pytest.raises(ValueError, match=f"^recall.weight=0.0 {said}"):
        checking.vary(parent, {"recall.weight": "0"})
    assert checking.vary(parent, {"rank.kind": "cross_encoder", "recall.memory": "none"})


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("prompts.pack", "", "must be webnav, NAME or NAME@VERSION, got ''"),
        ("prompts.pack", "My words", "must be webnav, NAME or NAME@VERSION, got 'My words'"),
        ("plan.model", "   ", "must begin and end without a space, got '   '"),
        ("rank.model", "mine ", "must begin and end without a space, got 'mine '"),
        ("imagine.samples", "101", r"must lie in 1..100, got 101"),
        ("imagine.value_samples", "1000000", r"must lie in 1..100, got 1000000"),
    ],
)
def test_texts_and_numbers_that_no_agent_can_have_are_refused(name: str, text: str, said: str) -> None:
    with pytest.raises(ValueError, match=rf"^{re.escape(f'{name} {said}')}$"):
        checking.vary(RECIPES["wma"], {name: text})


def test_a_version_of_the_packaged_words_that_is_not_here_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^there is no webnav@999: webnav has version \d+ here$"):
        checking.vary(RECIPES["wma"], {"prompts.pack": "webnav@999"})
    here = f"webnav@{webnav().version}"
    assert checking.vary(RECIPES["wma"], {"prompts.pack": here}).prompts.pack == here
    shots = {"prompts.pack": here, "compose.shots": "99"}
    with pytest.raises(ValueError, match=r"compose\.shots=99"):
        checking.vary(RECIPES["mindact-icl"], shots)

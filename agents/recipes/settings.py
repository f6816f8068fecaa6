"""The settings of an agent, stage by stage, and the named quirks of the published code. Core: frozen data.

Every field can be set by its dotted name (`recall.k=5`, `quirks.q18_gold_in_top_k=false`).
"""

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from agents.prompts.packs import PACKAGED, REFERENCE
from agents.recipes.declaring import SettingGroup, extended, one_of, setting
from agents.recipes.kinds import PLANNERS_OWN, named

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")

PRESETS = ("faithful", "corrected")
COLDEST = 0.001  # temperature that is not 0: scores are divided by it, and below some 1e-300 no number is left

# settings that count in live episodes alone: recorded steps are decided the same however they are set
LIVE_ONLY = frozenset({"act.guard_seconds", "plan.programs"})
# values of settings that are of recorded steps alone, as no live page is decided so
RECORDED_ONLY = {"imagine.loop": "mind2web"}


def planners_own(name: str, what: str) -> str:
    """A field by which a stage is left to the planner's own kind, or done by another package's; `what` it does."""
    field: str = setting(
        PLANNERS_OWN,
        f"{what}: the planner's own way (planner), or that of another package",
        choices=(PLANNERS_OWN, *named(name)),
        added=True,
        set_by="a planner that is shown a part of a page",
    )
    return field


@extended
@dataclass(frozen=True)
class ObserveSettings(SettingGroup):
    """Stage `observe`: what of the page reaches a prompted planner."""

    stage = "observe"

    observation: str = setting(
        "text",
        "what of the page the planner is given; images need a dataset with screenshots",
        choices=named("observe.observation"),
    )


@extended
@dataclass(frozen=True)
class RankSettings(SettingGroup):
    """Stage `rank`: score the page's elements against the instruction."""

    stage = "rank"

    kind: str = setting("none", "how elements are scored", choices=("none", *named("rank.kind")))
    model: str = setting("", "a model trained here, a folder, a Hugging Face name or a score file")
    base: str = setting("", "published weights that training starts from")
    top_k: int = setting(50, "elements kept; a gold element below them counts as a miss", least=1)
    history_turns: int = setting(5, "turns before the current one in a WebLINX query", least=0)
    element_limit: int = setting(
        200, "longest element text in a WebLINX document; 0: none but the encoder's own limit", least=0
    )
    element_limit_unit: Literal["chars", "tokens"] = setting("chars", "unit of that limit")
    exact: bool = setting(
        False, "dmr: every element is encoded, as published; else scores below the kept ones are estimates"
    )
    # Weights of the evidence that an untrained encoder cannot see (`grounded` only; agents/stages/rank/dual_encoder.py
    # says what each is). Chosen by random search on the train split of the sample, never on a test split.
    lexical_weight: float = setting(0.0, "weight of words in common with the instruction")
    role_weight: float = setting(0.0, "weight of being interactive")
    order_weight: float = setting(0.0, "weight of standing after the element acted on last")
    option_weight: float = setting(0.0, "weight of options that the instruction names")
    link_penalty: float = setting(0.0, "subtracted from links")
    repeat_penalty: float = setting(0.0, "subtracted from elements used before in the turn")


@extended
@dataclass(frozen=True)
class RecallSettings(SettingGroup):
    """Stage `recall`: which earlier steps, exemplars and workflows are shown or used."""

    stage = "recall"

    memory: str = setting(
        "none",
        "which earlier steps of the conversation are recalled",
        choices=named("recall.memory"),
    )
    k: int = setting(3, "how many: snippets (multifaceted) or turns (fixed, task_knn)", least=0)
    sort_by: Literal["relevance", "time"] = setting("relevance", "order of recalled steps")
    state_in_query: bool = setting(False, "pages are compared too (Self-MAP, Figure 6)")
    encoder: str = setting("", "embeds memory, exemplars and workflows; empty: the packaged MiniLM")
    rewrite_instruction: bool = setting(False, "a model first makes the instruction stand alone")
    rationales: Literal["none", "stored", "model"] = setting(
        "none", "sentences why an earlier action was right; model: asked for where none is stored"
    )
    exemplars: str = setting(
        "none",
        "what is shown as examples: whole trajectories of the train split, or the imported set that the page is most "
        "like (voted) or that belongs to the task (own)",
        choices=("none", *named("recall.exemplars")),
    )
    exemplar_k: int = setting(0, "how many exemplars; voted: how many of the nearest keys vote for a set", least=0)
    exemplar_key: Literal["metadata", "task"] = setting(
        "metadata", "what the nearest exemplars are searched by: website, domain and task, or the task alone"
    )
    workflows: str = setting(
        "none",
        "routines shown: those of the site, or those nearest to a query",
        choices=("none", *named("recall.workflows")),
    )
    workflow_k: int = setting(
        9, "how many: of the domain, or of all, where the site has none (environment); nearest ones (semantic)", least=0
    )
    workflow_query: Literal["task", "objective"] = setting("task", "what the nearest workflows are searched by")
    induction: Literal["offline", "online"] = setting(
        "offline", "workflows are induced from the train split (offline) or from what this run did before (online)"
    )
    induction_style: Literal["concrete", "abstract"] = setting(
        "concrete", "how workflows of a run (online) name elements: by their texts, or by what they are for"
    )
    weight: float = setting(0.0, "share of recalled memory in the ranking query", least=0, most=1)


@extended
@dataclass(frozen=True)
class SimplifySettings(SettingGroup):
    """Stage `simplify`: how much of a page is shown."""

    stage = "simplify"

    group_size: int = setting(5, "elements shown at a time, of one knock-out round", least=2)
    page_elements: int = setting(5, "elements of the current page in a trajectory prompt", least=1)
    history_elements: int = setting(3, "elements of earlier pages and exemplars there", least=1)
    memory_pages: Literal["simplified", "whole"] = setting(
        "simplified", "how much of recalled pages is shown; simplified: the used element and four others"
    )
    abstraction: Literal["none", "words", "program"] = setting(
        "none",
        "what a model makes of the page before it acts, where the exemplar set shows how: nothing, words, or a program "
        "that finds what matters (words where that fails)",
        added=True,
    )
    kind: str = planners_own("simplify.kind", "what chooses the parts of a page")


@extended
@dataclass(frozen=True)
class ComposeSettings(SettingGroup):
    """Stage `compose`: the prompt and its budgets, in tokens of the planner's tokenizer."""

    stage = "compose"

    shots: int = setting(0, "worked examples of ours before the task", least=0)
    layout: Literal["conversation", "task"] = setting(
        "conversation",
        "how a local planner reads pages: as a conversation with a sentence on the role (MT-Mind2Web), or as page and "
        "question alone (MindAct on single tasks)",
    )
    trajectory: bool = setting(True, "earlier pages and actions of the turn are shown; else only the last actions")
    max_tokens: int = setting(2048, "longest input of a local planner, in tokens", least=16)
    piece_tokens: int = setting(512, "longest part of it (page, question), in tokens", least=16)
    context_tokens: int = setting(
        16385, "longest prompt to an endpoint, in tokens; exemplars that do not fit are left out", least=16
    )
    history_turns: int = setting(5, "turns before the current one in a WebLINX prompt", least=0)
    candidates: int = setting(10, "elements listed in a WebLINX prompt", least=0)
    kind: str = planners_own("compose.kind", "what writes the prompt")


@dataclass(frozen=True)
class PackSettings(SettingGroup):
    """The words that models are given. `sha256` is of the texts of the pack that was planned with; "": not planned."""

    stage = "prompts"

    pack: str = setting(
        PACKAGED,
        "whose words models are given: webnav, or NAME or NAME@VERSION of a project's packs",
        pattern=REFERENCE.pattern,
        written=f"{PACKAGED}, NAME or NAME@VERSION",
    )
    sha256: str = ""


@extended
@dataclass(frozen=True)
class PlanSettings(SettingGroup):
    """Stage `plan`: how the action is made."""

    stage = "plan"

    kind: str = setting("first", "how the action is made", choices=named("plan.kind"))
    backend: Literal["local", "endpoint"] = setting("local", "local weights, or an OpenAI-compatible endpoint")
    model: str = setting("", "a model trained here, a folder or a Hugging Face name; endpoint: empty is LLM_MODEL")
    base: str = setting("", "published weights that training starts from")
    max_new_tokens: int = setting(50, "longest reply, in tokens", least=1)
    temperature: float = setting(
        0.0, "sampling temperature, of grounded that of its scores; 0: the most likely reply", least=0, zero_or=COLDEST
    )
    top_p: float = setting(
        1.0, "tokens are drawn of the likeliest that together have this probability", above=0, most=1
    )
    samples: int = setting(
        1,
        "replies drawn of each prompt, with the run's seed, of grounded its best elements; the first one is acted on",
        least=1,
        most=100,
    )
    constrained: bool = setting(False, "a local model can only answer in the expected form")
    programs: int = setting(
        0,
        "programs of a live episode at most; 0: as many as Synapse lets its task have, which is 1 of most",
        least=0,
        added=True,
    )


@extended
@dataclass(frozen=True)
class ImagineSettings(SettingGroup):
    """Stage `imagine`: a world model, and how many actions it compares."""

    stage = "imagine"

    kind: str = setting(
        "none",
        "how actions are compared before one is chosen: by what a language model (world_model), one trained here "
        "(trained) or past transitions (retrieval) say of their outcome, by their value without an outcome "
        "(value_only), or by how often they were drawn (majority)",
        choices=("none", *named("imagine.kind")),
    )
    predicts: Literal["change", "page"] = setting(
        "change", "what a world model writes: what will be different, in words, or the whole next page", added=True
    )
    loop: Literal["webarena", "mind2web"] = setting(
        "webarena",
        "as in which of WMA's two published loops the preset faithful compares: that of live tasks, or that of "
        "recorded Mind2Web steps, which has other quirks and reads values otherwise",
        added=True,
    )
    samples: int = setting(3, "most frequent actions of the planner's samples that are imagined", least=1, most=100)
    value: str = setting(
        "likert",
        "how outcomes are valued: a language model gives 1 to 5 (likert), one trained here says how far on the way "
        "they are (progress), or what past transitions tell (embedded)",
        choices=named("imagine.value"),
    )
    value_samples: int = setting(20, "answers of the value function to each of them", least=1, most=100)
    share_weight: float = setting(
        0.0,
        "weight of the planner's own probability of an action, its logarithm, beside that of its value; 0: none",
        least=0,
    )
    depth: int = setting(1, "actions in a row that are imagined before the last state is valued", least=1, most=5)
    model: str = setting(
        "", "the model that imagines: of the endpoint (and values), empty the planner's; or trained here"
    )
    value_model: str = setting("", "the model trained here that values outcomes (progress)")
    temperature: float = setting(1.0, "sampling temperature of its answers", least=0, zero_or=COLDEST)
    top_p: float = setting(0.95, "share of probability that its tokens are drawn of", above=0, most=1)
    max_new_tokens: int = setting(500, "longest answer, in tokens", least=1)
    page_tokens: int = setting(3840, "longest accessibility tree it is shown, in tokens; cut at the end", least=16)


@extended
@dataclass(frozen=True)
class ActSettings(SettingGroup):
    """Stage `act`: what is carried out."""

    stage = "act"

    guard: str = setting(
        "none",
        "what finds risky actions, which a live run holds until a person decides (docs/guard.md)",
        choices=("none", *named("act.guard")),
    )
    ask: str = setting(
        "none",
        "when the user is asked instead: where the best two readings are close (docs/live.md)",
        choices=("none", *named("act.ask")),
        added=True,
    )
    ask_ratio: float = setting(
        0.9, "from which share of the first reading's probability the second is close", above=0, most=1, added=True
    )
    guard_seconds: int = setting(
        120, "how long a held action waits in a live run before its episode ends", least=1, most=1500
    )


def quirk(what: str, *, added: bool = False, set_by: str = "") -> Any:
    """A field of `Quirks`: on by default, as published; `what` says in words what it does."""
    return setting(True, what, added=added, set_by=set_by)


@dataclass(frozen=True)
class Quirks(SettingGroup):
    """Behaviour of the published code that changes numbers. `faithful` sets all, `corrected` none.

    Numbers are those of the conformance cases (q… of planners, wq… of WebLINX).
    """

    stage = "quirks"

    q6_overlooks_last_skipped: bool = quirk(
        "skipped steps at the end of a split are in no mean over steps of the metrics faithful", added=True
    )
    q7_single_candidate_fails: bool = quirk("a step with one candidate asks nothing and fails")
    q8_empty_reply_crashes: bool = quirk("an empty multiple-choice reply is an error of the step, not the answer none")
    q9_option_before_a_wraps: bool = quirk("the options @ ? > = choose elements counted from the end")
    q10_unreadable_picks_first: bool = quirk("an element that cannot be read becomes the first choice")
    q11_item_without_trajectory: bool = quirk("memory items are matched by their own action, without those before it")
    q12_relevant_first: bool = quirk("the most relevant snippet comes first, where a long prompt is cut")
    q14_rationale_joined: bool = quirk("no line break between a value and its rationale")
    q16_missing_fallback_crashes: bool = quirk(
        "where a program that abstracts a page fails and its exemplar set has no words for that case, the step fails",
        added=True,
    )
    q17_typed_command_presses: bool = quirk(
        "a typed text that begins with command is a press of the key with Control", added=True
    )
    q18_gold_in_top_k: bool = quirk("trajectory prompts always show the gold element, whatever its rank: a leak")
    q19_first_positive_only: bool = quirk("trajectory planners are right on the first gold element only")
    q20_exact_string_success: bool = quirk("a trajectory step succeeds only when its text equals the gold action's")
    q25_punctuation_counts: bool = quirk("multiple choice keeps punctuation in the operation F1, generation drops it")
    click_value_counts: bool = quirk("a value beside a CLICK counts in the operation F1, where a right CLICK has none")
    q27_fails_unasked: bool = quirk("a step whose gold element is not among the top_k asks nothing and fails")
    wq1_history_hides_attributes: bool = quirk("elements in a WebLINX history show no attributes")
    wq2_numbers_lose_quotes: bool = quirk("a quoted number becomes a number and then matches no text")
    wq4_corners_find_nothing: bool = quirk("an element named by its corners is not found")
    wq7_keeps_text_input_without_element: bool = quirk("text inputs without an element stay in WebLINX prompts")
    wq9_history_restarts: bool = quirk("each attempt to shorten a history starts from the whole of it")
    wq11_spaces_out_no_utterance: bool = quirk("without an utterance the prompt spells the fallback with spaces")
    wq13_strips_w_and_dots: bool = quirk(
        "URLs lose every leading w and dot before they are compared",
        set_by="preset, which sets how WebLINX runs are judged",
    )
    wq21_stop_wins: bool = quirk(
        "in the loop of WebArena an action that stops, or whose text says stop, is done without imagining any",
        added=True,
    )
    wq22_imagines_every_sample: bool = quirk(
        "in the loop of Mind2Web every distinct sample is imagined, not the most frequent ones alone"
    )
    wq23_takes_sample_of_that_place: bool = quirk(
        "in the loop of Mind2Web the sample drawn at the best action's place among the frequent ones is taken, not "
        "that action"
    )
    webarena_hides_repeated_texts: bool = quirk(
        "a world model that is asked sees a page without texts that repeat a line shortly before, even a new count"
    )
    unread_samples_compete: bool = quirk("a sample without an action competes, and none may be the most frequent one")
    first_utterance_is_extra: bool = quirk("the first utterance is shown beside the last five, not among them")

    @classmethod
    def of(cls, preset: str) -> "Quirks":
        """All quirks as a preset sets them."""
        one_of("preset", preset, PRESETS)
        return cls(**{f.name: preset == "faithful" for f in dataclasses.fields(cls)})

    def narrowed(self, kind: type[T]) -> T:
        """The quirks that one module knows, `kind` being its frozen dataclass of flags; those that only make the
        published code crash stay off."""
        names = {f.name for f in dataclasses.fields(self)}
        return kind(**{f.name: f.name in names and getattr(self, f.name) for f in dataclasses.fields(kind)})

"""The settings of an agent, stage by stage, and the named quirks of the published code. Core: frozen data.

Every field can be set by its dotted name (`recall.k=5`, `quirks.q18_gold_in_top_k=false`).
"""

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")

PLANNERS = ("first", "grounded", "multichoice", "generation", "trajectory", "action_string")
PRESETS = ("faithful", "corrected")


def one_of(name: str, value: str, choices: tuple[str, ...]) -> None:
    """ValueError naming the choices unless `value` is one of them."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}")


def at_least(name: str, value: float, least: float) -> None:
    """ValueError unless `value` reaches `least`."""
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")


@dataclass(frozen=True)
class ObserveSettings:
    """Stage `observe`: what of the page reaches a prompted planner."""

    observation: str = "text"  # text | image | text+image; images need a dataset with screenshots

    def __post_init__(self) -> None:
        one_of("observe.observation", self.observation, ("text", "image", "text+image"))


@dataclass(frozen=True)
class RankSettings:
    """Stage `rank`: score the page's elements against the instruction."""

    kind: str = "none"  # none | dual_encoder | cross_encoder | dmr | score_file
    model: str = ""  # a model trained here, a folder, a Hugging Face name or a score file
    base: str = ""  # published weights that training starts from
    top_k: int = 50  # candidates kept for the later stages; a gold element below it counts as a miss
    history_turns: int = 5  # turns before the current one in a WebLINX query
    element_limit: int = 200  # of an element's text in a WebLINX document; 0: none but the encoder's own
    element_limit_unit: Literal["chars", "tokens"] = "chars"  # chars | tokens
    exact: bool = False  # dmr: encode every element as published; else the scores below the top_k are estimates
    # Weights of the evidence that an untrained encoder cannot see (`grounded` only; agents/stages/rank/dual_encoder.py
    # says what each is). Chosen by random search on the train split of the sample, never on a test split.
    lexical_weight: float = 0.0
    role_weight: float = 0.0
    order_weight: float = 0.0
    option_weight: float = 0.0
    link_penalty: float = 0.0
    repeat_penalty: float = 0.0

    def __post_init__(self) -> None:
        one_of("rank.kind", self.kind, ("none", "dual_encoder", "cross_encoder", "dmr", "score_file"))
        one_of("rank.element_limit_unit", self.element_limit_unit, ("chars", "tokens"))
        at_least("rank.top_k", self.top_k, 1)
        at_least("rank.history_turns", self.history_turns, 0)
        at_least("rank.element_limit", self.element_limit, 0)


@dataclass(frozen=True)
class RecallSettings:
    """Stage `recall`: which earlier steps, exemplars and workflows are shown or used."""

    memory: str = "none"  # none | multifaceted | chronological | fixed | task_knn
    k: int = 3  # snippets (multifaceted) or turns (fixed, task_knn)
    sort_by: Literal["relevance", "time"] = "relevance"  # relevance | time
    state_in_query: bool = False  # compare pages too (Self-MAP, Figure 6)
    encoder: str = ""  # embeds memory, exemplars and workflows; "": the packaged MiniLM
    rewrite_instruction: bool = False  # a model makes the instruction stand alone first
    rationales: str = "none"  # none | stored | model: those there, or asked for where there are none
    exemplars: str = "none"  # none | semantic | environment | fixed; always from the train split
    exemplar_k: int = 0
    workflows: str = "none"  # none | environment | semantic
    workflow_k: int = 9  # of the domain or of all where the site has none (environment); nearest ones (semantic)
    workflow_query: str = "task"  # task | objective: what semantic retrieval is asked
    induction: str = "offline"  # offline: from the train split | online: from what this run did before
    induction_style: str = "concrete"  # concrete | abstract: elements too by what they are for (online only)
    weight: float = 0.0  # share of recalled memory in the ranking query (`grounded` only)

    def __post_init__(self) -> None:
        one_of("recall.memory", self.memory, ("none", "multifaceted", "chronological", "fixed", "task_knn"))
        one_of("recall.sort_by", self.sort_by, ("relevance", "time"))
        one_of("recall.rationales", self.rationales, ("none", "stored", "model"))
        one_of("recall.exemplars", self.exemplars, ("none", "semantic", "environment", "fixed"))
        one_of("recall.workflows", self.workflows, ("none", "environment", "semantic"))
        one_of("recall.workflow_query", self.workflow_query, ("task", "objective"))
        one_of("recall.induction", self.induction, ("offline", "online"))
        one_of("recall.induction_style", self.induction_style, ("concrete", "abstract"))
        for name in ("k", "exemplar_k", "workflow_k"):
            at_least(f"recall.{name}", getattr(self, name), 0)
        if not 0.0 <= self.weight <= 1.0:
            raise ValueError(f"recall.weight must lie in 0..1, got {self.weight}")


@dataclass(frozen=True)
class SimplifySettings:
    """Stage `simplify`: how much of a page is shown."""

    group_size: int = 5  # elements of one knock-out round
    page_elements: int = 5  # of the current page in a trajectory prompt
    history_elements: int = 3  # of earlier pages and exemplars there
    memory_pages: str = "simplified"  # simplified: the gold element and four others | whole

    def __post_init__(self) -> None:
        at_least("simplify.group_size", self.group_size, 2)
        at_least("simplify.page_elements", self.page_elements, 1)
        at_least("simplify.history_elements", self.history_elements, 1)
        one_of("simplify.memory_pages", self.memory_pages, ("simplified", "whole"))


@dataclass(frozen=True)
class ComposeSettings:
    """Stage `compose`: the prompt and its budgets, in tokens of the planner's tokenizer."""

    shots: int = 0  # worked examples of ours before the task
    trajectory: bool = True  # earlier pages and actions of the turn; else only the last actions as text
    max_tokens: int = 2048  # of a local planner's input
    piece_tokens: int = 512  # of one part of it (page, question)
    context_tokens: int = 16385  # of a prompt to an endpoint; exemplars that do not fit are left out
    history_turns: int = 5  # turns before the current one in a WebLINX prompt
    candidates: int = 10  # listed in a WebLINX prompt

    def __post_init__(self) -> None:
        for name in ("shots", "history_turns", "candidates"):
            at_least(f"compose.{name}", getattr(self, name), 0)
        for name in ("max_tokens", "piece_tokens", "context_tokens"):
            at_least(f"compose.{name}", getattr(self, name), 16)


@dataclass(frozen=True)
class PlanSettings:
    """Stage `plan`: how the action is made."""

    kind: str = "first"  # first | grounded | multichoice | generation | trajectory | action_string
    backend: str = "local"  # local: weights | endpoint: an OpenAI-compatible server
    model: str = ""  # a model trained here, a folder or a Hugging Face name; endpoint: "" is LLM_MODEL
    base: str = ""  # published weights that training starts from
    max_new_tokens: int = 50
    temperature: float = 0.0
    constrained: bool = False  # a local model can only answer in the expected form

    def __post_init__(self) -> None:
        one_of("plan.kind", self.kind, PLANNERS)
        one_of("plan.backend", self.backend, ("local", "endpoint"))
        at_least("plan.max_new_tokens", self.max_new_tokens, 1)
        at_least("plan.temperature", self.temperature, 0.0)


@dataclass(frozen=True)
class ImagineSettings:
    """Stage `imagine`: a world model, and how many actions it compares."""

    kind: str = "none"  # none | world_model | majority
    samples: int = 1

    def __post_init__(self) -> None:
        one_of("imagine.kind", self.kind, ("none", "world_model", "majority"))
        at_least("imagine.samples", self.samples, 1)


def quirk(what: str) -> bool:
    """A field of `Quirks`: on by default, as published; `what` says in words what it does."""
    return field(default=True, metadata={"what": what})


@dataclass(frozen=True)
class Quirks:
    """Behaviour of the published code that changes numbers. `faithful` sets all, `corrected` none.

    Numbers are those of the planner specification (q…) and of the WebLINX specification (wq…).
    """

    q7_single_candidate_fails: bool = quirk("a step with one candidate asks nothing and fails")
    q8_empty_reply_crashes: bool = quirk("an empty multiple-choice reply is an error of the step, not the answer none")
    q9_option_before_a_wraps: bool = quirk("the options @ ? > = choose elements counted from the end")
    q10_unreadable_picks_first: bool = quirk("an element that cannot be read becomes the first choice")
    q11_item_without_trajectory: bool = quirk("memory items are matched by their own action, without those before it")
    q12_relevant_first: bool = quirk("the most relevant snippet comes first, where a long prompt is cut")
    q14_rationale_joined: bool = quirk("no line break between a value and its rationale")
    q18_gold_in_top_k: bool = quirk("trajectory prompts always show the gold element, whatever its rank: a leak")
    q19_first_positive_only: bool = quirk("trajectory planners are right on the first gold element only")
    q20_exact_string_success: bool = quirk("a trajectory step succeeds only when its text equals the gold action's")
    q25_punctuation_counts: bool = quirk("multiple choice keeps punctuation in the operation F1, generation drops it")
    click_value_counts: bool = quirk("a value beside a CLICK counts in the operation F1, where a right CLICK has none")
    wq1_history_hides_attributes: bool = quirk("elements in a WebLINX history show no attributes")
    wq2_numbers_lose_quotes: bool = quirk("a quoted number becomes a number and then matches no text")
    wq4_corners_find_nothing: bool = quirk("an element named by its corners is not found")
    wq7_keeps_text_input_without_element: bool = quirk("text inputs without an element stay in WebLINX prompts")
    wq9_history_restarts: bool = quirk("each attempt to shorten a history starts from the whole of it")
    wq11_spaces_out_no_utterance: bool = quirk("without an utterance the prompt spells the fallback with spaces")
    wq13_strips_w_and_dots: bool = quirk("URLs lose every leading w and dot before they are compared")
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

"""Exemplar sets of Synapse on MiniWoB++: which set fits a page, what a model is shown of the page, and what it is asked
(sources.md M7.2 to M7.4). Core."""

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from agents.environments.task_sets import SYNAPSE
from agents.llm.protocol import Message
from agents.programs.confined import ProgramFailed, observation_of
from agents.prompts.packs import Pack
from agents.types import Observation
from agents.words.trajectory_parse import in_fence

PromptType = Literal["state_act", "obs_act", "multi_state_act", "multi_obs_act"]
Abstraction = Literal["none", "words", "program"]

FILTER_STOP = ("Action:", "Output:", "State:")
FALLBACK_STOP = ("Action:",)

ACT_STOP = ("Observation:",)

# Of the tasks of the paper those whose pages are abstracted; in the others models see them as they are.
ABSTRACTED = frozenset(
    (
        "book-flight click-collapsible-2 click-menu click-pie click-shape click-tab-2 click-tab-2-hard count-shape "
        "email-inbox email-inbox-forward-nl email-inbox-forward-nl-turk email-inbox-nl-turk find-word grid-coordinate "
        "login-user-popup social-media social-media-some terminal tic-tac-toe use-autocomplete"
    ).split()
)
# Whole pages of these exceed a context of 4,097 tokens.
TOO_LONG_UNABSTRACTED = frozenset({"click-pie", "book-flight"})
ONE_STATE_DEMO = frozenset({"login-user-popup", "terminal", "use-autocomplete"})
_OWN_EXEMPLAR = {
    "click-tab-2-hard": "click-tab-2",
    "email-inbox": "email-inbox-nl-turk",
    "email-inbox-forward-nl": "email-inbox-nl-turk",
    "email-inbox-forward-nl-turk": "email-inbox-nl-turk",
}


# Programs of an episode at most, where it is more than one.
PROGRAMS = {
    "book-flight": 2,
    "terminal": 2,
    "use-autocomplete": 2,
    "login-user": 3,
    "login-user-popup": 3,
    "guess-number": 10,
    "tic-tac-toe": 10,
}


class ExemplarSets(Protocol):
    """The exemplar sets of a project. The shell implements it over rows, tests over lists."""

    def prepare(self, embedded: bool) -> None:
        """Read the sets, and embed their keys if they are searched."""
        ...

    def nearest(self, query: np.ndarray, k: int) -> list[str]:
        """The names of the sets that the k nearest keys belong to, nearest first."""
        ...

    def find(self, name: str) -> "PublishedExemplars | None":
        """The set of that name; None where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class FilterCall:
    """A question to a model about a page before it acts."""

    messages: tuple[Message, ...]
    stop: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shot:
    """One step of an exemplar. `state` is None where the page is too long to show; `obs` is None where the page is
    shown as it is."""

    act: str  # Python statements on `agent`
    obs: str | None = None
    state: str | None = None


@dataclass(frozen=True, slots=True)
class MiniwobDemo:
    """One demonstration of a set, of a single step or of a task with several steps."""

    steps: tuple[Shot, ...]
    task: str | None = None


@dataclass(frozen=True, slots=True)
class PublishedExemplars:
    """The published exemplars of one environment.

    Prompts of trajectories are per step, others apply to every step; "" or absent means none.
    """

    name: str
    demos: tuple[MiniwobDemo, ...]
    trajectory: bool  # demos have several steps
    filter_prompt: tuple[str, ...] | str | None = None
    code_filter_prompt: tuple[str, ...] | str | None = None
    ablation_act_prompt: str | None = None

    @classmethod
    def from_dict(cls, name: str, values: Mapping[str, Any]) -> "PublishedExemplars":
        """An entry of the published `exemplars.json` (sources.md M7.1). Raises KeyError for what is missing."""
        demos = []
        for demo in values["demo"]:
            steps = demo.get("trajectory", [demo])
            shots = tuple(Shot(step["act"], step.get("obs"), step.get("state")) for step in steps)
            demos.append(MiniwobDemo(shots, demo.get("task")))
        prompts: dict[str, Any] = {
            key: tuple(values[key]) if isinstance(values[key], list) else values[key]
            for key in ("filter_prompt", "code_filter_prompt", "ablation_act_prompt")
            if key in values
        }
        return cls(name, tuple(demos), "trajectory" in values["demo"][0], **prompts)


def specifier(task: str, state: str) -> str:
    """The key text by which exemplars are found: task and page."""
    return f"Task: {task}\nState:\n{state}"


def vote(neighbours: Sequence[str]) -> str:
    """The most frequent of the nearest exemplar names, nearest first; of equally frequent ones the nearest."""
    return Counter(neighbours).most_common(1)[0][0]


def own_exemplar(environment: str) -> str:
    """The exemplar of the environment itself, without retrieval (the ablation "no memory")."""
    return _OWN_EXEMPLAR.get(environment, environment)


def abstracts(task: str, abstraction: Abstraction) -> bool:
    """Whether the page is abstracted: as published and, for tasks that the paper does not have, wherever the exemplar
    set shows how. ValueError where that is switched off but pages would be too long."""
    if abstraction == "none" and task in TOO_LONG_UNABSTRACTED:
        raise ValueError(f"pages of {task} are too long to be shown without abstraction")
    return abstraction != "none" and (task in ABSTRACTED or task not in SYNAPSE)


def prompt_type(exemplar: PublishedExemplars, abstract: bool) -> PromptType:
    if exemplar.trajectory:
        return "multi_obs_act" if abstract else "multi_state_act"
    return "obs_act" if abstract and exemplar.demos[0].steps[0].obs is not None else "state_act"


def abstracting(
    exemplar: PublishedExemplars,
    kind: PromptType,
    told: tuple[str, str],
    step: int,
    *,
    programs: bool = True,
    crashes: bool = True,
) -> Generator[FilterCall, str, str]:
    """The observation that is made of a page by asking a model: each question is yielded, and its reply sent back.
    `told`: task and page; `step`: how many programs ran so far in the episode; `crashes`: quirk Q16.

    It is the page itself, or what a model makes of it: a program that computes the observation where the exemplar asks
    for one (and `programs` allows it), otherwise, and when that fails, the model's own words. Raises KeyError under
    Q16.
    """
    task, state = told
    if kind in ("state_act", "multi_state_act"):
        return state
    index = step if exemplar.trajectory else 0
    pairs = _pairs(exemplar, index) + f"State:\n{state}\nObservation:"
    code_prompt = _of_step(exemplar.code_filter_prompt, index)
    if not code_prompt or not programs:
        # As published: of the explicit prompts only those of single steps have words before the pairs.
        words = "" if exemplar.trajectory else _of_step(exemplar.filter_prompt, index) or ""
        return (yield FilterCall((Message("user", words + pairs),), FILTER_STOP))
    question = code_prompt.replace("<task>", task).replace("<state>", state)
    reply = yield FilterCall((Message("user", question),), FILTER_STOP)
    try:
        return observation_of(in_fence(reply), state)
    except ProgramFailed:
        asked = _of_step(exemplar.filter_prompt, index)
        if asked is None and crashes:
            raise KeyError("filter_prompt") from None
        return (yield FilterCall((Message("user", (asked or "") + pairs),), FALLBACK_STOP))


def act_messages(
    exemplar: PublishedExemplars, kind: PromptType, task: str, history: Sequence[tuple[str, str]], observation: str
) -> list[Message]:
    """The messages after the system message that ask for an action; `history` has (observation, act) of the episode so
    far.

    Prompts of single steps show no history.
    """
    if kind in ("state_act", "obs_act"):
        return [*_single_demos(exemplar, kind), _observed(observation)]
    return [*_trajectory_demos(exemplar, kind), *unaided_messages(task, history, observation)]


def unaided_messages(task: str, history: Sequence[tuple[str, str]], observation: str) -> list[Message]:
    """The messages that ask for an action without showing exemplars."""
    messages = [_trajectory(task)]
    for seen, act in history:
        messages += [_observed(seen), _acted(act)]
    return [*messages, _observed(observation)]


def programs_before(observation: Observation) -> list[tuple[str, str]]:
    """The (observation, program) of each decision of the episode so far. Several actions of one program are several
    steps but one entry."""
    decided = {past.observation.step_index: (past.shown, past.program) for past in observation.turn_steps}
    return [decided[index] for index in sorted(decided)]


def first_seen(observation: Observation) -> Observation:
    """The episode's first observation, by which its exemplar set is chosen."""
    return observation.turn_steps[0].observation if observation.turn_steps else observation


def system_message(pack: Pack) -> Message:
    return Message("system", pack.prompt("miniwob_system").text)


def _single_demos(exemplar: PublishedExemplars, kind: PromptType) -> list[Message]:
    messages = []
    if kind == "state_act" and exemplar.ablation_act_prompt:
        messages.append(Message("user", exemplar.ablation_act_prompt))
    for demo in exemplar.demos:
        shown = demo.steps[0].state if kind == "state_act" else demo.steps[0].obs
        if shown is not None:
            messages += [_observed(shown), _acted(demo.steps[0].act)]
    return messages


def _trajectory_demos(exemplar: PublishedExemplars, kind: PromptType) -> list[Message]:
    messages: list[Message] = []
    for demo in exemplar.demos:
        shown = [step.state if kind == "multi_state_act" else step.obs for step in demo.steps]
        if None in shown:
            continue
        messages.append(_trajectory(demo.task or ""))
        for text, step in zip(shown, demo.steps, strict=True):
            messages += [_observed(text or ""), _acted(step.act)]
        if kind == "multi_state_act" and exemplar.name in ONE_STATE_DEMO:
            break
    return messages


def _pairs(exemplar: PublishedExemplars, index: int) -> str:
    """Pages and their observations from the demos that show this step's page."""
    shots = (demo.steps[index] for demo in exemplar.demos if index < len(demo.steps))
    return "".join(f"State:\n{shot.state}\nObservation:\n{shot.obs}\n\n" for shot in shots if shot.state is not None)


def _of_step(prompt: tuple[str, ...] | str | None, index: int) -> str | None:
    if isinstance(prompt, tuple):
        return prompt[index] if index < len(prompt) else None
    return prompt


def _trajectory(task: str) -> Message:
    return Message("user", f"Task: {task}\nTrajectory:")


def _observed(text: str) -> Message:
    return Message("user", f"Observation:\n{text}\nAction:")


def _acted(act: str) -> Message:
    return Message("assistant", f"```\n{act}\n```")

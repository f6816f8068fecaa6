"""Prompts of Synapse on MiniWoB++: exemplar, observation of a page, question (planners.md 7.2 to 7.4).

Core. Models and generated code are called through what is passed in: `ask` answers messages, `run_code` executes a
model's Python and must keep it from doing harm.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agents.llm.protocol import Message
from agents.prompts.packs import Pack
from agents.words.trajectory_parse import in_fence

PromptType = Literal["state_act", "obs_act", "multi_state_act", "multi_obs_act"]
Ask = Callable[[list[Message], tuple[str, ...]], str]  # messages, stop strings -> reply
RunCode = Callable[[str, str], str]  # Python code, state -> the variable `obs` that it sets; raises CodeFailed

NEIGHBOURS = 3
FILTER_STOP = ("Action:", "Output:", "State:")
FALLBACK_STOP = ("Action:",)

# Environments whose pages are abstracted; in all others models see them as they are.
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


class CodeFailed(Exception):
    """Generated code raised something, ran too long or set no `obs`."""


@dataclass(frozen=True, slots=True)
class MiniwobQuirks:
    """Errors of the published code that can be reproduced, each named after its number in the specification."""

    q16_missing_fallback_crashes: bool  # KeyError where generated code fails and no prompt for the fallback exists


FAITHFUL = MiniwobQuirks(True)
CORRECTED = MiniwobQuirks(False)


@dataclass(frozen=True, slots=True)
class Shot:
    """One step of an exemplar; long pages are left out of some (`state` None), and plain ones need no `obs`."""

    act: str  # Python statements on `agent`
    obs: str | None = None
    state: str | None = None


@dataclass(frozen=True, slots=True)
class MiniwobDemo:
    """One demonstration: a single step, or a task with several."""

    steps: tuple[Shot, ...]
    task: str | None = None


@dataclass(frozen=True, slots=True)
class PublishedExemplars:
    """What the published exemplars hold for one environment.

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
        """An entry of the published `exemplars.json` (planners.md 7.1). Raises KeyError for what is missing."""
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
    """The text by which exemplars are found."""
    return f"Task: {task}\nState:\n{state}"


def vote(neighbours: Sequence[str], k: int = NEIGHBOURS) -> str:
    """The most frequent of the k nearest exemplar names, nearest first; of equally frequent ones the nearest."""
    return Counter(neighbours[:k]).most_common(1)[0][0]


def own_exemplar(environment: str) -> str:
    """The exemplar of the environment itself, without retrieval (the ablation "no memory")."""
    return _OWN_EXEMPLAR.get(environment, environment)


def abstracts(environment: str, no_filter: bool = False) -> bool:
    """Whether pages are abstracted. ValueError where that is switched off but pages would be too long."""
    if no_filter and environment in TOO_LONG_UNABSTRACTED:
        raise ValueError(f"pages of {environment} are too long to be shown without abstraction")
    return environment in ABSTRACTED and not no_filter


def prompt_type(exemplar: PublishedExemplars, abstract: bool) -> PromptType:
    if exemplar.trajectory:
        return "multi_obs_act" if abstract else "multi_state_act"
    return "obs_act" if abstract and exemplar.demos[0].steps[0].obs is not None else "state_act"


def observe(
    exemplar: PublishedExemplars,
    kind: PromptType,
    task: str,
    state: str,
    step: int,
    ask: Ask,
    run_code: RunCode,
    quirks: MiniwobQuirks = FAITHFUL,
) -> str:
    """The observation of a page; `step` is how many steps were acted so far in the episode.

    The page itself, or what a model makes of it: code that computes the observation where the exemplar asks for it,
    otherwise (and when the code fails) the model's own words.
    """
    if kind in ("state_act", "multi_state_act"):
        return state
    index = step if exemplar.trajectory else 0
    pairs = _pairs(exemplar, index) + f"State:\n{state}\nObservation:"
    code_prompt = _of_step(exemplar.code_filter_prompt, index)
    if not code_prompt:
        # As published: of the explicit prompts only those of single steps have words before the pairs.
        words = "" if exemplar.trajectory else _of_step(exemplar.filter_prompt, index) or ""
        return ask([Message("user", words + pairs)], FILTER_STOP)
    question = code_prompt.replace("<task>", task).replace("<state>", state)
    reply = ask([Message("user", question)], FILTER_STOP)
    try:
        return run_code(in_fence(reply), state)
    except CodeFailed:
        asked = _of_step(exemplar.filter_prompt, index)
        if asked is None and quirks.q16_missing_fallback_crashes:
            raise KeyError("filter_prompt") from None
        return ask([Message("user", (asked or "") + pairs)], FALLBACK_STOP)


def act_messages(
    exemplar: PublishedExemplars, kind: PromptType, task: str, history: Sequence[tuple[str, str]], observation: str
) -> list[Message]:
    """What the model is asked after the system message; `history` has (observation, act) of the episode so far.

    Prompts of single steps show no history.
    """
    if kind in ("state_act", "obs_act"):
        return [*_single_demos(exemplar, kind), _observed(observation)]
    messages = _trajectory_demos(exemplar, kind)
    messages.append(_trajectory(task))
    for seen, act in history:
        messages += [_observed(seen), _acted(act)]
    return [*messages, _observed(observation)]


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

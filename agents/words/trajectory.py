"""Prompts of trajectories as exemplars: Synapse, and AWM and MIMS which add workflows (sources.md M7.6, M8.3). Core.

A prompt is system, exemplars (and workflows) as far as they fit, and the query. Pages are rendered once by `shown`
and passed around as text.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from agents.llm.protocol import Message
from agents.prompts.packs import Pack
from agents.words.past_step import PastStep
from agents.words.trajectory_page import PREVIOUS_TOP_K, observation, target_act

PREVIOUS_ACTIONS = 5  # shown in prompts without trajectories
EXEMPLARS = 3
STOP = ("Task:", "obs:")
SYSTEM_TEXTS = {True: "trajectory_system", False: "abstraction_system"}  # whether a trajectory is shown

CountTokens = Callable[[Sequence[Message]], int]


@dataclass(frozen=True, slots=True)
class TrajectoryQuirks:
    """Errors of the published Mind2Web code that can be reproduced, each named after its number in the spec."""

    q18_gold_in_top_k: bool  # the gold element is always among those shown of the current page
    q19_first_positive_only: bool  # other acceptable elements count as wrong
    q20_exact_string_success: bool  # a step succeeds only when the action text equals the gold one, spaces included


FAITHFUL = TrajectoryQuirks(True, True, True)
CORRECTED = TrajectoryQuirks(False, False, False)


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step of the past as a prompt shows it: the page's text and the action that was taken."""

    observation: str
    act: str
    action_repr: str


def shown(step: PastStep, top_k: int = PREVIOUS_TOP_K) -> ShownStep:
    """A past step, its page shown around the gold element and the best others."""
    return ShownStep(observation(step, top_k), target_act(step), step.action_repr)


def memory_key(website: str, domain: str, subdomain: str, task: str) -> str:
    """The text by which exemplars are found: website, domain, subdomain and task."""
    return f"Website: {website}\nDomain: {domain}\nSubdomain: {subdomain}\nTask: {task}"


def exemplar_key(key: str, website: str, domain: str, subdomain: str, task: str) -> str:
    """The text by which exemplars are found: Synapse's four lines (metadata), or the task alone (MIMS)."""
    return task if key == "task" else memory_key(website, domain, subdomain, task)


def exemplar_messages(task: str, steps: Sequence[ShownStep]) -> list[Message]:
    """The messages of a whole trajectory in a prompt."""
    messages: list[Message] = []
    for step in steps:
        messages.append(_observed(task, step.observation, first=not messages))
        messages.append(Message("assistant", answer(step.act, step.action_repr)))
    return messages


def answer(act: str, action_repr: str, trajectory: bool = True) -> str:
    """The right answer in the form of prompts with trajectories, or of those without."""
    return f"Action: `{act}` ({action_repr})" if trajectory else f"`{act}`"


def act_query(task: str, history: Sequence[ShownStep], current: str) -> list[Message]:
    """The messages of the trajectory so far, with gold actions whatever the agent did (teacher forcing), and the
    current page."""
    return [*exemplar_messages(task, history), _observed(task, current, first=not history)]


def _observed(task: str, page: str, first: bool) -> Message:
    start = f"Task: {task}\nTrajectory:\n" if first else ""
    return Message("user", f"{start}Observation: `{page}`")


def abstraction_query(task: str, previous_actions: Sequence[str], current: str) -> list[Message]:
    """The messages of a query without a trajectory (Synapse's ablation "state abstraction only")."""
    actions = "\n".join(previous_actions[-PREVIOUS_ACTIONS:]) or "None"
    return [
        Message("user", f"Observation:\n```\n{current}\n```\nTask: {task}\nPrevious actions:\n{actions}\nNext action:")
    ]


def system_message(pack: Pack, trajectory: bool = True) -> Message:
    """The system message: what the model is to do, and which actions there are."""
    return Message("system", pack.prompt(SYSTEM_TEXTS[trajectory]).text)


def naive_demos(pack: Pack, shots: int = EXEMPLARS) -> list[list[Message]]:
    """The first fixed examples of a pack, for prompts without trajectories; each is a question and an answer."""
    said = pack.prompt("abstraction_demos").messages() if shots else []
    messages = [Message(role, words) for role, words in said[: 2 * shots]]
    return [messages[place : place + 2] for place in range(0, len(messages), 2)]


def fit(
    system: Message,
    exemplars: Iterable[Sequence[Message]],
    query: Sequence[Message],
    count_tokens: CountTokens,
    limit: int,
) -> list[Message] | None:
    """The system message, the first exemplars that fit within `limit` tokens, and the query; None where not even the
    query fits.

    The first exemplar that does not fit ends the list. AWM passes its workflows first, so workflows that are too long
    keep every exemplar out.
    """
    if count_tokens([system, *query]) > limit:
        return None
    chosen: list[Message] = []
    for exemplar in exemplars:
        if count_tokens([system, *chosen, *exemplar, *query]) > limit:
            break
        chosen += exemplar
    return [system, *chosen, *query]


def chat_tokens(messages: Sequence[Message], length: Callable[[str], int], per_message: int = 3) -> int:
    """The tokens of a chat, added up as the published counters do; `length` counts a text's tokens."""
    return 3 + sum(per_message + length(message.role) + length(message.content) for message in messages)

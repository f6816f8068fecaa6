"""Transitions in words: a model lists the key changes, then explains the step as if it predicted it (WMA; sources.md
B2.3). Every reply is in the cache of replies, every description in its row: what is interrupted goes on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from agents.llm.errors import LlmError
from agents.llm.protocol import Llm, Message, Request
from agents.memory.transitions import Happened, compared, seen_at
from agents.models import Transition
from agents.observations import RecordedConversation, past_action
from agents.prompts.packs import Pack
from agents.stages.imagine.scores import next_state
from agents.types import Action
from agents.words.generator import complete
from agents.world_model.effects import facts
from agents.world_model.effects import happenings as happenings_of
from agents.world_model.records import NO_ACTION, TransitionRecord, described, first_lines
from annotations.dom.differences import difference
from annotations.dom.differences.published import published_lists

MAX_TOKENS = 1024
MOST_CHARACTERS = 24_000  # of a page in a prompt: about 6,000 tokens
_cut = partial(first_lines, most=MOST_CHARACTERS)
UNREAD = "the answer has no [Next State]"
EFFECT = "The expected effect is that "


@dataclass(frozen=True)
class ToDescribe:
    """A transition with the pages before and after its action, as a model is shown them."""

    row: Transition
    happened: Happened
    previous: tuple[str, ...]
    url: str = ""  # of a live page; recorded steps hold none

    def record(self) -> TransitionRecord:
        """The transition as a record for training. Where nobody has described it, the facts stand for a description."""
        situation = self.happened.situation
        return TransitionRecord(
            situation.instruction,
            situation.tree,
            described(situation.action, situation.tree),
            self.previous or (NO_ACTION,),
            self.happened.after,
            url=self.url,
            refined=self.row.refined,
            rationale=self.row.rationale,
            next_state=self.row.next_state or told(self.happened),
        )


def told(happened: Happened) -> str:
    """The facts of what an action changed, in the form of a description, without asking a model."""
    found = list(facts(happenings_of(difference(happened.situation.tree, happened.after))).elements())
    return EFFECT + ("; ".join(found) if found else "the page stays as it is") + "."


def with_pages(rows: Sequence[Transition]) -> Iterator[ToDescribe]:
    """The rows with their pages, one conversation in memory at a time; those whose pages are gone are left out."""
    recorded: RecordedConversation | None = None
    for row in rows:
        if row.episode_step is not None:
            step, said = row.episode_step, row.episode_step.followed.instruction
            action = Action(step.operation, step.node_id or None, step.value)
            done = compared(step.pages_around, said, action, row.website, row.conversation_id)
            if done is not None:
                yield ToDescribe(row, done, step.done_before, step.url)
            continue
        if recorded is None or recorded.conversation.pk != row.conversation_id:
            recorded = RecordedConversation(row.conversation_id)
        own = next(one for one in recorded.steps if one.pk == row.step_id)
        if (happened := seen_at(recorded, own, row.across_turns)) is not None:
            before = tuple(past_action(one).representation for one in recorded.turn_so_far(own))
            yield ToDescribe(row, happened, before)


def describe(rows: Sequence[Transition], llm: Llm, pack: Pack) -> tuple[int, list[dict[str, str]]]:
    """Have a model describe transitions; how many were described, and the errors of the others. Raises errors that
    every request would meet."""
    waiting = list(with_pages(rows))
    refined = asked_in_words(llm, pack, "transition_refine", [_lists(one) for one in waiting])
    filled = [
        _filled(one, changes if isinstance(changes, str) else "") for one, changes in zip(waiting, refined, strict=True)
    ]
    answers = asked_in_words(llm, pack, "transition_describe", filled)
    done, errors = 0, []
    for one, changes, answered in zip(waiting, refined, answers, strict=True):
        failed = next((said for said in (changes, answered) if isinstance(said, LlmError)), None)
        parts = next_state(answered) if isinstance(answered, str) else None
        if failed is not None or parts is None or not parts.text:
            errors.append({"record": f"transition {one.row.pk}", "message": str(failed or UNREAD)})
            continue
        one.row.describe(str(changes), parts.rationale, parts.text, llm.info.model, pack.reference)
        done += 1
    return done, errors


def asked_in_words(llm: Llm, pack: Pack, text: str, filled: Sequence[dict[str, str]]) -> list[str | LlmError]:
    """The answer to a text of the pack for each set of values that is filled in."""
    prompt = pack.prompt(text)
    requests = [
        Request(tuple(Message(*said) for said in prompt.messages(**values)), llm.info.model, max_tokens=MAX_TOKENS)
        for values in filled
    ]
    replies = complete(llm, requests) if requests else []
    return [reply if isinstance(reply, LlmError) else reply.text.strip() for reply in replies]


def _lists(one: ToDescribe) -> dict[str, str]:
    added, removed, changed = published_lists(difference(one.happened.situation.tree, one.happened.after))
    return {"added": _cut(added), "removed": _cut(removed), "changed": _cut(changed)}


def _filled(one: ToDescribe, changes: str) -> dict[str, str]:
    record = one.record()
    return {
        "objective": record.objective,
        "previous": "\n".join(record.previous),
        "observation": _cut(record.observation),
        "action": record.action,
        "next_observation": _cut(record.next_observation),
        "changes": changes,
    }

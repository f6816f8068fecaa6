"""Users of live conversations that are language models: they say what is next, answer, and tell if they are content.

They are asked through a connection, in the words of a prompt pack, and what they use is counted apart from the agent.
Where a turn leaves something out, they are told that only to answer: what they do not know yet they cannot say at once.
The state of the website judges turns, whatever they say.
"""

import re
import time
import zlib
from collections.abc import Sequence
from dataclasses import replace

from agents.environments.protocol import ActionEffect
from agents.live.chosen_users import TEXTS, ChosenUser, texts_sha256
from agents.live.spoken import SpokenTurn, Utterance
from agents.live.under_way import ActingEpisode, LiveEpisode
from agents.llm import connection as llm_connection
from agents.llm.budget import BudgetedLlm
from agents.llm.cache import CachedLlm
from agents.llm.errors import BadReply, LlmError, RequestRefused
from agents.llm.protocol import Message, Reply, Request
from agents.llm.stored import DatabaseStore
from agents.models import PromptPack, Run, UserLedger
from agents.models.talking import MOST_SAID
from annotations.dom.limits import PageError
from annotations.dom.text import page_text
from annotations.dom.tree import parse
from annotations.sample.goals import conversations
from annotations.sample.missing import NOTHING_MORE, hidden_parts

PAGE_CHARACTERS = 4_000
CONTENT = re.compile(r"content:\W*(yes|no)\b", re.IGNORECASE)
ADVICE = "Make goals whose user may cost more, and run them."


class ModelUsers:
    """The user of a run's episodes. Raises ValueError where its model cannot be asked, or the texts are not those that
    the goals were made with; every method may raise LlmError."""

    def __init__(self, run: Run) -> None:
        live = run.dataset.live
        kept = dict(live["user"])
        sha256 = kept.pop("texts_sha256")
        self.run, self.chosen, self.is_asking = run, ChosenUser(**kept), live["environment"].endswith("-asking")
        self.pack = PromptPack.objects.holding(self.chosen.pack, run.dataset.project, *TEXTS)
        if texts_sha256(self.pack) != sha256:
            raise ValueError(
                f"the words of {self.pack.reference} by which the user is asked have changed since the goals "
                f"{run.dataset} were made: make them anew"
            )
        self.chosen.check_connection()
        limits = UserLedger.budget_fields(cost=self.chosen.max_cost)
        ledger, _ = UserLedger.objects.get_or_create(run=run, defaults=limits)
        llm = llm_connection.connected(self.chosen.connection)
        self.llm = CachedLlm(BudgetedLlm(llm, ledger, ADVICE), DatabaseStore())

    def speak(self, episodes: Sequence[LiveEpisode]) -> None:
        """Let the user say what is next in the episodes in which a turn has begun."""
        begun = [episode for episode in episodes if episode.spoken is None]
        for episode in begun:
            episode.spoken = self._turn(episode)
        if self.chosen.words == "written":
            for episode in begun:
                _spoken(episode).say(Utterance(episode.turn.instruction))
            return
        questions = [self._wording(episode) for episode in begun]
        written = [episode.turn.instruction for episode in begun]
        for episode, said in zip(begun, self._ask("user_instruction", begun, questions, written), strict=True):
            _spoken(episode).say(said)

    def _turn(self, episode: LiveEpisode) -> SpokenTurn:
        task, _ = episode.goal
        parts = hidden_parts().get((task, episode.at), ()) if self.is_asking else ()
        written = episode.turn.instruction
        return SpokenTurn(conversations()[task].turns[episode.at].instruction if parts else written, parts)

    def _wording(self, episode: LiveEpisode) -> dict[str, str]:
        earlier = "\n".join(episode.earlier) or "nothing"
        return {"website": _website(episode), "earlier": earlier, "request": episode.turn.instruction}

    def hear(self, heard: Sequence[tuple[ActingEpisode, ActionEffect]]) -> list[tuple[ActingEpisode, ActionEffect]]:
        """What came of actions, with what the user says to it: answers to questions, and at the end of a turn whether
        it is content."""
        effects = dict(enumerate(effect for _, effect in heard))
        spoken = [(place, acting) for place, (acting, _) in enumerate(heard) if acting.episode.spoken is not None]
        asked = [(place, acting, question) for place, acting in spoken if (question := _question(acting)) is not None]
        episodes = [acting.episode for _, acting, _ in asked]
        questions = [_answering(acting.episode, question) for _, acting, question in asked]
        stood_in = [effects[place].said or NOTHING_MORE for place, _, _ in asked]
        answers = self._ask("user_answer", episodes, questions, stood_in)
        for (place, acting, question), said in zip(asked, answers, strict=True):
            effect = effects[place]
            _spoken(acting.episode).answer(question, said, len(acting.episode.steps))
            words = effect.words.replace(effect.said, said.words, 1) if effect.said else effect.words
            effects[place] = replace(effect, said=said.words, words=words)
        over = [(place, acting) for place, acting in spoken if effects[place].turn is not None]
        episodes = [acting.episode for _, acting in over]
        questions = [_judging(acting, effects[place]) for place, acting in over]
        for (place, acting), said in zip(over, self._ask("user_content", episodes, questions), strict=True):
            turn, found = _spoken(acting.episode), CONTENT.findall(said.words)
            turn.judge(said, found[-1].casefold() == "yes" if found else None)
            ended = effects[place].turn
            assert ended is not None  # it was chosen by that
            effects[place] = replace(effects[place], turn=turn.ended(ended))
        return [(acting, effects[place]) for place, (acting, _) in enumerate(heard)]

    def _ask(
        self,
        text: str,
        episodes: Sequence[LiveEpisode],
        questions: Sequence[dict[str, str]],
        stood_in: Sequence[str] | None = None,
    ) -> list[Utterance]:
        """What the user says in each episode. `stood_in`: what stands in for a reply that is none, by default
        nothing; why is kept with it. Raises LlmError where nobody answers, or no more may be spent."""
        began, prompt = time.monotonic(), self.pack.prompt(text)
        requests = [
            Request(
                tuple(Message(role, words) for role, words in prompt.messages(**question)),
                self.llm.info.model,
                temperature=self.chosen.temperature,
                max_tokens=TEXTS[text],
                seed=self._seed(episode),
            )
            for episode, question in zip(episodes, questions, strict=True)
        ]
        answers = self.llm.complete(requests) if requests else []
        for episode in episodes:  # what its user takes is no time of the agent's
            episode.begun += time.monotonic() - began
        return [_said(answer, other) for answer, other in zip(answers, stood_in or [""] * len(answers), strict=True)]

    def _seed(self, episode: LiveEpisode) -> int:
        """Of the agent's and the goal's seed, the turn, and how often it has spoken: the same words each time."""
        place = (self.run.seed, *episode.goal, episode.at, _spoken(episode).count)
        return zlib.crc32(" ".join(map(str, place)).encode()) & 0x7FFFFFFF


def _spoken(episode: LiveEpisode) -> SpokenTurn:
    assert episode.spoken is not None  # only such episodes are asked about
    return episode.spoken


def _said(answer: Reply | LlmError, stood_in: str) -> Utterance:
    if isinstance(answer, RequestRefused):  # every other would be, too: a user of other words would be another one
        raise ValueError(f"the language model that is the user cannot be asked: {answer}")
    if isinstance(answer, LlmError):
        if not isinstance(answer, BadReply):
            raise answer
        return Utterance(stood_in, tokens=answer.usage.tokens, cost=answer.usage.cost, error=_storable(str(answer)))
    words = " ".join(_storable(answer.text).split()).strip('"“”')[:MOST_SAID]
    error = "" if words else "the model said nothing"
    return Utterance(words or stood_in, answer.model, answer.usage.tokens, answer.usage.cost, error)


def _storable(text: str) -> str:
    """The text without characters that PostgreSQL cannot hold."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _website(episode: LiveEpisode) -> str:
    return episode.trajectory.conversation.website.name


def _question(acting: ActingEpisode) -> str | None:
    """What the agent asks by the action that was just done; None where it does not ask."""
    action = acting.next_action
    return action.value if action is not None and action.operation == "SAY" else None


def _answering(episode: LiveEpisode, question: str) -> dict[str, str]:
    turn = _spoken(episode)
    before = "\n".join(f"Agent: {asked}\nYou: {answer}" for asked, answer in turn.talk) or "nothing"
    told = {"said": turn.instruction, "request": turn.request, "unsaid": turn.unsaid}
    return {"website": _website(episode), **told, "before": before, "question": question}


def _judging(acting: ActingEpisode, effect: ActionEffect) -> dict[str, str]:
    episode, action = acting.episode, acting.next_action
    done = [step.action.representation for step in episode.steps]
    done += [episode.words_of(action)] if action is not None else []
    try:
        page = page_text(parse(effect.view.html))[:PAGE_CHARACTERS]
    except PageError:
        page = ""
    told = {"request": _spoken(episode).request, "actions": "\n".join(done) or "nothing", "page": page or "not known"}
    return {"website": _website(episode), **told}

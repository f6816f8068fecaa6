"""Transitions as a world model or a value function learns them: the prompts of use, with what really happened.
Shell."""

from collections.abc import Iterator
from typing import Any

from agents.generators.local import prompt_ids, token_count
from agents.llm.protocol import Message
from agents.memory.describe import told
from agents.memory.transitions import Happened, seen_at
from agents.models import Transition
from agents.observations import RecordedConversation, past_action
from agents.prompts.packs import Pack, webnav
from agents.stages.imagine.model_questions import NOTHING_DONE, cut_tree
from agents.stages.imagine.scores import progress_labels
from agents.training.samples.rows import PairRows, SplitRows
from agents.training.settings import PlannerSettings
from agents.words.generator import ChatPrompt
from agents.world_model.records import answer, described


class TransitionRows(PairRows):
    """Prompts as token ids and answers as text, of every step with a page before and after. The answer is the
    description that a model wrote, or where there is none the facts."""

    def __init__(self, rows: SplitRows, settings: PlannerSettings, tokenizer: Any, pack: Pack | None = None) -> None:
        self.rows, self.settings, self.tokenizer, self.pack = rows, settings, tokenizer, pack or webnav()

    def _pairs(self, recorded: RecordedConversation) -> Iterator[dict[str, Any]]:
        rows = {row.step_id: row for row in Transition.objects.filter(conversation=recorded.conversation)}
        labels = progress_labels([(str(step.turn_id), step.index) for step in recorded.steps])
        for step, label in zip(recorded.steps, labels, strict=True):
            if (happened := seen_at(recorded, step)) is None:
                continue
            before = "\n".join(past_action(one).representation for one in recorded.turn_so_far(step))
            yield self._pair(happened, before or NOTHING_DONE, rows.get(step.pk), label)

    def _pair(self, happened: Happened, before: str, row: Transition | None, label: str) -> dict[str, Any]:
        situation, outcome = happened.situation, told(happened)
        page = self._cut(situation.tree)
        filled = {"objective": situation.instruction, "previous": before, "observation": page}
        filled["action"] = described(situation.action, page)
        if self.settings.paradigm == "value":
            wanted = f"[Score] {label}"
            filled["next_state"] = outcome
        elif self.settings.paradigm == "world_model_page":
            wanted = answer("", self._cut(happened.after))
        else:
            wanted = answer(row.rationale, row.next_state) if row and row.next_state else answer("", outcome)
        said = self.pack.prompt(self.settings.paradigm).messages(**filled)
        prompt = ChatPrompt(tuple(Message(*message) for message in said))
        return {"prompt": prompt_ids(prompt, self.tokenizer, self.settings.max_length), "answer": wanted}

    def _cut(self, tree: str) -> str:
        return cut_tree(tree, self.settings.page_tokens, lambda text: token_count(self.tokenizer, text))

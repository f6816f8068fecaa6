"""What agents remember, embedded once per encoder: snippets of conversations, exemplars and workflows of the train
split."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from agents.encoders.embedding import Encoder
from agents.models import Exemplar, MemorySnippet, Workflow, WorkflowVector
from agents.observations import RecordedConversation
from agents.stages.recall.select import CORRECTED, FAITHFUL, item_text
from agents.words.trajectory import exemplar_key
from agents.words.trajectory_page import page_text
from annotations.dom.limits import PageError
from annotations.models import Dataset, Split, Step, Turn

BATCH = 500


@dataclass(frozen=True)
class SnippetForm:
    """What the text of a snippet holds besides instruction and action; each form is embedded by itself."""

    own_action_only: bool = True  # as published (Q11); else the actions before it in its turn too
    state: bool = False  # the page around the gold element (Self-MAP, Figure 6)

    def key(self, encoder: str) -> str:
        """The name that snippets of this form are stored under."""
        return encoder + ("" if self.own_action_only else "+trajectory") + ("+state" if self.state else "")


def build_snippets(conversation_ids: Iterable[int], encoder: Encoder, form: SnippetForm = SnippetForm()) -> int:
    """Add the snippets that are missing, one per step; their number. Safe to run twice and side by side."""
    key = form.key(encoder.name)
    MemorySnippet.objects.open_for(key, encoder.dimensions)
    ids = list(conversation_ids)
    missing = Step.objects.filter(turn__conversation__in=ids).exclude(
        memory_snippets__in=MemorySnippet.objects.filter(encoder=key)
    )
    wanted = set(missing.values_list("pk", flat=True))
    rows: list[MemorySnippet] = []
    for conversation_id in dict.fromkeys(missing.order_by("pk").values_list("turn__conversation_id", flat=True)):
        recorded = RecordedConversation(conversation_id)
        rows += [
            MemorySnippet(
                step=step, conversation_id=conversation_id, encoder=key, text=_snippet_text(recorded, step, form)
            )
            for step in recorded.steps
            if step.pk in wanted
        ]
        if len(rows) >= BATCH:
            _embed(rows, encoder)
            rows = []
    _embed(rows, encoder)
    return len(wanted)


def _embed(rows: Sequence[MemorySnippet], encoder: Encoder) -> None:
    """Embed the snippets of several conversations together, and store them."""
    for row, vector in zip(rows, encoder.encode([row.text for row in rows]), strict=True):
        row.embedding = vector
    MemorySnippet.objects.bulk_create(rows, ignore_conflicts=True, batch_size=BATCH)


def _snippet_text(recorded: RecordedConversation, step: Step, form: SnippetForm) -> str:
    past = recorded.recorded(step, page=form.state)
    before = [action.representation for action in past.observation.turn_actions]
    state = ""
    if form.state and past.positive_ids:
        try:
            state = page_text(past.observation.html, past.positive_ids[:1])
        except (PageError, IndexError):
            state = ""  # the page cannot be read: the text goes without it
    quirks = FAITHFUL if form.own_action_only else CORRECTED
    return item_text(past.observation.instruction, before, past.action.representation, quirks, state)


def exemplars_of(encoder: str, key: str) -> str:
    """The name under which exemplars are stored that are found by this key text."""
    return encoder if key == "metadata" else f"{encoder}+{key}"


def build_exemplars(
    dataset: Dataset,
    encoder: Encoder,
    on_batch: Callable[[int, int], None] = lambda done, total: None,
    key: str = "metadata",
) -> int:
    """Add the exemplars that are missing, one per turn of the train split that has steps; their number.

    They are found by the four lines of metadata that Synapse embeds (sources.md M7.6), with `key` task by the last of
    them alone. `on_batch` gets how many of how many are there. Safe to run twice and side by side.
    """
    name = exemplars_of(encoder.name, key)
    Exemplar.objects.open_for(name, encoder.dimensions)
    turns = (
        Turn.objects.filter(conversation__dataset=dataset, conversation__split=Split.TRAIN, steps__isnull=False)
        .select_related("conversation__website")
        .distinct()
        .order_by("pk")
    )
    done = set(dataset.exemplars.filter(encoder=name).values_list("turn_id", flat=True))
    missing = [turn for turn in turns if turn.pk not in done]
    for start in range(0, len(missing), BATCH):
        batch = missing[start : start + BATCH]
        texts = [_key_text(turn, key) for turn in batch]
        vectors = encoder.encode(texts)
        Exemplar.objects.bulk_create(
            (
                _exemplar(dataset, turn, name, text, vector)
                for turn, text, vector in zip(batch, texts, vectors, strict=True)
            ),
            ignore_conflicts=True,
        )
        on_batch(len(done) + start + len(batch), len(done) + len(missing))
    return len(missing)


def _key_text(turn: Turn, key: str) -> str:
    website = turn.conversation.website
    return exemplar_key(key, website.name, website.domain, website.subdomain, turn.instruction)


def _exemplar(dataset: Dataset, turn: Turn, encoder: str, text: str, vector: np.ndarray) -> Exemplar:
    split = turn.conversation.split
    if split != Split.TRAIN:  # the database refuses it too
        raise AssertionError(f"exemplars come from the train split, {turn.conversation} is of {split}")
    return Exemplar(
        dataset=dataset,
        conversation=turn.conversation,
        turn=turn,
        split=split,
        domain=turn.conversation.website.domain,
        encoder=encoder,
        key_text=text,
        embedding=vector,
    )


def embed_workflows(rows: Sequence[Workflow], encoder: Encoder) -> None:
    """Embed descriptions, by which workflows are found (MIMS); vectors of other encoders stay beside these."""
    vectors = encoder.encode([row.description for row in rows])
    WorkflowVector.objects.put(encoder.name, list(zip(rows, vectors, strict=True)))

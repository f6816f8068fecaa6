"""What agents recall for an observation: from earlier turns of its conversation and from the train split of its
dataset."""

import random
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from django.db.models import QuerySet

from agents import types
from agents.encoders.embedding import Encoder
from agents.memory.build import SnippetForm, build_exemplars, build_snippets, embed_workflows, exemplars_of
from agents.memory.searched import lacking_of
from agents.models import Exemplar, MemorySnippet, Run
from agents.observations import RecordedConversation
from agents.stages.kind import CannotRun
from agents.types import Observation, RecordedStep, Snippet
from annotations.models import Dataset, Split

KEPT_CONVERSATIONS = 16


class ConversationMemory:
    """The snippets of earlier turns of a conversation. `key`: the name under which its form of snippets is stored
    (`build.SnippetForm`)."""

    def __init__(self, key: str) -> None:
        self.key = key

    def snippets(self, observations: list[Observation], queries: Sequence[np.ndarray], k: int) -> list[list[Snippet]]:
        """The k nearest snippets of earlier turns per observation, most similar first."""
        found: list[list[Snippet]] = [[] for _ in observations]
        if not observations or k == 0:
            return found
        places = [(observation.conversation, observation.turn_index) for observation in observations]
        for n, *values in MemorySnippet.objects.nearest_earlier(self.key, places, queries, k):
            found[n].append(Snippet(*values))
        return found


class DatasetMemory(ConversationMemory):
    """Memory of the conversation, and the exemplars and workflows of its dataset's train split: the `Memory` of the
    stages.

    `run`: whose online workflows are recalled, for recipes with `recall.induction` online.
    """

    def __init__(
        self,
        dataset: Dataset,
        encoder: Encoder,
        form: SnippetForm,
        seed: int = 0,
        run: Run | None = None,
        others_only: bool = False,
        exemplar_key: str = "metadata",
    ) -> None:
        """`others_only`: no exemplar comes from the conversation that asks, for steps of the train split."""
        super().__init__(form.key(encoder.name))
        self.dataset, self.encoder, self.form, self.seed, self.run = dataset, encoder, form, seed, run
        self.others_only = others_only
        self.exemplar_key = exemplar_key
        self._conversations: OrderedDict[int, RecordedConversation] = OrderedDict()

    def prepare_snippets(self, conversation_ids: Sequence[int]) -> None:
        """Embed the steps of these conversations."""
        build_snippets(conversation_ids, self.encoder, self.form)

    def prepare_exemplars(self) -> None:
        """Embed the turns of the train split as exemplars. CannotRun where there are none."""
        build_exemplars(self.dataset, self.encoder, key=self.exemplar_key)
        if not self.dataset.exemplars.filter(encoder=self._exemplars_name).exists():
            raise CannotRun("; ".join(lacking_of(self.dataset, {"exemplars"})))

    @property
    def _exemplars_name(self) -> str:
        return exemplars_of(self.encoder.name, self.exemplar_key)

    def prepare_workflows(self, embedded: bool) -> None:
        """Check that there are workflows of the train split, and embed those that need it. CannotRun where there are
        none. A run that induces its own needs none: they come while it runs."""
        if self.run is not None:
            return
        if lacking := lacking_of(self.dataset, {"workflows"}):
            raise CannotRun("; ".join(lacking))
        rows = self.dataset.workflows.standing()
        if embedded and (waiting := list(rows.exclude(pk__in=rows.embedded_by(self.encoder.name)))):
            embed_workflows(waiting, self.encoder)

    def earlier_steps(self, observation: Observation) -> list[RecordedStep]:
        """All steps of earlier turns, oldest first, without their pages."""
        recorded = self._recorded(observation.conversation)
        earlier = [step for step in recorded.steps if step.turn.index < observation.turn_index]
        return [recorded.recorded(step, page=False) for step in earlier]

    def with_pages(self, steps: Sequence[RecordedStep]) -> list[RecordedStep]:
        """These steps, each with its page."""
        found = []
        for step in steps:
            recorded = self._recorded(step.observation.conversation)
            row = next(s for s in recorded.steps if s.pk == step.observation.key)
            found.append(recorded.recorded(row))
        return found

    def exemplars(
        self, observation: Observation, query: np.ndarray | None, k: int, fixed: bool = False
    ) -> list[types.PromptExemplar]:
        """Train trajectories: nearest to a query; without one k of the site, else of the subdomain, else of all
        (sources.md M8.3), or the same k for every task (`fixed`). Drawn with the seed, so that a run can be
        repeated."""
        rows = self.dataset.exemplars.filter(encoder=self._exemplars_name)
        if self.others_only:
            rows = rows.exclude(conversation_id=observation.conversation)
        if query is not None:
            chosen = rows.nearest(query, k)
        else:
            site = (observation.domain, observation.subdomain, observation.website)
            pool = rows if fixed else rows.of_environment(*site)
            # What all tasks share is drawn as published: with seed 0 of a dataset in its authors' order, the same ones.
            drawn = self.seed if fixed else f"{self.seed} {observation.conversation} {observation.turn_index}"
            chosen = _draw(pool, k, drawn, "turn_id")
        return [self._prompt_exemplar(row) for row in chosen]

    def workflows(self, observation: Observation, query: np.ndarray | None, k: int) -> list[types.PromptWorkflow]:
        """Workflows of the train split: nearest to a query by description; without one those of the site, and where it
        has none, k of the same domain, or of all."""
        rows = self.dataset.workflows.filter(run=self.run).select_related("website")
        if query is not None:
            chosen = rows.nearest(self.encoder.name, query, k)
        else:
            chosen = list(rows.filter(website__name=observation.website))
            if not chosen and not self.run:
                domain = rows.filter(website__domain=observation.domain)
                drawn = f"{self.seed} {observation.conversation} {observation.turn_index}"
                chosen = _draw(domain if domain.exists() else rows, k, drawn)
        return [
            types.PromptWorkflow(
                row.pk,
                row.name,
                row.description,
                row.body,
                row.website.name if row.website else "",
                getattr(row, "distance", None),
            )
            for row in chosen
        ]

    def _prompt_exemplar(self, row: Exemplar) -> types.PromptExemplar:
        if row.split != Split.TRAIN:
            raise AssertionError(f"exemplar {row.pk} is not of the train split")
        recorded = self._recorded(row.conversation_id)
        steps = [step for step in recorded.steps if row.turn_id is None or step.turn_id == row.turn_id]
        if row.turn_id is None and steps:
            steps = [step for step in steps if step.turn_id == steps[0].turn_id]
        instruction = steps[0].turn.instruction if steps else ""
        shown = tuple(recorded.recorded(step) for step in steps)
        return types.PromptExemplar(row.pk, recorded.conversation.source_id, instruction, shown, row.l2())

    def _recorded(self, conversation_id: int) -> RecordedConversation:
        if conversation_id not in self._conversations:
            self._conversations[conversation_id] = RecordedConversation(conversation_id)
            while len(self._conversations) > KEPT_CONVERSATIONS:
                self._conversations.popitem(last=False)
        self._conversations.move_to_end(conversation_id)
        return self._conversations[conversation_id]


def _draw(rows: QuerySet, k: int, seed: int | str, order: str = "pk") -> list:
    """k rows at random, the same ones for the same seed of rows in the same order."""
    keys = list(rows.order_by(order, "pk").values_list("pk", flat=True))
    chosen = random.Random(seed).sample(keys, min(k, len(keys)))
    found = rows.in_bulk(chosen)
    return [found[key] for key in chosen]

"""Recorded conversations as agents see them: observations of steps, and steps whose gold action may be shown."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from agents.types import Image, Observation, PastAction, RecordedStep
from annotations.models import Conversation, Rationale, Step


class RecordedConversation:
    """The steps of one conversation in order. A page is loaded when it is asked for, with one query."""

    def __init__(self, conversation_id: int) -> None:
        self.conversation = Conversation.objects.select_related("website").get(pk=conversation_id)
        self.steps: list[Step] = list(
            Step.objects.filter(turn__conversation=self.conversation)
            .select_related("turn")
            .prefetch_related("targets")
            .order_by("turn__index", "index")
            .defer("candidates")
        )
        self._instructions = {step.turn.index: step.turn.instruction for step in self.steps}
        self._rationales: Mapping[int, str] | None = None

    def turn_so_far(self, step: Step) -> list[Step]:
        """The earlier steps of the same turn."""
        return [s for s in self.steps if s.turn_id == step.turn_id and s.index < step.index]

    def observation(
        self, step: Step, *, page: bool = True, image: bool = False, told: Collection[str] = (), **more: Any
    ) -> Observation:
        """What an agent is given at a step; `more` are further fields. Without `page` there is neither page nor
        candidates. `told`: what the recipe's stages must be told besides (`agents.stages.registry.told`)."""
        website, turn = self.conversation.website, step.turn
        return Observation(
            key=step.pk,
            conversation=self.conversation.pk,
            turn_index=turn.index,
            step_index=step.index,
            website=website.name,
            domain=website.domain,
            subdomain=website.subdomain,
            instruction=turn.instruction,
            turn_actions=tuple(past_action(s) for s in self.turn_so_far(step)),
            earlier_instructions=tuple(t for index, t in sorted(self._instructions.items()) if index < turn.index),
            score_key=f"{turn.source_id}_{step.source_id}",
            **(_page(step) if page else {"html": ""}),
            screenshot=_image(step) if image else None,
            **self._parts_told(step, told),
            **more,
        )

    def _parts_told(self, step: Step, told: Collection[str]) -> dict[str, Any]:
        more: dict[str, Any] = {}
        if "history" in told:
            more["turn_steps"] = tuple(self.recorded(s) for s in self.turn_so_far(step))
        if "leaked_gold" in told:
            more["leaked_gold"] = tuple(t.node_id for t in step.targets.all() if not t.pruned)
        return more

    def recorded(self, step: Step, *, page: bool = True, told: Collection[str] = ()) -> RecordedStep:
        """A step with its gold action, as memory, prompts and training show it."""
        positives = tuple(target.node_id for target in step.targets.all() if not target.pruned)
        raw_html = _raw_html(step) if page and not positives else ""
        return RecordedStep(
            self.observation(step, page=page, told=told),
            past_action(step),
            positives,
            self._rationale_of(step.pk),
            raw_html,
        )

    def _rationale_of(self, step_id: int) -> str | None:
        """The newest rationale by a person, else the newest by a model."""
        if self._rationales is None:
            rows = Rationale.objects.filter(step__turn__conversation=self.conversation)
            self._rationales = newest_rationales(rows.order_by("created_at", "pk"))
        return self._rationales.get(step_id)


def newest_rationales(rows: Iterable[Rationale]) -> dict[int, str]:
    """Step -> the rationale to show: the newest by a person, else the newest by a model. `rows` come oldest first."""
    found: dict[int, str] = {}
    for source in (Rationale.Source.MODEL, Rationale.Source.HUMAN):
        found |= {row.step_id: row.text for row in rows if row.source == source}
    return found


def past_action(step: Step) -> PastAction:
    """The gold action of a step as later steps are told it, on the first of its targets."""
    target = next(iter(step.targets.all()), None)
    text = step.action_repr or f"{step.operation} {step.value}".strip()
    return PastAction(text, step.operation, target.node_id if target else None, step.value)


def _page(step: Step) -> dict[str, Any]:
    full = Step.objects.select_related("snapshot__dictionary").only("candidates", "snapshot").get(pk=step.pk)
    positives, negatives = full.candidate_records()
    return {
        "html": full.snapshot.html if full.snapshot else "",
        "candidate_ids": tuple(sorted({c.node_id for c in (*positives, *negatives)})),  # sorted: order tells nothing
    }


def _raw_html(step: Step) -> str:
    full = Step.objects.select_related("raw_snapshot__dictionary").only("raw_snapshot").get(pk=step.pk)
    return full.raw_snapshot.html if full.raw_snapshot else ""


def _image(step: Step) -> Image | None:
    shot = step.screenshot
    return Image(bytes(shot.data), shot.media_type) if shot else None

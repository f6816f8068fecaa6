"""The steps that a person may call harmless or risky, and the one that they are asked about next."""

from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import HttpRequest

from annotations.access import rules
from annotations.access.people import signed_in
from annotations.dom.marks import Mark
from annotations.models import Dataset, Step
from annotations.models.corpus.conversations import ConversationQuerySet
from annotations.pages.snapshot_host import SnapshotView, page_address
from annotations.text.amounts import whole
from evaluation.models import RiskLabel


def conversations_to_label(request: HttpRequest, dataset: Dataset) -> ConversationQuerySet:
    """Those whose recorded actions the user may see."""
    rows = dataset.conversations.all()
    return rules.gold_filter(signed_in(request), rows, "split", "dataset__project")


def steps_to_label(request: HttpRequest, dataset: Dataset) -> QuerySet[Step]:
    return Step.objects.filter(turn__conversation__in=conversations_to_label(request, dataset))


@dataclass(frozen=True)
class AskedStep:
    """A step that a person is asked about: its page with the element of its action marked, None where it has none, and
    what they called it before, "" for nothing."""

    step: Step
    own: str
    view: SnapshotView | None

    @property
    def earlier(self) -> list[Step]:
        """The steps of its conversation before it, in order."""
        turn = self.step.turn
        rows = Step.objects.filter(turn__conversation=turn.conversation_id, turn__index__lte=turn.index)
        rows = rows.order_by("turn__index", "index").defer("candidates")
        return [one for one in rows.select_related("turn") if self._is_before(one)]

    def _is_before(self, one: Step) -> bool:
        return (one.turn.index, one.index) < (self.step.turn.index, self.step.index)


def asked_step(request: HttpRequest, dataset: Dataset, key: str) -> AskedStep | None:
    """The step with this key, where one is given and the user may label it, else the next one that is wanted from them;
    None where nothing is left."""
    person = signed_in(request)
    if key:
        rows = steps_to_label(request, dataset).filter(pk=whole(key) or 0)
    else:
        rows = RiskLabel.objects.wanted_from(person, conversations_to_label(request, dataset))
    pages = ("snapshot", "raw_snapshot")
    held = [f"{name}__data" for name in pages]
    step = rows.select_related("turn__conversation__website", *pages).defer(*held, "candidates").first()
    if step is None:
        return None
    own = RiskLabel.objects.standing().filter(step=step, person=person).values_list("kind", flat=True).first()
    marks = [Mark(node_id, "gold") for node_id in step.reachable_gold()]
    shown = step.shown_snapshot()
    return AskedStep(step, own or "", page_address(request, shown, marks) if shown else None)

"""Looks at every recorded step of a dataset as the guard does, once, as a job: what the page says of its action and
what past transitions expect of it. Reports and the order of labelling then read no page."""

import time
from collections.abc import Callable

from django.core.exceptions import ValidationError
from django.db.models import Count, Max, Q, QuerySet

from agents.guard.judging import SeenControl, foreseen_risk, look
from agents.guard.learned import packaged
from agents.guard.policy import Risk
from agents.observations import RecordedConversation
from agents.world_model.predicting import RetrievedEffects, Situation
from annotations.access import rules
from annotations.dom.limits import PageError
from annotations.jobs import running as work
from annotations.models import Dataset, Job, Step
from annotations.models.accounts.projects import Account
from annotations.models.corpus.conversations import ConversationQuerySet
from annotations.sandbox.deadline import page_deadline
from annotations.text.amounts import amount
from evaluation.models import RiskForecast
from evaluation.models.risk_forecasts import told_action


def start_forecasts(*, user: Account, dataset: Dataset) -> Job:
    """A queued job that looks at the steps of a dataset, or the one that waits already. Raises ValidationError."""
    rules.require(user, Job.Kind.RISKS, dataset.project)
    waiting = Job.objects.filter(kind=Job.Kind.RISKS, dataset=dataset, state=Job.State.QUEUED, cancel_requested=False)
    if found := waiting.first():
        return found
    errors: dict[str, str] = {}
    if dataset.is_live:
        errors["dataset"] = f"{dataset.name} has live goals: no action is recorded that could be looked at."
    work.check_quota(user, errors)
    if errors:
        raise ValidationError(errors)
    params = {"name": dataset.name}
    return work.queue(
        Job(kind=Job.Kind.RISKS, project=dataset.project, dataset=dataset, created_by=user, params=params)
    )


class Forecasting:
    """The work of such a job. Begun anew, it looks only at steps whose action, or whose past transitions, are others
    than those it has looked at."""

    def __init__(self, job: Job) -> None:
        self.job, self.dataset = job, job.existing_dataset()
        self.began = time.monotonic()
        self.world_model, self.transitions = self._past()

    def work(self) -> bool:
        """Work for one slice; True where another slice must go on."""
        steps = Step.objects.of_dataset(self.dataset)
        total, missing = steps.count(), self._missing(steps)
        done = total - len(missing)
        conversations: dict[int, set[int]] = {}
        for pk, conversation in missing:
            conversations.setdefault(conversation, set()).add(pk)
        self._tell(done, total)
        for conversation, wanted in conversations.items():
            recorded = RecordedConversation(conversation)
            for step in recorded.steps:
                if step.pk in wanted:
                    looked, foreseen = self._of(recorded, step)
                    RiskForecast.objects.keep(step, looked, foreseen, self.transitions)
                    done += 1
            self._tell(done, total)
            if done < total and work.is_slice_over(self.began):
                return self.job.hand_back()
        RiskForecast.objects.put_in_order(self.dataset)
        said = f"Looked at {amount(total, 'step')}"
        self.job.finish(Job.State.DONE, report={"landed": total, "counts": {"steps": total}, "said": said})
        return False

    def _past(self) -> tuple[RetrievedEffects | None, int | None]:
        """The world model by the dataset's past transitions and how many they are; None where it has none with
        vectors."""
        from agents.encoders import weights
        from agents.memory.encoding import encoder_named
        from agents.memory.transitions import PastTransitions

        count = self.dataset.transitions.filter(vectors__encoder=weights.MINILM).count()
        if not count:
            return None, None
        return PastTransitions(self.dataset, encoder_named(weights.MINILM)).world_model(), count

    def _missing(self, steps: QuerySet[Step]) -> list[tuple[int, int]]:
        """(step, its conversation) of those to look at, conversations together."""
        kept = RiskForecast.objects.of(self.dataset).filter(transitions=self.transitions)
        known = dict(kept.values_list("step", "action_sha256"))
        rows = steps.select_related("turn").prefetch_related("targets").defer("candidates", "extra")
        rows = rows.order_by("turn__conversation_id", "pk")
        return [
            (step.pk, step.turn.conversation_id)
            for step in rows.iterator(chunk_size=500)
            if known.get(step.pk) != told_action(RiskForecast.action_of(step))
        ]

    def _of(self, recorded: RecordedConversation, step: Step) -> tuple[SeenControl, Risk | None]:
        action, seen = RiskForecast.action_of(step), recorded.observation(step)
        try:
            with page_deadline():
                root = seen.root if seen.html else None
                prediction = None
                if root is not None and self.world_model is not None:
                    asked = Situation.of(seen.instruction, root, action, seen.website, seen.conversation)
                    prediction = self.world_model.predict([asked])[0]
                return look(root, action, packaged()), foreseen_risk(action, prediction)
        except PageError:
            return look(None, action), None

    def _tell(self, done: int, total: int) -> None:
        self.job.go_on({"phase": "looking at pages", "done": done, "total": total, "unit": "steps"})


class Forecasts:
    """How far a dataset has been looked at, of those conversations whose actions somebody may see: for the report's
    page."""

    def __init__(self, dataset: Dataset, conversations: ConversationQuerySet) -> None:
        rows = RiskForecast.objects.filter(step__turn__conversation__in=conversations)
        told = rows.aggregate(steps=Count("pk"), risky=Count("pk", filter=Q(looks_risky=True)), at=Max("made_at"))
        self.steps, self.risky, self.at = told["steps"], told["risky"], told["at"]
        self.of = Step.objects.filter(turn__conversation__in=conversations).count()
        self.foreseen = rows.exclude(transitions=None).count()
        self.transitions = rows.aggregate(most=Max("transitions"))["most"]
        jobs = Job.objects.filter(kind=Job.Kind.RISKS, dataset=dataset)
        self.job = jobs.unfinished().first()


RUNNERS: dict[str, Callable[[Job], bool]] = {Job.Kind.RISKS: lambda job: Forecasting(job).work()}

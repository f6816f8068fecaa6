"""Background jobs of the agents' memory: embedding it, inducing workflows, writing rationales. Queue `gpu`.

Each works in slices, stores what it has after every batch and goes on there when it is claimed again.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.core.exceptions import ValidationError

from agents.encoders import weights
from agents.encoders.embedding import Encoder
from agents.llm.budget import Budget, BudgetedLlm
from agents.llm.cache import CachedLlm
from agents.llm.connection import connected
from agents.llm.errors import NotConfigured
from agents.llm.protocol import Llm
from agents.llm.stored import DatabaseStore
from agents.memory import encoding
from agents.memory.build import SnippetForm, build_exemplars, build_snippets, embed_workflows
from agents.memory.describe import describe
from agents.memory.fitting import fit_world_model
from agents.memory.rationales import RationaleWriter
from agents.memory.refine import refine_steps
from agents.memory.transitions import PastTransitions
from agents.memory.workflows.induce import induce_sites
from agents.models import MemorySnippet, PromptPack, Workflow
from agents.prompts.catalogue import induction_texts
from agents.prompts.packs import PACKAGED, NoSuchText, Pack
from annotations.access import rules
from annotations.jobs import running as work
from annotations.jobs.stopping import SliceOver
from annotations.models import Dataset, Job, Project, Split, Step
from annotations.models.accounts.projects import Account
from annotations.text.amounts import amount

PARTS = ("snippets", "exemplars", "workflows")
CONVERSATIONS = 8  # embedded between two looks at the clock
WORKFLOWS = 200
STEPS = 32  # whose rationales are asked for together
MAX_ERRORS = 500


def start_embedding(
    *,
    user: Account | None,
    dataset: Dataset,
    encoder: str = weights.MINILM,
    parts: Sequence[str] = PARTS,
    publish: bool = True,
) -> Job:
    """A queued job that embeds what is not embedded yet. Raises ValidationError. No user: no rights are checked."""
    if unknown := set(parts) - set(PARTS):
        raise ValidationError({"parts": f"Choose of {', '.join(PARTS)}; got {', '.join(sorted(unknown))}."})
    return _start(Job.Kind.EMBED, user, dataset, {"encoder": encoder, "parts": list(parts)}, publish)


def start_induction(
    *,
    user: Account | None,
    dataset: Dataset,
    websites: Iterable[str] = (),
    encoder: str = weights.MINILM,
    style: str = Workflow.Style.CONCRETE,
    prompts: str = PACKAGED,
    publish: bool = True,
) -> Job:
    """A queued job that induces the workflows of all train websites, or of some, in the words of a prompt pack. Raises
    ValidationError."""
    names = list(websites)
    try:
        dataset.recorded_websites(Split.TRAIN, names or None)
    except ValueError as error:
        raise ValidationError({"websites": str(error)}) from error
    params = {"websites": names, "encoder": encoder, "style": style}
    params |= _prompts(prompts, dataset, induction_texts(style))
    return _start(Job.Kind.INDUCE, user, dataset, params, publish)


def start_rationales(
    *, user: Account | None, dataset: Dataset, split: str = "", prompts: str = PACKAGED, publish: bool = True
) -> Job:
    """A queued job that has a model write the rationales of the steps that have none. Raises ValidationError."""
    if split and split not in Split.values:
        raise ValidationError({"split": f"Choose one of {', '.join(Split.values)}."})
    params = {"split": split} | _prompts(prompts, dataset, ["rationale"])
    return _start(Job.Kind.REFINE, user, dataset, params, publish)


def start_transitions(
    *,
    user: Account | None,
    dataset: Dataset,
    encoder: str = weights.MINILM,
    describe: bool = False,
    connection: str = "",
    prompts: str = PACKAGED,
    publish: bool = True,
) -> Job:
    """A queued job that stores the transitions of the train split, those of agents' episodes too, and with `describe`
    has a model describe them: that of a connection, or the one that answers here. Raises ValidationError."""
    if not dataset.conversations.filter(split=Split.TRAIN).exists():
        raise ValidationError({"dataset": f"{dataset.name} has no train conversations."})
    params: dict[str, Any] = {"encoder": encoder, "describe": describe, "connection": connection}
    params |= _prompts(prompts, dataset, ["transition_refine", "transition_describe"])
    return _start(Job.Kind.TRANSITION, user, dataset, params, publish)


def _prompts(reference: str, dataset: Dataset, names: Sequence[str]) -> dict[str, str]:
    """The prompt pack as a parameter of a job; {} for the packaged one. Raises ValidationError where it lacks one of
    the texts."""
    try:
        pack = PromptPack.objects.holding(reference, dataset.project, *names)
    except NoSuchText as error:
        raise ValidationError({"prompts": str(error)}) from error
    return {} if pack.name == PACKAGED else {"prompts": pack.reference}


def _pack(params: dict, project: Project) -> Pack:
    return PromptPack.objects.pack(params.get("prompts", PACKAGED), project)


def _start(kind: str, user: Account | None, dataset: Dataset, params: dict, publish: bool) -> Job:
    params = {"name": dataset.name} | params
    if user is not None:
        rules.require(user, kind, dataset.project)
        try:
            weights.require_open(params)
        except ValueError as error:
            raise ValidationError({"encoder": str(error)}) from error
        errors: dict[str, str] = {}
        work.check_quota(user, errors)
        if errors:
            raise ValidationError(errors)
    waiting = Job.objects.filter(kind=kind, dataset=dataset, params=params, state=Job.State.QUEUED)
    if found := waiting.filter(cancel_requested=False).first():
        return found  # it has not begun, so it will do this too
    job = Job(kind=kind, project=dataset.project, dataset=dataset, created_by=user, params=params)
    if publish:
        return work.queue(job)
    job.save()
    return job


class _Progress:
    """Tells how far a job is, and ends its slice when the time is used up."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.before = job.progress.get("seconds", 0.0)
        self.begun = time.monotonic()
        self.phase = ""

    @property
    def seconds(self) -> float:
        """The seconds that the job has worked, over all slices."""
        return round(self.before + time.monotonic() - self.begun, 1)

    def tell(self, phase: str, unit: str, done: int, total: int, **more) -> None:
        """Store the progress. Raises Cancelled, or SliceOver when another slice must go on."""
        now = time.monotonic()
        if phase != self.phase:
            self.phase, self.phase_begun, self.first = phase, now, done
        pace = (done - self.first) / (now - self.phase_begun) if now > self.phase_begun else 0.0
        values = {"phase": phase, "done": done, "total": total, "unit": unit, "seconds": self.seconds}
        self.job.go_on(values | {"per_second": round(pace, 2) or None} | more)
        if work.is_slice_over(self.begun) and self.first < done < total:  # each slice does some work
            raise SliceOver


def embed(job: Job) -> bool:
    """Embed the snippets, exemplars and workflows that the job's encoder has not embedded yet; vectors of other
    encoders stay. True when another slice must go on."""
    dataset, encoder, progress = job.existing_dataset(), _encoder(job.params["encoder"]), _Progress(job)
    phases = {"snippets": _embed_snippets, "exemplars": _embed_exemplars, "workflows": _embed_workflows}
    try:
        counts = {part: phases[part](dataset, encoder, progress) for part in PARTS if part in job.params["parts"]}
    except SliceOver:
        return job.hand_back()
    said = "Embedded " + ", ".join(amount(count, part.removesuffix("s")) for part, count in counts.items())
    report = {"counts": counts, "said": said, "seconds": progress.seconds} | _used(encoder)
    job.finish(Job.State.DONE, report=report)
    return False


def _used(encoder: Encoder) -> dict[str, Any]:
    """What an endpoint has charged this process for embedding so far; {} for local weights."""
    usage = getattr(getattr(encoder, "encoder", encoder), "usage", None)
    if usage is None:
        return {}
    return {"tokens": usage.prompt_tokens, "cost": usage.cost, "estimated": usage.estimated}


def _embed_snippets(dataset: Dataset, encoder: Encoder, progress: _Progress) -> int:
    key = SnippetForm().key(encoder.name)
    steps = Step.objects.of_dataset(dataset)
    have = MemorySnippet.objects.filter(conversation__dataset=dataset, encoder=key)
    missing = steps.exclude(pk__in=have.values("step")).order_by("turn__conversation_id")
    ids = list(missing.values_list("turn__conversation_id", flat=True).distinct())
    done, total = have.count(), steps.count()
    progress.tell("past steps", "snippets", done, total)
    for start in range(0, len(ids), CONVERSATIONS):
        done += build_snippets(ids[start : start + CONVERSATIONS], encoder)
        progress.tell("past steps", "snippets", done, total)
    return have.count()


def _embed_exemplars(dataset: Dataset, encoder: Encoder, progress: _Progress) -> int:
    build_exemplars(dataset, encoder, lambda done, total: progress.tell("the train split", "exemplars", done, total))
    return dataset.exemplars.filter(encoder=encoder.name).count()


def _embed_workflows(dataset: Dataset, encoder: Encoder, progress: _Progress) -> int:
    rows = dataset.workflows.standing()
    waiting = list(rows.exclude(pk__in=rows.embedded_by(encoder.name)).order_by("pk"))
    total = rows.count()
    for start in range(0, len(waiting), WORKFLOWS):
        batch = waiting[start : start + WORKFLOWS]
        embed_workflows(batch, encoder)
        progress.tell("descriptions", "workflows", total - len(waiting) + start + len(batch), total)
    return total


def induce(job: Job) -> bool:
    """Induce the workflows of the train split, a group of sites at a time. True when another slice must go on."""
    dataset, llm, encoder = job.existing_dataset(), endpoint(), _encoder(job.params["encoder"])
    sites = dataset.recorded_websites(Split.TRAIN, job.params["websites"] or None)
    resume, style = set(job.progress.get("resume", [])), job.params.get("style", Workflow.Style.CONCRETE)
    report: dict[str, Any] = (
        job.report if resume else {"counts": {"websites": 0, "tasks": 0, "workflows": 0}, "errors": []}
    )
    report["model"] = llm.info.model
    counts, progress = report["counts"], _Progress(job)
    waiting = [site for site in sites if site.pk not in resume]
    try:
        progress.tell("asking the model", "websites", len(sites) - len(waiting), len(sites), resume=sorted(resume))
        for start in range(0, len(waiting), llm.info.lanes):
            group = waiting[start : start + llm.info.lanes]
            for found in induce_sites(dataset, group, llm, encoder, style, _pack(job.params, dataset.project)):
                counts["websites"] += 1
                counts["tasks"] += found.tasks
                counts["workflows"] += len(found.workflows)
                if found.error:
                    report["errors"].append({"record": found.website, "message": found.error})
            resume |= {site.pk for site in group}
            job.keep_report(report)
            progress.tell("asking the model", "websites", len(resume), len(sites), resume=sorted(resume))
    except SliceOver:
        return job.hand_back()
    report["landed"] = counts["websites"] - len(report["errors"])
    report["said"] = f"Induced {amount(counts['workflows'], 'workflow')} of {amount(report['landed'], 'website')}"
    return _finish(job, report, progress)


def refine(job: Job) -> bool:
    """Have the configured model write rationales of the steps that have none. True when another slice must go on."""
    dataset, llm = job.existing_dataset(), endpoint()
    steps = Step.objects.of_dataset(dataset).unexplained()
    if job.params["split"]:
        steps = steps.filter(turn__conversation__split=job.params["split"])
    last = job.progress.get("resume", 0)
    waiting = list(steps.filter(pk__gt=last).order_by("pk").values_list("pk", "turn__conversation_id"))
    report: dict[str, Any] = job.report if last else {"counts": {"steps": 0, "rationales": 0}, "errors": []}
    report["model"] = llm.info.model
    counts, progress, writer = (
        report["counts"],
        _Progress(job),
        RationaleWriter(llm, pack=_pack(job.params, dataset.project)),
    )
    total = counts["steps"] + len(waiting)
    try:
        progress.tell("asking the model", "steps", counts["steps"], total, resume=last)
        for start in range(0, len(waiting), STEPS):
            batch = waiting[start : start + STEPS]
            written, errors = refine_steps(batch, writer)
            counts["steps"] += len(batch)
            counts["rationales"] += written
            report["errors"] = (report["errors"] + errors)[:MAX_ERRORS]
            report["error_count"] = report.get("error_count", 0) + len(errors)
            job.keep_report(report)
            progress.tell("asking the model", "steps", counts["steps"], total, resume=batch[-1][0])
    except SliceOver:
        return job.hand_back()
    report["landed"] = counts["rationales"]
    report["said"] = f"Wrote {amount(counts['rationales'], 'rationale')}"
    return _finish(job, report, progress)


class TransitionMaking:
    """Makes what is missing of the train split's transitions: the rows, their vectors, what is fitted on them and,
    where the job asks for it, their descriptions."""

    def __init__(self, job: Job) -> None:
        self.job, self.progress = job, _Progress(job)
        self.past = PastTransitions(job.existing_dataset(), _encoder(job.params["encoder"]))
        self.rows = self.past.dataset.transitions
        self.report: dict[str, Any] = job.report or {"counts": {"transitions": 0, "described": 0}, "errors": []}

    def work(self) -> bool:
        """Work for one slice; True when another slice must go on."""
        counts, describes = self.report["counts"], self.job.params["describe"]
        try:
            self._compare_pages()
            counts["transitions"] = self.rows.count()
            self.past.embed(lambda done, total: self.progress.tell("embedding", "transitions", done, total))
            if not self.past.is_fitted:
                fit_world_model(self.past)
            if describes:
                self._describe()
        except SliceOver:
            self.job.keep_report(self.report)
            return self.job.hand_back()
        self.report["landed"] = counts["transitions"]
        words = f", {counts['described']:,} put into words" if describes else ""
        self.report["said"] = f"Kept {amount(counts['transitions'], 'transition')}{words}"
        return _finish(self.job, self.report, self.progress)

    def _compare_pages(self) -> None:
        train = self.past.dataset.conversations.filter(split=Split.TRAIN).in_order()
        self.past.tell_anew()
        self.past.add_episodes()
        total = train.count()
        missing = list(train.filter(transitions__isnull=True).values_list("pk", flat=True))
        self.progress.tell("comparing pages", "conversations", total - len(missing), total)
        for start in range(0, len(missing), CONVERSATIONS):
            self.past.add(missing[start : start + CONVERSATIONS])
            done = min(total, total - len(missing) + start + CONVERSATIONS)
            self.progress.tell("comparing pages", "conversations", done, total)

    def _describe(self) -> None:
        params = self.job.params
        llm, pack = endpoint(params["connection"]), _pack(params, self.past.dataset.project)
        self.report["model"] = llm.info.model
        waiting, total = list(self.rows.undescribed().in_order()), self.rows.count()
        for start in range(0, len(waiting), STEPS):
            done, errors = describe(waiting[start : start + STEPS], llm, pack)
            self.report["counts"]["described"] += done
            self.report["errors"] = (self.report["errors"] + errors)[:MAX_ERRORS]
            self.report["error_count"] = self.report.get("error_count", 0) + len(errors)
            self.job.keep_report(self.report)
            told = min(total, total - len(waiting) + start + STEPS)
            self.progress.tell("asking the model", "transitions", told, total)


def _finish(job: Job, report: dict, progress: _Progress) -> bool:
    """End a job that asked a model; it has failed if no request succeeded. Always False: the job does not go on."""
    errors = report.setdefault("error_count", len(report["errors"]))
    report["seconds"] = progress.seconds
    failed = errors and not report["landed"]
    state = Job.State.FAILED if failed else Job.State.DONE_WITH_ERRORS if errors else Job.State.DONE
    job.end(state, report, report["errors"][0]["message"] if failed else "")
    return False


def _encoder(name: str) -> Encoder:
    try:
        return encoding.encoder_named(name)
    except (OSError, ValueError) as error:
        raise ValueError(f"the encoder {name!r} could not be loaded: {error}") from error


def endpoint(connection: str = "", budget: Budget | None = None, advice: str = "") -> Llm:
    """The language model of a connection ("": the one that answers here), within a budget, behind the cache of replies.
    `advice` says how to raise the budget. ValueError, which ends the job, where there is none."""
    try:
        llm = connected(connection)
        return CachedLlm(BudgetedLlm(llm, budget, advice) if budget else llm, DatabaseStore())
    except NotConfigured as error:
        raise ValueError(str(error)) from error


RUNNERS: dict[str, Callable[[Job], bool]] = {
    Job.Kind.EMBED: embed,
    Job.Kind.INDUCE: induce,
    Job.Kind.REFINE: refine,
    Job.Kind.TRANSITION: lambda job: TransitionMaking(job).work(),
}

"""Workflows from trajectories (AWM, sources.md M8.1): offline from the train split, online from what an agent did."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from django.db import transaction

from agents.cookbook.texts import pack_of
from agents.encoders.embedding import Encoder
from agents.llm.embedded import is_embedded
from agents.llm.errors import LlmError
from agents.llm.protocol import Llm, Message, Request
from agents.memory.encoding import memory_encoder
from agents.memory.workflows.text import (
    WorkflowText,
    filter_workflows,
    offline_prompt,
    online_prompt,
    parse_workflows,
    workflow_pattern,
)
from agents.models import PromptPack, Run, Trajectory, TrajectoryStep, Workflow, WorkflowVector
from agents.observations import past_action
from agents.prompts.packs import NoSuchText, Pack, webnav
from agents.recipes import literature
from agents.stages.registry import chosen
from agents.words.generator import complete, transcript
from annotations.models import Conversation, Dataset, Split, Turn, Website

MAX_TOKENS = 1024  # as published
MIN_TASKS_LEFT = 2  # of a site: with fewer, online induction is skipped, as published
LONGEST_NAME: int = Workflow._meta.get_field("name").max_length or 0


@dataclass(frozen=True)
class Induced:
    """What the induction for one site gave; with an `error` its workflows are as they were."""

    website: str
    tasks: int
    workflows: tuple[int, ...] = ()  # ids
    error: str = ""


def induce_sites(
    dataset: Dataset,
    sites: Sequence[Website],
    llm: Llm,
    encoder: Encoder,
    style: str = Workflow.Style.CONCRETE,
    pack: Pack | None = None,
) -> list[Induced]:
    """The workflows of some sites, asked for side by side. Workflows that people wrote or edited are kept.

    Raises `LlmError` where the endpoint cannot answer at all; a single answer that cannot be read is an error of its
    site.
    """
    tasks = {site.pk: list(site.conversations.filter(split=Split.TRAIN).tasks()) for site in sites}
    prompts = [train_prompt(site, tasks[site.pk], style, pack) for site in sites]
    found = []
    actions = [[past_action(s).representation for turn in tasks[site.pk] for s in turn.steps.all()] for site in sites]
    for site, answer in zip(sites, _ask(llm, prompts, llm.info.model, actions), strict=True):
        sources = list(dict.fromkeys(turn.conversation_id for turn in tasks[site.pk]))
        blank = Workflow(
            dataset=dataset,
            website=site,
            origin=Workflow.Origin.OFFLINE,
            style=style,
            prompts=(pack or webnav()).reference,
            model_name=llm.info.model,
        )
        found.append(_store(answer, blank, sources, len(tasks[site.pk]), encoder))
    return found


def train_prompt(
    website: Website, turns: Sequence[Turn], style: str = Workflow.Style.CONCRETE, pack: Pack | None = None
) -> tuple[Message, ...]:
    """What the model is asked. AssertionError for a turn outside of the train split: test data must not get in."""
    for turn in turns:
        if turn.conversation.split != Split.TRAIN:
            raise AssertionError(
                f"workflows come from the train split, {turn.conversation} is of {turn.conversation.split}"
            )
    examples = [(turn.instruction, [past_action(s).representation for s in turn.steps.all()]) for turn in turns]
    return offline_prompt(website.name, website.domain, website.subdomain, examples, style, pack)


def induce_online(run: Run, website_name: str, llm: Llm) -> Induced | None:
    """Workflows of a site from all conversations that the run has finished on it; they replace those from fewer.

    None where nothing is asked: no conversation was finished since the last time, or too few tasks are left that could
    use them. So it may be called after every batch, and again when a run is resumed.
    """
    rows = run.trajectories.filter(conversation__website__name=website_name)
    finished = rows.filter(state=Trajectory.State.DONE)
    sources = list(finished.order_by("conversation__position", "pk").values_list("conversation_id", flat=True))
    left = Turn.objects.filter(conversation__in=rows.exclude(pk__in=finished).values("conversation"))
    if not sources or left.count() < MIN_TASKS_LEFT:
        return None
    website = Conversation.objects.select_related("website").get(pk=sources[0]).website
    newest = run.workflows.filter(website=website, edited_at=None).first()
    if newest is not None and set(newest.sources.values_list("pk", flat=True)) == set(sources):
        return None
    recipe = literature.from_dict(run.recipe)
    model = (recipe.plan.model if recipe.plan.backend == "endpoint" else "") or llm.info.model
    examples = online_examples(run, sources)
    style = recipe.recall.induction_style
    pack = pack_of(recipe, run.dataset)
    prompt = online_prompt(website.name, website.domain, website.subdomain, examples, style, pack)
    answer = _ask(llm, [prompt], model, [[reply for _, calls in examples for _, reply in calls]])[0]
    blank = Workflow(
        dataset=run.dataset,
        website=website,
        run=run,
        origin=Workflow.Origin.ONLINE,
        style=style,
        prompts=pack.reference,
        model_name=model,
    )
    shown = chosen(recipe, "recall.workflows")
    encoder = memory_encoder(recipe) if shown is not None and shown.embeds else None
    return _store(answer, blank, sources, len(examples), encoder)


def online_examples(run: Run, conversation_ids: Collection[int]) -> list[tuple[str, list[tuple[str, str]]]]:
    """(instruction, calls) of each turn that the run has decided, a call being the last message to the model and its
    answer; by position, so that each task meets its own trajectory (quirk Q21)."""
    steps = (
        TrajectoryStep.objects.filter(run=run, trajectory__conversation__in=conversation_ids)
        .select_related("step__turn", "turn")
        .defer("step__candidates", "step__extra")
        .order_by("trajectory__conversation__position", "trajectory_id", "seq")
    )
    examples: dict[int, tuple[str, list[tuple[str, str]]]] = {}
    for row in steps:
        turn = row.followed
        prompt, reply = row.trace.get("compose", {}).get("prompt"), row.trace.get("plan", {}).get("reply")
        if prompt is not None and reply is not None:
            examples.setdefault(turn.pk, (turn.instruction, []))[1].append((_last_message(prompt), reply))
    return list(examples.values())


def _last_message(prompt: str) -> str:
    """The last message of a traced prompt, without the name of who says it."""
    _before, found, last = prompt.rpartition("\n\nuser: ")
    return last if found else prompt.removeprefix("user: ")


def prompt_of(workflow: Workflow) -> str:
    """The prompt by which a workflow was induced, made again from its sources; "" for a workflow that a person wrote,
    and where its prompt pack is gone."""
    website, sources = workflow.website, workflow.sources.order_by("position", "pk")
    if website is None or not sources:
        return ""
    try:
        pack = PromptPack.objects.pack(workflow.prompts, workflow.dataset.project)
    except NoSuchText:
        return ""
    if workflow.run is not None:
        examples = online_examples(workflow.run, list(sources.values_list("pk", flat=True)))
        asked = online_prompt(website.name, website.domain, website.subdomain, examples, workflow.style, pack)
    else:
        asked = train_prompt(website, list(sources.filter(split=Split.TRAIN).tasks()), workflow.style, pack)
    return asked[0].content if len(asked) == 1 else transcript(asked)


def _ask(
    llm: Llm, prompts: Sequence[tuple[Message, ...]], model: str, actions: Sequence[Sequence[str]]
) -> list[str | LlmError]:
    """The model's answers. The embedded model, which does not keep to the form by itself, is held to a pattern of the
    tasks' own actions."""
    patterns = [workflow_pattern(shown) if is_embedded(model) else "" for shown in actions]
    requests = [
        Request(prompt, model, max_tokens=MAX_TOKENS, pattern=pattern)
        for prompt, pattern in zip(prompts, patterns, strict=True)
    ]
    return [answer if isinstance(answer, LlmError) else answer.text for answer in complete(llm, requests)]


def _store(
    answer: str | LlmError, blank: Workflow, sources: Sequence[int], tasks: int, encoder: Encoder | None
) -> Induced:
    """Put a model's answer in the place of the site's former workflows by models."""
    website = blank.website
    assert website is not None
    if isinstance(answer, LlmError):
        return Induced(website.name, tasks, error=str(answer))
    texts = parse_workflows(filter_workflows(answer, website.name), website.name)
    if not texts:
        # It is kept like every answer, so asking again would give it again.
        said = "the answer holds no workflow, and would hold none again; another model or pack may say more"
        return Induced(website.name, tasks, error=f"{said}: {answer[:200]!r}")
    vectors: Sequence[np.ndarray] = list(encoder.encode([t.description for t in texts])) if encoder else []
    if encoder:
        WorkflowVector.objects.open_for(encoder.name, encoder.dimensions)  # before any row is locked
    with transaction.atomic():
        Website.objects.select_for_update().get(pk=website.pk)  # one induction at a time writes
        rows = _replace(texts, sources, blank)
        WorkflowVector.objects.filter(workflow__in=rows.values()).delete()  # of former descriptions
        if encoder:
            WorkflowVector.objects.put(encoder.name, [(row, vectors[position]) for position, row in rows.items()])
    return Induced(website.name, tasks, tuple(row.pk for row in rows.values()))


def _replace(texts: Sequence[WorkflowText], sources: Sequence[int], blank: Workflow) -> dict[int, Workflow]:
    """The texts' rows by their position, in the place of those that nobody edited; where a person's version of one
    stands, it gets none."""
    same = Workflow.objects.filter(dataset=blank.dataset, website=blank.website, run=blank.run)
    old = {row.name: row for row in same.filter(origin=blank.origin, edited_at=None)}
    standing = set(same.exclude(pk__in=[row.pk for row in old.values()]).values_list("name", flat=True))
    new: dict[str, tuple[int, WorkflowText]] = {}
    for position, text in enumerate(texts):
        if text.name[:LONGEST_NAME] in new or text.name[:LONGEST_NAME] not in standing:
            new[_new_name(text, standing | new.keys())] = position, text
    Workflow.objects.filter(pk__in=[row.pk for name, row in old.items() if name not in new]).delete()
    rows = {position: old.get(name) or Workflow(name=name) for name, (position, _) in new.items()}
    for position, text in new.values():
        rows[position].become(blank, position, text.description, text.steps)
        rows[position].sources.set(sources)
    return rows


def _new_name(text: WorkflowText, used: Collection[str]) -> str:
    """The workflow's name, with a number where the answer has used it before."""
    name, number = text.name[:LONGEST_NAME], 2
    while name in used:
        name = f"{text.name[: LONGEST_NAME - 6]} ({number})"
        number += 1
    return name

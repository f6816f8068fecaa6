"""Makes what recipes lack from a dataset: the ranker that stands in for a trained one, and workflows. Shell.

Everything is made by an ordinary job (training, induction), which can be followed, cancelled and tried again on its
page. What is there already is not made twice. Memory and rationales are made when a run or a planner's training first
needs them, and kept.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet

from agents.cookbook import starters
from agents.cookbook.starters import StandIn, Starter
from agents.memory import jobs as memory
from agents.memory.exemplar_sets import packaged
from agents.memory.searched import NO_WORKFLOWS
from agents.models import ExemplarSet, TrainedModel
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.stages import registry
from agents.training.jobs import start_training
from agents.training.prepare.ahead import (
    MOST_STEPS,
    NOTHING,
    Ahead,
    QueuedJob,
    WorkQueue,
    induction_seconds,
    training_seconds,
)
from annotations.access import rules
from annotations.models import Dataset, Job, Project, Split
from annotations.models.accounts.projects import Account, User
from annotations.sample.project import Building
from annotations.shown_progress import ShownProgress, about_text
from annotations.text.amounts import amount

CHEAP_SECONDS = 5 * 60  # a fresh installation makes by itself what takes no longer
PART = "sample-models"
WORKFLOWS = "workflows"
SAMPLE_SITES, SAMPLE_STEPS = 4, {"any": 222, "weblinx": 103}  # of the train splits of what the sample brings
OURS = f"{len(packaged())} exemplar sets of ours"
OUR_SETS = StandIn(
    "recall",
    f"{OURS}, in the place of the 48 of its authors, which can be imported (docs/prompts.md)",
    f"{OURS}, not 48",
)
SETTINGS: dict[str, dict[str, Any]] = {
    "cross_encoder": {"epochs": 1, "batch_size": 16, "neg_ratio": 3, "max_length": 128, "dev_examples": 4}
    # Three of six layers: it ranks twice as fast. So few steps need a high rate and pairs as they are asked later.
    | {"layers": 3, "learning_rate": 3e-4, "warmup_epochs": 0.1, "q3_swapped_pairs": False},
    "dual_encoder": {"epochs": 1, "batch_size": 16, "max_negatives": 5, "warmup_steps": 5, "max_length": 128}
    | {"dev_examples": 4, "gradient_checkpointing": False},
}


@dataclass(frozen=True)
class Ingredient:
    """One thing that a recipe lacks and that can be made. `job`: the job that makes it now, or that failed to."""

    key: str  # a starter's name, or "workflows of DATASET"
    name: str  # a starter's, or "workflows"
    says: str
    seconds: int
    dataset: Dataset
    starter: Starter | None = None
    job: Job | None = None
    ahead: Ahead = NOTHING  # of its job, while that waits

    @property
    def live(self) -> ShownProgress | None:
        """The progress of the job that makes it now; None where none does."""
        return None if self.job is None or self.job.is_over else self.job.live()

    @property
    def is_begun(self) -> bool:
        """Whether a worker has begun to make it."""
        return self.job is not None and bool(self.job.state == Job.State.RUNNING or self.job.progress)

    @property
    def told(self) -> str:
        """When it will be made, in words."""
        return f"{self.ahead.ready_in(self.left)} left" if self.is_begun else waits(self.ahead, self.left)

    @property
    def left(self) -> int:
        """The seconds that a worker needs to make it: by the pace of its job once that is known, else as expected."""
        if self.job is None or self.job.is_over:
            return self.seconds
        return round(QueuedJob(self.job, self.seconds).left or 0)


def waits(ahead: Ahead, seconds: float) -> str:
    """When something is ready that waits for its turn, in words: with all that comes before it."""
    if not ahead:
        return f"waits for its turn, then {ahead.ready_in(seconds)}"
    return f"waits for its turn, done in {ahead.ready_in(seconds)}: {ahead.text} first"


@dataclass(frozen=True)
class Offer:
    """What can be made for recipes, and what of it is being made."""

    parts: tuple[Ingredient, ...]
    soon: int | None = None  # seconds until the sample that is being built, and what it orders then, have made them
    sample: Job | None = None  # the job that builds it

    @property
    def waiting(self) -> list[Ingredient]:
        """What nobody makes and nobody is about to order."""
        return [part for part in self.parts if part.live is None] if self.soon is None else []

    @property
    def running(self) -> list[Ingredient]:
        return [part for part in self.parts if part.live is not None]

    @property
    def job(self) -> Job | None:
        """The job to look at for how far it is; None where nothing is being made."""
        return self.sample if self.soon is not None else next((part.job for part in self.running), None)

    @property
    def seconds(self) -> int:
        """The seconds that making the rest will take: what no job makes yet."""
        return sum(part.seconds for part in self.waiting)

    @property
    def running_text(self) -> str:
        """When what is being made will be ready, in words; "" where nothing is."""
        if self.soon is not None:
            return f"being prepared with the sample, {about_text(self.soon)} left"
        if not self.running:
            return ""
        if any(part.is_begun for part in self.running):
            return f"being prepared, {Ahead(unknown=self._last.ahead.unknown).ready_in(self.running_seconds)} left"
        return waits(self._last.ahead, self._last.left)

    @property
    def running_seconds(self) -> int:
        """The seconds until all that is being made is ready, as far as it is known what comes before it."""
        if self.soon is not None:
            return self.soon
        return round(self._last.ahead.seconds + self._last.left) if self.running else 0

    @property
    def _last(self) -> Ingredient:
        """What is being made and is ready last."""
        return max(self.running, key=lambda part: part.ahead.seconds + part.left)


class Preparing:
    """What recipes lack and can be made from `datasets` (by what recipes read: any, weblinx). Each thing is looked up
    once. `sample`: what builds the sample now, and then orders what recipes lack."""

    def __init__(self, datasets: dict[str, Dataset], sample: Building | None = None) -> None:
        self.datasets, self.sample = datasets, sample
        self._known: dict[tuple[str, str], Ingredient | None] = {}

    def offer(self, *recipes: Recipe) -> Offer:
        """What several recipes lack and can be made, each thing once."""
        parts = tuple({part.key: part for recipe in recipes for part in self.parts(recipe)}.values())
        return Offer(parts, self._soon(recipes), self.sample.job if self.sample else None)

    def coming(self, recipe: Recipe, lacking: Sequence[str], dataset: Dataset | None = None) -> Offer | None:
        """What is being made for a recipe where nothing else is `lacking`; None elsewhere. `dataset`: what it would run
        on, where its workflows are among that."""
        at_hand = self if dataset is None else self._with(recipe, dataset)
        offer = at_hand.offer(recipe)
        is_made = all(need.startswith("rank.model: ") or NO_WORKFLOWS in need for need in lacking)
        return offer if lacking and is_made and not offer.waiting and offer.job else None

    def _with(self, recipe: Recipe, dataset: Dataset) -> "Preparing":
        """The same for a recipe on this dataset: the sample's job makes nothing of others."""
        if self.datasets.get(recipe.data) in (dataset, None):
            return self
        return Preparing(self.datasets | {recipe.data: dataset})

    def _soon(self, recipes: Sequence[Recipe]) -> int | None:
        """The seconds until the sample that is being built, and what it orders then, have made what these recipes lack
        and no job makes yet; None where nothing of it is to come."""
        if self.sample is None or PART not in self.sample.names:
            return None
        coming = {name for recipe in recipes for name in self._to_come(recipe)}
        if not coming:
            return None
        order = list(self._order)
        last = max(order.index(name) for name in coming)
        seconds = sum(self._order[name] for name in order[: last + 1])
        return round(self.sample.seconds_left + self.sample.slowness * seconds)

    def _to_come(self, recipe: Recipe) -> Collection[str]:
        """What the recipe lacks and no job makes yet, of what the sample orders."""
        wanted = of_sample(recipe).keys() & self._order.keys()
        if recipe.data not in self.datasets:
            return wanted
        return wanted & {part.name for part in self.parts(recipe) if part.live is None}

    @cached_property
    def _order(self) -> dict[str, int]:
        """What published recipes lack -> the seconds that making it takes, in the order in which the sample has it
        made: first what most of them lack."""
        lacking = [wanted for recipe in literature.RECIPES.values() for wanted in of_sample(recipe).items()]
        return dict(wanted for wanted, _ in Counter(lacking).most_common())

    def parts(self, recipe: Recipe) -> list[Ingredient]:
        """What must be made before the recipe can run; empty where nothing must be, or where there is no dataset to
        make it from."""
        dataset = self.datasets.get(recipe.data)
        if dataset is None or recipe.needs:
            return []
        starter, found = starters.starter_of(recipe), []
        if starter is not None:
            found.append(self._part(starter.name, dataset, lambda: _training(starter, dataset)))
        if WORKFLOWS in registry.searched(recipe):
            found.append(self._part(WORKFLOWS, dataset, lambda: _induction(dataset)))
        return [part for part in found if part is not None]

    def cheap(self) -> list[Ingredient]:
        """What is not being made yet and takes at most CHEAP_SECONDS; first what most published recipes lack."""
        recipes = literature.RECIPES.values()
        lacking = Counter(part.key for recipe in recipes for part in self.parts(recipe))
        found = [part for part in self.offer(*recipes).waiting if part.seconds <= CHEAP_SECONDS]
        return sorted(found, key=lambda part: -lacking[part.key])

    def _part(self, name: str, dataset: Dataset, look: Callable[[], Ingredient | None]) -> Ingredient | None:
        key = (name, dataset.name)
        if key not in self._known:
            part = look()
            if part is not None and part.job is not None and part.job.state == Job.State.QUEUED:
                part = replace(part, ahead=self._queue.before(part.job))
            self._known[key] = part
        return self._known[key]

    @cached_property
    def _queue(self) -> WorkQueue:
        return WorkQueue()


def told_of(recipes: Sequence[Recipe], projects: QuerySet[Project]) -> list[tuple[list[str], list[StandIn]]]:
    """Of each recipe what it lacks and what stands in. Our exemplar sets stand in where none of the projects has
    others."""
    ours = [] if ExemplarSet.objects.filter(project__in=projects).exists() else [OUR_SETS]
    return [
        (lacking, stand_ins + (ours if not one.needs and "exemplar_sets" in registry.searched(one) else []))
        for one, (lacking, stand_ins) in zip(recipes, starters.told_of(recipes), strict=True)
    ]


def ready(user: User, recipes: Sequence[Recipe]) -> list[Recipe]:
    """The recipes that can run now on the datasets of the user's projects: nothing is missing, and nothing must be
    made."""
    offers = Preparing(datasets_for(user, None))
    told = zip(recipes, told_of(recipes, rules.projects(user)), strict=True)
    return [one for one, (lacking, _) in told if not lacking and not offers.parts(one)]


@transaction.atomic
def begin(recipes: Sequence[Recipe], user: Account) -> list[Ingredient]:
    """Start the jobs that make what recipes lack and no job makes yet; the parts that were started. A second caller at
    the same moment waits, and then finds them started. Raises PermissionDenied and ValidationError."""
    datasets = datasets_for(user)
    if not datasets:
        raise PermissionDenied("Preparing recipes needs the role of an admin in a project with a train split.")
    projects = {dataset.project_id for dataset in datasets.values()}
    list(Project.objects.select_for_update(no_key=True).filter(pk__in=projects).order_by("pk"))
    begun = Preparing(datasets).offer(*recipes).waiting
    for part in begun:
        start(part, user=user)
    return begun


def start(part: Ingredient, *, user: Account | None, publish: bool = True) -> Job:
    """Start the job that makes a part, or give the job that makes it already. Raises ValidationError."""
    if part.job is not None and not part.job.is_over:
        return part.job
    dataset = part.dataset
    if part.starter is None:
        return memory.start_induction(user=user, dataset=dataset, publish=publish)
    _make_way(part.starter)
    model = start_training(
        user=user,
        dataset=dataset,
        kind=part.starter.kind,
        name=part.starter.name,
        base=part.starter.base,
        limit=_limit(dataset),
        changes=SETTINGS[part.starter.kind],
        publish=publish,
    )
    return model.current_job()


def make_cheap(project: Project, say: Callable[[str], None], most: int | None = None) -> None:
    """Start jobs for what published recipes lack and what can be made of the sample's datasets within CHEAP_SECONDS,
    `most` of them at most, first what most recipes lack."""
    datasets: dict[str, Dataset] = {}
    for dataset in project.datasets.with_conversations(Split.TRAIN).order_by("pk"):
        datasets.setdefault(reads(dataset), dataset)
    for part in Preparing(datasets).cheap()[:most]:
        start(part, user=None)
        say(f"{part.says}: queued, {about_text(part.seconds)}")


def datasets_for(user: User | None, ability: str | None = "train") -> dict[str, Dataset]:
    """The datasets to prepare from, by what recipes read: the first with a train split, of the projects that the user
    may train in (or, with `ability` None, belongs to). `user` None: all projects, for the command line."""
    rows = Dataset.objects.with_conversations(Split.TRAIN).order_by("pk")
    if user is not None:
        rows = rows.filter(project__in=rules.projects(user, ability))
    found: dict[str, Dataset] = {}
    for dataset in rows:
        found.setdefault(reads(dataset), dataset)
    return found


def of_user(user: User, *, may_prepare: bool) -> Preparing:
    """What can be prepared in the user's projects. Who may prepare nothing still sees what is being prepared there."""
    return Preparing(datasets_for(user, "train" if may_prepare else None), Building.of(rules.projects(user)))


def seen_by(user: User) -> Preparing:
    """`of_user`, with what the user may do looked up."""
    return of_user(user, may_prepare=rules.projects(user, "train").exists())


def reads(dataset: Dataset) -> str:
    return "weblinx" if dataset.source_format == "weblinx" else "any"


def _training(starter: Starter, dataset: Dataset) -> Ingredient | None:
    if starters.is_here(starter):
        return None
    steps = min(dataset.recorded_counts(Split.TRAIN)[1], MOST_STEPS)
    seconds = training_seconds(starter.kind, steps)
    model = TrainedModel.objects.filter(name=starter.name).select_related("job").first()
    if model and model.job and model.job.has_landed and starters.is_here(starter):  # just now
        return None
    says = f"train the ranker {starter.name} from {starter.base} on {steps} steps of {dataset.name}"
    return Ingredient(starter.name, starter.name, says, seconds, dataset, starter, model.job if model else None)


def of_sample(recipe: Recipe) -> dict[str, int]:
    """What a recipe lacks and is made of the sample -> the seconds that making it takes."""
    starter, found = starters.starter_of(recipe), dict[str, int]()
    if starter is not None and not starters.is_here(starter):
        found[starter.name] = training_seconds(starter.kind, SAMPLE_STEPS[recipe.data])
    if WORKFLOWS in registry.searched(recipe) and not recipe.needs:
        found[WORKFLOWS] = induction_seconds(SAMPLE_SITES)
    return found


def _induction(dataset: Dataset) -> Ingredient | None:
    if dataset.workflows.standing().exists():
        return None
    sites = len(dataset.recorded_websites(Split.TRAIN))
    job = Job.objects.filter(dataset=dataset, kind=Job.Kind.INDUCE).order_by("-pk").first()
    says = f"have the model write workflows of {amount(sites, 'website')} of {dataset.name}"
    return Ingredient(f"workflows of {dataset.name}", WORKFLOWS, says, induction_seconds(sites), dataset, None, job)


def _make_way(starter: Starter) -> None:
    """Delete a starter whose training failed or was cancelled, so that it can be trained anew under its name."""
    over = (Job.State.FAILED, Job.State.CANCELLED)
    TrainedModel.objects.filter(name=starter.name, ready=False, job__state__in=over).delete()


def _limit(dataset: Dataset) -> int | None:
    """How many train conversations have about MOST_STEPS steps together; None where all have no more."""
    conversations, steps = dataset.recorded_counts(Split.TRAIN)
    return None if steps <= MOST_STEPS else max(1, conversations * MOST_STEPS // steps)

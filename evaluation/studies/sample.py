"""Studies that come with the sample: recipes that need no foreign model, compared by real workers.

They are queued like those that people start, so their numbers, intervals and replays are what this machine found. Two
of them compare all agents with the small models that stand in: they grow, by one agent after the other, as what these
lack is made.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction

from agents.cookbook import lacking, saved, starters
from agents.environments.browser import find
from agents.live.goals import new_goals
from agents.live.showing import ShownGoal
from agents.llm import connection
from agents.memory.searched import lacking_of
from agents.models import Run, SavedRecipe
from agents.models.spending import BudgetLimits
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.stages.registry import planner_of, searched
from agents.training.prepare import preparing
from annotations.corpus.store import ConversationStore
from annotations.models import Dataset, Project, Split
from annotations.models.accounts.projects import Account
from annotations.text.amounts import amount
from evaluation.models import ReviewChoice, ReviewQueue, Shard, Study
from evaluation.reviews.choosing import QueueDemand, make_queue
from evaluation.studies.running import create_study, planned_recipe, publish_on_commit

PART = "sample-studies"
TESTS = ("test_task", "test_website", "test_subdomain")
EVIDENCE = ("lexical_weight", "role_weight", "order_weight", "option_weight", "link_penalty", "repeat_penalty")
# What `grounded` loses without each of its parts: name -> what it says of itself, and the settings that differ.
VARIANTS = {
    "grounded-no-memory": ("grounded, which recalls nothing of earlier turns.", {"recall.weight": "0"}),
    "grounded-no-order": (
        "grounded, which does not know that a form is filled in from top to bottom.",
        {"rank.order_weight": "0"},
    ),
    "grounded-encoder": (
        "grounded, which ranks by the encoder alone: no words in common, no roles, no order.",
        {f"rank.{name}": "0" for name in EVIDENCE},
    ),
}


@dataclass(frozen=True)
class SampleStudy:
    """A comparison on one of the sample's datasets."""

    name: str
    dataset: str
    recipes: tuple[str, ...]
    splits: tuple[str, ...]
    limit: int | None = None
    seconds: int | None = None  # of model calls at most
    preset: str = Study.Preset.CORRECTED


COMPARED = SampleStudy("What grounded is made of", "sample", ("grounded", *VARIANTS), TESTS)
STUDIES = (
    COMPARED,  # first, as its intervals are what the first page shows
    SampleStudy(
        "Ranking turns as WebLINX does", "sample-weblinx", ("dmr-minilm",), ("test_iid",), preset=Study.Preset.FAITHFUL
    ),
    SampleStudy("The same errands, one task at a time", "sample-tasks", ("grounded",), TESTS[1:]),
)


STEPS_TO_JUDGE = 12  # that reviewers are asked for
CONVERSATIONS = 3  # of a split, that each agent decides at most


@dataclass(frozen=True)
class GrowingStudy:
    """A comparison of all agents that read one kind of data, on three conversations or more. It gets one agent after
    the other, as each may become ready later. `first`: published ones of different kinds, the quick ones before the
    slow, which come early."""

    name: str
    dataset: str
    data: str  # what its recipes read
    splits: tuple[str, ...]
    first: tuple[str, ...]
    seconds: int  # of model calls at most
    preset: str = Study.Preset.CORRECTED
    urgent: tuple[str, ...] = ()  # before trainings, so that there are numbers of published ones within minutes

    @property
    def waiting(self) -> Path:
        """The marker file that exists while the study still grows."""
        return Path(settings.VAR_DIR) / f"{self.dataset}-agents-waiting"

    def recipes(self) -> list[Recipe]:
        """The recipes in the order in which they are queued: the `first`, then those that ask no model, the others.
        Recipes that are shown exemplar sets are left out: these are of live pages."""
        built = [one for one in literature.RECIPES.values() if one.data == self.data and not one.needs]
        found = [one for one in built if "exemplar_sets" not in searched(one)]
        places = {name: place for place, name in enumerate(self.first)}
        return sorted(found, key=lambda one: (places.get(one.name, len(places)), planner_of(one).asks))

    def begun_with(self, recipe: Recipe) -> SampleStudy:
        return SampleStudy(
            self.name, self.dataset, (recipe.name,), self.splits, CONVERSATIONS, self.seconds, self.preset
        )

    def is_at_its_first(self) -> bool:
        """Whether one of its first agents is at work, or could be."""
        study = Study.objects.filter(project__slug="sample", name=self.name).first()
        dataset = Dataset.objects.filter(project__slug="sample", name=self.dataset).first()
        if study is None or dataset is None:
            return False
        states = dict(study.runs.values_list("recipe_name", "state"))
        if any(states.get(name) in Run.OPEN for name in self.first):
            return True
        left = [recipe for recipe in self.recipes() if recipe.name in self.first and recipe.name not in states]
        return any(_asks_for_nothing(recipe) and _is_ready(recipe, dataset) for recipe in left)


AGENTS = (
    GrowingStudy(
        "All agents on WebLINX's turns, with the small models that stand in",
        "sample-weblinx",
        "weblinx",
        ("test_iid", "test_web", "test_cat", "test_geo", "test_vis"),  # of one conversation each
        ("dmr-minilm", "weblinx-flan-t5"),
        seconds=60 * 60,
        preset=Study.Preset.FAITHFUL,  # as its rankers were trained that stand in
    ),
    GrowingStudy(
        "All agents, with the small models that stand in",
        "sample",
        "any",
        ("test_subdomain",),
        ("grounded", "deberta", "mindact", "self-map", "synapse", "awm"),
        seconds=3 * 60 * 60,
        urgent=("deberta", "mindact"),
    ),  # last, as the first page shows the newest; the others wait for its first agents
)

PROGRAMS = SampleStudy(
    "Programs on live pages, with the small model that stands in",
    "sample-live",
    ("grounded", "synapse-miniwob"),
    (Split.DEV,),
    seconds=30 * 60,
)
LIVE_TASKS = ("click-test-2", "enter-text", "click-button")  # an episode of each
LIVE_STEPS = 3


def make_studies(project: Project, say: Callable[[str], None]) -> None:
    """Queue those studies that are not there yet and whose datasets are, and have those begin that grow. The ranker
    that most recipes wait for, which takes a minute, comes after the first study."""
    manager, datasets = (
        get_user_model().objects.get(username="admin"),
        {one.name: one for one in project.datasets.all()},
    )
    with transaction.atomic():
        _save_variants(project, manager)
        for one in STUDIES:
            if one.dataset not in datasets or project.studies.filter(name=one.name).exists():
                continue
            study = _queue(one, datasets[one.dataset], manager)
            say(f"{study}: {amount(study.runs.count(), 'run')} queued")
            if one is STUDIES[0]:
                preparing.make_cheap(project, say, most=1)
    for each in AGENTS:
        if each.dataset in datasets and not project.studies.filter(name=each.name).exists():
            each.waiting.touch()
    if not project.review_queues.exists():
        _asking().touch()
    if not project.studies.filter(name=PROGRAMS.name).exists():
        _acting().touch()


def grow_all() -> None:
    """Take the next step of whatever of the sample still grows."""
    grow()
    ask_reviewers()
    act_live()


def ask_reviewers() -> ReviewQueue | None:
    """Once the study that compares parts of `grounded` is over, ask reviewers which of its runs is right where they
    disagree. None where that was asked before, or they never disagree."""
    study = Study.objects.filter(project__slug="sample", name=COMPARED.name).first() if _asking().exists() else None
    if study is None or study.runs.open().exists():
        return None
    try:
        _asking().unlink()  # only the process that removes it asks
        return make_queue(study.created_by, study, QueueDemand(ReviewChoice.DISAGREE, STEPS_TO_JUDGE, 1))
    except (FileNotFoundError, ValueError):  # ValueError: they never disagree
        return None


def _asking() -> Path:
    """The marker file that exists until reviewers are asked."""
    return Path(settings.VAR_DIR) / "sample-reviewers-waiting"


def act_live() -> Study | None:
    """Once the study of all agents is past its first ones, let those act that read live pages alone: each decides three
    episodes. None where that was done before, where it is not the time yet, or where there is no browser."""
    last = AGENTS[-1]
    project = Project.objects.filter(slug="sample").first() if _acting().exists() else None
    manager = get_user_model().objects.filter(username="admin").first()
    if project is None or manager is None:
        return None
    begun = project.studies.filter(name=last.name).exists() or not last.waiting.exists()
    if not begun or last.is_at_its_first() or not all(_asks_for_nothing(literature.get(n)) for n in PROGRAMS.recipes):
        return None
    try:
        _acting().unlink()  # only the process that removes it begins
    except FileNotFoundError:
        return None
    if find() is None:
        return None
    dataset = new_goals(project, PROGRAMS.dataset, "miniwob", LIVE_STEPS)
    store = ConversationStore(dataset)
    goals = (ShownGoal("miniwob", task, seed=0).record() for task in LIVE_TASKS)
    records = [replace(goal, split=PROGRAMS.splits[0]) for goal in goals]  # nobody shows them to teach
    store.store([(record, store.sha256(record)) for record in records])
    return _queue(PROGRAMS, dataset, manager)


def _acting() -> Path:
    """The marker file that exists until agents of live pages have acted."""
    return Path(settings.VAR_DIR) / "sample-programs-waiting"


def grow() -> list[Run]:
    """Queue the next agent of each study that grows, once what it needs is here and the one before is done. So studies
    that people start wait for one agent at most. While the last of them, which the first page shows, is at its first
    agents, the others get none but the one they begin with."""
    growing = [one for one in AGENTS if one.waiting.exists()]
    return [run for one in growing for run in _grow(one, growing[-1])]


def urgent_waits() -> bool:
    """Whether an urgent agent of the study that the first page shows waits for a worker: trainings, and what else takes
    minutes, make way for it."""
    one = AGENTS[-1]
    of_study = {"run__studies__project__slug": "sample", "run__studies__name": one.name}
    urgent = Shard.objects.just_asked().filter(**of_study, run__recipe_name__in=one.urgent)
    return one.waiting.exists() and urgent.exists()


def _grow(one: GrowingStudy, last: GrowingStudy) -> list[Run]:
    with transaction.atomic():
        # Locked: two who look at once would both add the next.
        dataset = Dataset.objects.select_for_update().filter(project__slug="sample", name=one.dataset).first()
        manager = get_user_model().objects.filter(username="admin").first()
        if dataset is None or manager is None:  # people have deleted them since
            one.waiting.unlink(missing_ok=True)
            return []
        try:
            begun = one.waiting.read_text()  # the study's id, once it has one
        except FileNotFoundError:  # whoever held the lock before has ended it
            return []
        study = Study.objects.filter(project=dataset.project, name=one.name).first()
        held = set(study.runs.values_list("recipe_name", flat=True)) if study else set()
        left = [recipe for recipe in one.recipes() if recipe.name not in held]
        if not left or (begun and study is None) or (study and study.cancel_requested):
            one.waiting.unlink(missing_ok=True)
            if study:
                study.expect([])
            return []
        free = [recipe for recipe in left if _asks_for_nothing(recipe)]
        if study and study.runs.open().exists():
            study.expect([recipe.name for recipe in free])
            return []
        makes_way = study is not None and one is not last and last.is_at_its_first()
        chosen = None if makes_way else next((recipe for recipe in free if _is_ready(recipe, dataset)), None)
        coming = [recipe.name for recipe in free if recipe != chosen]
        if study:
            study.expect(coming)
        if chosen is None:
            return []
        if study is not None:
            for split in one.splits:
                fitted = planned_recipe(manager, chosen.name, study.preset, dataset, split)
                publish_on_commit(study.plan_run(dataset, fitted, split, 0, CONVERSATIONS).shards.waiting())
            return list(study.runs.open())
        study = _queue(one.begun_with(chosen), dataset, manager)
        study.expect(coming)
        transaction.on_commit(lambda: one.waiting.write_text(str(study.pk)))
        return list(study.runs.all())


def _asks_for_nothing(recipe: Recipe) -> bool:
    """Whether the recipe runs without asking an endpoint that people pay for, as nobody has ordered this study."""
    filled = starters.with_starters(recipe)
    return not lacking.asks_endpoint(filled) or bool(connection.embedded_model(literature.asked_model(filled)))


def _is_ready(recipe: Recipe, dataset: Dataset) -> bool:
    filled = starters.with_starters(recipe)
    return not (lacking.missing(filled) or lacking_of(dataset, searched(filled)))


def _queue(one: SampleStudy, dataset: Dataset, manager: Account) -> Study:
    return create_study(
        user=manager,
        dataset=dataset,
        recipes=list(one.recipes),
        splits=list(one.splits),
        limit=one.limit,
        name=one.name,
        preset=one.preset,
        budget=BudgetLimits(seconds=one.seconds),
    )


def _save_variants(project: Project, manager: Account) -> None:
    parent = literature.get("grounded")
    for name, (description, changes) in VARIANTS.items():
        saved.derive(parent, name, description, changes)  # says what is wrong with them
        fields = {"description": description, "parent": parent.name, "changes": changes, "created_by": manager}
        SavedRecipe.objects.get_or_create(name=name, defaults={"project": project, **fields})

"""Forecasts a study before it starts: how many steps, how long, and for how much money, by what earlier runs took.

Of a recipe that nobody has run here it says a span, by what takes agents that ask the same model
(`agents/cookbook/paces.py`).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from django.db.models import Avg, Exists, OuterRef
from django.http import QueryDict

from agents.cookbook import deviations
from agents.cookbook.lacking import asks_endpoint
from agents.cookbook.paces import NOBODY, KnownPaces, PaceSpan, asked_of
from agents.llm import connection
from agents.llm.usage import Prices
from agents.models import Run, TrajectoryStep
from agents.models.runs import RunQuerySet
from agents.recipes import literature
from agents.recipes.declaring import values_of
from agents.recipes.literature import Recipe
from agents.stages.compose.pages import CUT_FIRST
from agents.stages.known import kinds
from agents.training.prepare.ahead import NOTHING, Ahead, WorkQueue
from annotations.access import rules
from annotations.access.rules import User
from annotations.forms import MOST
from annotations.models import ConversationTally, Dataset
from annotations.shown_progress import between_text, span_text
from annotations.text.amounts import amount, whole
from evaluation.metrics.scores import PRESETS
from evaluation.studies.connecting import Through
from evaluation.studies.forms import settings_in
from evaluation.studies.running import as_it_runs, ready
from evaluation.studies.users_share import UserShare

LOOKED_AT = 10  # of the last runs of a recipe
# What changes neither how long a step takes nor what it costs.
WITHOUT_WEIGHT = ("prompts.", "quirks.", "preset")
# What changes who answers and how fast, and not how much is read.
SAME_TOKENS = frozenset(
    "batch_size plan.model plan.temperature plan.top_p rank.exact rank.model recall.encoder".split()
)


@dataclass(frozen=True)
class StepPace:
    """What a step, or an episode, took in an earlier run. `loading`: seconds before its first step; `differs`: settings
    that it had otherwise; `kin`: its recipe, where that is another one that plans alike."""

    seconds: float
    prompt_tokens: float
    completion_tokens: float
    loading: float | None = None
    differs: tuple[str, ...] = ()
    kin: str = ""
    ranking: float = 0.0  # of the seconds, where no score of the ranker was kept


@dataclass(frozen=True)
class Forecast:
    """The forecast for one recipe on all conversations of the study. None: not known. `because` says what is not known,
    or why it cannot run."""

    recipe: str
    seconds: float | None = None  # of its steps, and of loading its models once; at least, where `most` says more
    cost: float | None = 0.0
    because: str = ""
    differs: tuple[str, ...] = ()
    kin: str = ""
    loading: float | None = None  # part of the seconds; None where no run tells
    ranking: float = 0.0  # part of the seconds
    told: str = ""  # what its prompts lose, beforehand
    most: float | None = None  # seconds, where no run of its own tells them and agents that ask its model take a span
    can_run: bool = True


@dataclass(frozen=True)
class Expected:
    """The forecast of a study: its runs and steps, and what each recipe takes."""

    runs: int
    steps: int  # recorded ones to decide; of live goals episodes
    unit: str = "step"
    recipes: list[Forecast] = field(default_factory=list)
    ahead: Ahead = NOTHING  # of it, at the worker
    wrong: str = ""  # what keeps it from being foretold
    user: UserShare | None = None  # of live conversations, where it is a language model

    @property
    def waiting(self) -> int:
        """How many runs of other studies come before it."""
        return self.ahead.runs

    @property
    def unknown(self) -> list[str]:
        """The recipes of which it is not known how long they take: the seconds are without them."""
        return [one.recipe for one in self.recipes if one.seconds is None]

    @property
    def seconds(self) -> float:
        """What the runs will take, or at least; a recipe of which it is not known adds nothing."""
        return sum(one.seconds or 0.0 for one in self.recipes)

    @property
    def most_seconds(self) -> float:
        """What the runs will take at most: more than `seconds` where a recipe has not run here."""
        return sum(one.most or one.seconds or 0.0 for one in self.recipes)

    @property
    def loading(self) -> float | None:
        """The part of these seconds before the first steps; None where no run tells."""
        known = [one.loading for one in self.recipes if one.loading is not None]
        return sum(known) if known else None

    @property
    def ranking(self) -> float:
        """The part of these seconds that goes where pages were ranked before."""
        return sum(one.ranking for one in self.recipes)

    @property
    def cost(self) -> float:
        """What the calls will cost, the user's, too; who is not known to cost something adds nothing."""
        return sum(one.cost or 0.0 for one in (*self.recipes, self.user) if one)

    def times(self, seeds: int) -> "Expected":
        """The forecast with so many seeds; models are loaded once all the same."""
        recipes = [
            replace(
                one,
                seconds=one.seconds and (one.seconds - (one.loading or 0)) * seeds + (one.loading or 0),
                most=one.most and one.most * seeds,
                ranking=one.ranking * seeds,
                cost=one.cost and one.cost * seeds,
            )
            for one in self.recipes
        ]
        user = self.user and self.user.times(seeds)
        return replace(self, runs=self.runs * seeds, steps=self.steps * seeds, recipes=recipes, user=user)

    def without_reasons(self, recipes: Collection[str]) -> "Expected":
        """The same without why these recipes cannot run, which is said beside it."""
        kept = [replace(one, because="") if one.recipe in recipes and not one.can_run else one for one in self.recipes]
        return replace(self, recipes=kept)

    def sentences(self) -> list[str]:
        """The forecast in sentences for the form."""
        if self.wrong:
            return [self.wrong]
        said = [f"{amount(self.runs, 'run')} of {amount(self.steps, self.unit)} in all."]
        said += _each(one.because for one in self.recipes if one.because)
        said += _each(f"{one.recipe}: {one.told}" for one in self.recipes if one.told)
        if self.seconds:
            said.append(self._time_text())
            if self.ranking >= self.seconds / 20:
                said.append(
                    f"{span_text(self.ranking)} of it at most are saved where the same pages were ranked before."
                )
        said += _each(
            f"{one.recipe} has not run here yet: it is taken to be as slow as {one.kin}, which plans alike."
            for one in self.recipes
            if one.kin
        )
        if different := {name for one in self.recipes for name in one.differs}:
            said.append(f"Earlier runs had other settings, so it may be more or less: {', '.join(sorted(different))}.")
        if self.cost:
            said.append(f"Model calls for about {self.cost:.2g}, at the prices of today.")
        elif all(one.cost == 0 for one in (*self.recipes, self.user) if one):
            said.append("No call that costs money.")
        said += self.user.sentences([one.recipe for one in self.recipes if one.seconds]) if self.user else []
        if self.ahead and all(one.can_run for one in self.recipes):
            soon = f", in {self.ahead.ready_in(0)}" if self.ahead.seconds else ""
            said.append(f"It begins when its turn comes{soon}: {self.ahead.text} came before it.")
        return said

    def _time_text(self) -> str:
        """ "About 2 to 10 min on one worker (without synapse)." is: how long, of which recipes, by what."""
        without = f" (without {', '.join(self.unknown)})" if self.unknown else ""
        if self.most_seconds > self.seconds:
            about = between_text(self.seconds, self.most_seconds).capitalize()
            return f"{about} on one worker{without}."
        loading = (
            " with its models loaded"
            if self.loading is None
            else f", {span_text(self.loading)} of it to load models and embed what is recalled"
        )
        return f"About {span_text(self.seconds)} on one worker{without}{loading}, as earlier runs took."


def expected(
    user: User | None,
    dataset: Dataset,
    recipes: Sequence[Recipe],
    splits: Sequence[str] = (),
    limit: int | None = None,
    websites: Sequence[str] = (),
    overrides: dict[str, str] | None = None,
    *,
    through: Through = Through(),  # noqa: B008  # frozen
) -> Expected:
    """The forecast of recipes × splits, with the arguments of `running.create_study`; no split means the whole dataset,
    no website all; `user` None: all runs tell. A preset is one of the `overrides`."""
    live, runs = dataset.is_live, splits or [""]
    if limit is None and not live:  # a million steps are not read to be counted
        kept = dict(ConversationTally.by_split(dataset.pk, websites).values_list("split", "step_count"))
        steps = sum(kept.get(split, 0) if split else sum(kept.values()) for split in runs)
    else:
        rows = [dataset.conversations.to_decide(split, websites, episodes=live) for split in runs]
        counts = [list(one.values_list("step_count", flat=True)[:limit]) for one in rows]
        steps = sum(len(found) if live else sum(found) for found in counts)
    changes = [through.settings_of(recipe) | (overrides or {}) for recipe in recipes]
    paces = KnownPaces(_runs_seen(user))
    forecasts = [_forecast(user, one, dataset, steps, each, paces) for one, each in zip(recipes, changes, strict=True)]
    share = UserShare.of(_runs_seen(user), dataset, [one.name for one in recipes], steps) if live else None
    unit, ahead = "episode" if live else "step", WorkQueue().before()
    return Expected(len(recipes) * len(runs), steps * len(recipes), unit, forecasts, ahead, user=share)


def asked(user: User, query: QueryDict, datasets: dict[str, Dataset], offered: dict[str, Recipe]) -> Expected | None:
    """The forecast of the study that the form's fields describe (`query`, as a browser sends them); None before a
    dataset and a recipe are chosen."""
    dataset = datasets.get(query.get("dataset", ""))
    recipes = [offered[name] for name in query.getlist("recipes") if name in offered]
    if dataset is None or not recipes:
        return None
    limit = query.get("limit", "").strip()
    if limit and not (0 < (whole(limit) or 0) <= MOST):
        return Expected(0, 0, wrong=f"Conversations: a whole number from 1 to {MOST:,}, or nothing for all of them.")
    most = whole(limit)
    try:
        changed = settings_in(query.get("overrides", ""))
    except ValueError:  # said when it is sent; half a line is no setting yet
        changed = {}
    there = {split for split, _ in dataset.split_counts()}
    splits = [split for split in query.getlist("splits") if split in there]
    if (preset := query.get("preset", "")) in PRESETS:
        changed["preset"] = preset
    through = Through(query.get("connection", ""), query.get("encoder", ""))
    return expected(user, dataset, recipes, splits, most, query.getlist("websites"), changed, through=through)


def _forecast(
    user: User | None, recipe: Recipe, dataset: Dataset, steps: int, overrides: dict[str, str], paces: KnownPaces
) -> Forecast:
    name, preset = recipe.name, overrides.get("preset")
    try:
        recipe = as_it_runs(recipe, {key: value for key, value in overrides.items() if key != "preset"}, preset)
    except ValueError as error:
        return Forecast(name, None, None, f"{name} cannot run so: {error}.", can_run=False)
    try:
        recipe = ready(recipe, overrides, dataset)
    except ValueError as error:
        return Forecast(name, None, None, f"{error}.", can_run=False)
    told = next((one.words for one in deviations.of_recipe(recipe) if one.key == CUT_FIRST), "")
    return replace(_paced(recipe, _Past(user, dataset, recipe, paces), steps), told=told)


def _paced(recipe: Recipe, past: "_Past", steps: int) -> Forecast:
    name, pace = recipe.name, past.pace()
    answers = asks_endpoint(recipe) and not connection.embedded_model(literature.asked_model(recipe))
    cost, said = _cost(recipe, pace, steps) if answers else (0.0, "")
    if pace is None or (answers and "plan.model" in pace.differs):  # another model takes another time
        return _by_others(recipe, past.span(), pace, steps, cost, said)
    seconds = steps * pace.seconds + (pace.loading or 0)
    return Forecast(name, seconds, cost, said.strip(), pace.differs, pace.kin, pace.loading, steps * pace.ranking)


def _by_others(
    recipe: Recipe, span: PaceSpan | None, pace: StepPace | None, steps: int, cost: float | None, said: str
) -> Forecast:
    """The forecast by agents that ask the same model, of a recipe that has not run here, or with another model."""
    name, asked, (differs, kin) = recipe.name, asked_of(recipe), (pace.differs, pace.kin) if pace else ((), "")
    if span is None:
        who = f"{asked} has not answered it here yet" if pace else "nobody has run it here yet"
        return Forecast(name, None, cost, f"How long is not known of {name}: {who}.{said}", differs, kin)
    others = f"agents that ask {'no model' if asked == NOBODY else asked}"
    because = f"{name} has not run here yet{' with it' if pace else ''}: {others} take {_each_step(span)}.{said}"
    return Forecast(name, steps * span[0], cost, because, differs, kin, most=steps * span[1])


def _each_step(span: PaceSpan) -> str:
    """ "2 to 9 s a step", "up to 1 s a step"."""
    least, most = (f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.1g}" for seconds in span)
    if least == most:
        return f"{most} s a step"
    return f"{f'{least} to' if span[0] >= 0.1 else 'up to'} {most} s a step"


def _cost(recipe: Recipe, pace: StepPace | None, steps: int) -> tuple[float | None, str]:
    """The cost of the calls to an endpoint, None where it is not known, and a sentence on what is not known of it."""
    model = literature.asked_model(recipe)
    prices, named = connection.prices(model), model or "the installation's model"
    if prices is None:
        return None, f" What calls of {named} cost is not known: it has no prices."
    if pace is None or not pace.prompt_tokens:
        return _unless_free(prices), f" Calls of {named} cost {prices.text()}; how many tokens is not known."
    if others := [name for name in pace.differs if name not in SAME_TOKENS]:
        why = f"earlier runs of {recipe.name} had other settings ({', '.join(others)})"
        return _unless_free(prices), f" Calls of {named} cost {prices.text()}; how many tokens is not known, as {why}."
    return steps * prices.cost(pace.prompt_tokens, pace.completion_tokens), ""


def _unless_free(prices: Prices) -> float | None:
    return None if prices.prompt or prices.completion else 0.0


def _runs_seen(user: User | None) -> RunQuerySet:
    """The runs that the user may see; of `user` None: all."""
    return Run.objects.all() if user is None else rules.visible(user, Run.objects.all())


class _Past:
    """The earlier runs that tell what a recipe takes: those that the user may see and that have stored steps. For live
    goals, those in the same environment, as they count whole episodes."""

    def __init__(self, user: User | None, dataset: Dataset, recipe: Recipe, paces: KnownPaces) -> None:
        self.recipe, self.is_live, self.paces, self.dataset = recipe, dataset.is_live, paces, dataset
        has_steps = Exists(TrajectoryStep.objects.filter(run=OuterRef("pk")))
        environment = dataset.live.get("environment")
        where = {"dataset__live__environment": environment} if self.is_live else {"dataset__live": {}}
        self.ran = _runs_seen(user).filter(has_steps, **where).order_by("-pk")

    def pace(self) -> StepPace | None:
        """The pace of the run with fewest other settings, the latest of equals; where the recipe has no run, that of a
        recipe that plans alike."""
        return self._of_own() or self._of_kin()

    def span(self) -> PaceSpan | None:
        """What a step takes of agents that ask the same model; None where that is not known, as of episodes."""
        return None if self.is_live else self.paces.span(self.recipe)

    def _of_own(self) -> StepPace | None:
        own = self.ran.filter(recipe_name=self.recipe.name)
        runs = list((own.with_user_of(self.dataset) if self.is_live else own)[:LOOKED_AT])
        differing = [(_differing(self.recipe, run), run) for run in runs]
        known = [(differs, run) for differs, run in differing if differs is not None]
        if not known:
            return None
        differs, run = min(known, key=lambda pair: ("plan.model" in pair[0], len(pair[0])))
        return self._pace_of_run(run, differs)

    def _of_kin(self) -> StepPace | None:
        plan, alike = self.recipe.plan, {"recipe__plan__kind": self.recipe.plan.kind}
        alike |= {"recipe__plan__model": plan.model, "recipe__plan__backend": plan.backend}
        if not asks_endpoint(self.recipe):
            alike |= {"recipe__rank__kind": self.recipe.rank.kind, "recipe__rank__base": self.recipe.rank.base}
        run = self.ran.exclude(recipe_name=self.recipe.name).filter(**alike).first()
        return self._pace_of_run(run, (), kin=run.recipe_name) if run else None

    def _pace_of_run(self, run: Run, differs: tuple[str, ...], kin: str = "") -> StepPace | None:
        mean = run.steps.aggregate(
            ms=Avg("milliseconds"), prompt=Avg("prompt_tokens"), completion=Avg("completion_tokens")
        )
        seconds, each, ranking = (mean["ms"] or 0.0) / 1000, 1.0, self._ranked_anew(run)
        seconds += max(0.0, ranking - run.steps.mean_seconds_of("rank"))
        alike = self.ran.filter(recipe_name=run.recipe_name, recipe__plan__model=run.recipe["plan"]["model"])
        # The longest loading counts: where it was short, the worker had the models from the run before.
        loading = max(
            (known for one in alike[:LOOKED_AT] if (known := one.loading_seconds()) is not None), default=None
        )
        if self.is_live:
            episodes = run.pace_of_episodes()
            if episodes is None:
                return None
            seconds, each, ranking = episodes[0], run.steps.count() / run.trajectories.count(), 0.0
        tokens = (mean["prompt"] or 0) * each, (mean["completion"] or 0) * each
        return StepPace(seconds, *tokens, None if self.is_live else loading, differs, kin, ranking)

    def _ranked_anew(self, run: Run) -> float:
        """Seconds that ranking a step takes where nothing was kept of it: what the first run took that ranked these
        conversations with the same weights."""
        rank = run.recipe["rank"]
        ranking = kinds()["rank.kind"].get(rank["kind"])
        if ranking is None or not ranking.keeps_scores:
            return 0.0
        alike = self.ran.filter(dataset=run.dataset_id, recipe__rank__kind=rank["kind"])
        first = alike.filter(recipe__rank__model=rank["model"]).last() or run
        return first.steps.mean_seconds_of("rank")


def _differing(recipe: Recipe, run: Run) -> tuple[str, ...] | None:
    """The settings that a run had otherwise; None where they cannot be read any more."""
    ran = literature.readable(run.recipe)
    if ran is None:
        return None
    had = values_of(ran)
    return tuple(
        name
        for name, value in values_of(recipe).items()
        if had.get(name) != value and not name.startswith(WITHOUT_WEIGHT)
    )


def _each(said: Iterable[str]) -> list[str]:
    """Each sentence once, in order."""
    return list(dict.fromkeys(said))

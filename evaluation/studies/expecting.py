"""What a study would be before it starts: how many steps, how long, and for how much, from runs of the same recipes."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Avg
from django.http import QueryDict

from agents.models import Run
from annotations.access import rules
from annotations.access.rules import User
from annotations.live import span_text
from annotations.models import ConversationTally, Dataset


@dataclass(frozen=True)
class Expected:
    """The runs and steps of a study that is not started yet. `seconds` and `money` are of the recipes that have run."""

    runs: int
    steps: int  # recorded ones to decide; of live goals episodes
    seconds: float
    money: float
    unknown: list[str]  # recipes that nobody has run here yet
    unit: str = "step"

    def sentences(self) -> list[str]:
        """For the form, one thing each."""
        said = [f"{_counted(self.runs, 'run')} of {_counted(self.steps, self.unit)} in all."]
        if self.seconds:
            said.append(f"About {span_text(self.seconds)} on one worker, as earlier runs took.")
        if self.unknown:
            said.append(f"How long is not known of {', '.join(self.unknown)}: nobody has run it here yet.")
        if self.money:
            said.append(f"Model calls for about {self.money:.2f}, at the prices of earlier runs.")
        elif not self.unknown:
            said.append("No call that costs money.")
        return said


def expected(
    user: User,
    dataset: Dataset,
    recipes: list[str],
    splits: list[str],
    limit: int | None,
    websites: Sequence[str] = (),
) -> Expected:
    """Of recipes × splits; no split means the whole dataset, no website all of them."""
    rows = {row["split"]: row for row in ConversationTally.by_split(dataset.pk, websites)}
    counted = "conversation_count" if dataset.is_live else "step_count"
    steps = sum(_steps(row, counted, limit) for split, row in rows.items() if not splits or split in splits)
    seconds = money = 0.0
    unknown = []
    for name in recipes:
        found = _pace(user, name, dataset)
        if found is None:
            unknown.append(name)
        else:
            seconds, money = seconds + steps * found[0], money + steps * found[1]
    unit = "episode" if dataset.is_live else "step"
    return Expected(len(recipes) * max(len(splits), 1), steps * len(recipes), seconds, money, unknown, unit)


def asked(user: User, query: QueryDict, datasets: dict[str, Dataset], offered: list[str]) -> Expected | None:
    """What a form's fields ask for as an address has them; None before a dataset and a recipe are chosen."""
    dataset = datasets.get(query.get("dataset", ""))
    recipes = [name for name in query.getlist("recipes") or [query.get("recipe", "grounded")] if name in offered]
    if dataset is None or not recipes:
        return None
    limit = query.get("limit", "")
    most = int(limit) if limit.isdecimal() else None
    return expected(user, dataset, recipes, query.getlist("splits"), most, query.getlist("websites"))


def _steps(row: dict[str, int], counted: str, limit: int | None) -> int:
    """Of a split, or of its first conversations as if they were like the others."""
    share = 1.0 if limit is None else min(1.0, limit / row["conversation_count"])
    return round(row[counted] * share)


def _pace(user: User, recipe: str, dataset: Dataset) -> tuple[float, float] | None:
    """Seconds and money of a step in the last run of a recipe that this person may see; of live goals those of an
    episode in the same environment, which are acted at once."""
    ran = rules.visible(user, Run.objects.filter(recipe_name=recipe, state=Run.State.DONE))
    if dataset.is_live:
        live = ran.filter(dataset__live__environment=dataset.live["environment"]).first()
        return live.pace_of_episodes() if live else None
    run = ran.filter(dataset__live={}).first()
    if run is None:
        return None
    mean = run.steps.aggregate(milliseconds=Avg("milliseconds"), cost=Avg("cost"))
    return (mean["milliseconds"] or 0.0) / 1000, mean["cost"] or 0.0


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

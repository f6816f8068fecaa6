"""Who wrote the texts beside the planner's that a run's agent reads: rationales, workflows, rewritten instructions and
objectives. Shell."""

from collections import Counter
from collections.abc import Iterable, Mapping

from agents.cookbook.checking import read_by
from agents.llm.embedded import is_embedded
from agents.models import Run
from agents.recipes import literature
from agents.recipes.literature import Recipe
from annotations.models import Split, Step
from annotations.models.corpus.conversations import PEOPLE
from annotations.text.amounts import amount

SMALL = (
    "A small model wrote here in the place of the paper's, to try the machinery with: the numbers say nothing about "
    "the published agent."
)
Written = Mapping[str, Counter[str]]
"""What was written -> who wrote how many of them: the names of models, or people."""


class RunWriters:
    """What a run's agent is shown that nobody recorded, by who wrote it."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def written(self) -> dict[str, Counter[str]]:
        """Of each kind of text that the run's recipe shows, who wrote how many; {} where the recipe cannot be read any
        more."""
        recipe = literature.readable(self.run.recipe)
        if recipe is None:
            return {}
        read = read_by(recipe)
        found = {}
        if "recall.rationales" in read and recipe.recall.rationales != "none":
            found["rationales"] = self._rationales(recipe)
        if "recall.workflows" in read and recipe.recall.workflows != "none":
            found["workflows"] = self._workflows(recipe)
        found["rewritten instructions"] = self._asked("rewrite")
        found["objectives"] = self._asked("objective")
        return {what: by for what, by in found.items() if by}

    def _rationales(self, recipe: Recipe) -> Counter[str]:
        """Of the steps that may be shown with one: of the run's conversations, and where exemplars are shown of the
        train split."""
        conversations = list(self.run.trajectories.values_list("conversation_id", flat=True))
        if recipe.recall.exemplars != "none":
            train = self.run.dataset.conversations.filter(split=Split.TRAIN)
            conversations += train.values_list("pk", flat=True)
        return Step.objects.filter(turn__conversation__in=conversations).writers()

    def _workflows(self, recipe: Recipe) -> Counter[str]:
        online = recipe.recall.induction == "online"
        rows = self.run.workflows.all() if online else self.run.dataset.workflows.standing()
        return Counter(name or PEOPLE for name in rows.values_list("model_name", flat=True))

    def _asked(self, text: str) -> Counter[str]:
        """Who answered a prompt of recall at the run's steps."""
        key = f"trace__recall__written_by__{text}"
        return Counter(self.run.steps.filter(**{f"{key}__isnull": False}).values_list(key, flat=True))


def sentences(label: str, written: Written) -> list[str]:
    """Who wrote what, as sentences, with a word of caution where it was a small model that stands in."""
    said = [f"{amount(by.total(), what.removesuffix('s'))} ({_counts(by)})" for what, by in written.items()]
    if not said:
        return []
    small = any(is_embedded(name) for by in written.values() for name in by)
    return [f"Texts beside the planner's that {label} may show: {'; '.join(said)}.", *([SMALL] if small else [])]


def together(every: Iterable[Written]) -> dict[str, Counter[str]]:
    """What several runs of one recipe were shown; of texts that all of them share the most that one of them had."""
    found: dict[str, Counter[str]] = {}
    for written in every:
        for what, by in written.items():
            found[what] = found.get(what, Counter()) | by if what == "workflows" else found.get(what, Counter()) + by
    return found


def _counts(by: Counter[str]) -> str:
    return ", ".join(f"{count:,} by {name}" for name, count in by.most_common())

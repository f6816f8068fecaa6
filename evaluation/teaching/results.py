"""What training with lessons has changed: runs of a taught model beside the same runs of one without lessons."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from agents.models import Run, TrainedModel
from agents.stages.registry import stage_served
from annotations.access import rules
from annotations.access.rules import Rights
from annotations.models import Split
from annotations.models.accounts.projects import Account
from evaluation.comparing.choosing import query_of, tells_gold
from evaluation.comparing.steps import PairedDifference, RunDifferences
from evaluation.models import Study
from evaluation.studies.running import create_study

RUNS, MOST = 3, 50  # of a taught model, the newest runs that are told of; models that it may be measured against
PLACES = ("plan", "rank")  # stages of a recipe that name a trained model


@dataclass(frozen=True)
class HeldOutResult:
    """Two runs over the same held-out conversations, of one recipe but for its model."""

    without: Run  # of another model, or of none, that was taught nothing; earlier or later
    taught: Run
    without_model: str
    paired: PairedDifference | None  # None where its reader may not know which steps are right

    @property
    def query(self) -> str:
        return query_of([self.without.pk, self.taught.pk])


@dataclass(frozen=True)
class HeldOut:
    """A taught model on conversations that it has not seen."""

    model: TrainedModel

    def results(self, rights: Rights) -> list[HeldOutResult]:
        """Each run of it, beside the newest like it with a model that was taught nothing."""
        name = self.model.name
        rows = Run.objects.filter(dataset=self.model.dataset, state=Run.State.DONE).exclude(split__in=("", Split.TRAIN))
        rows = rules.visible(rights.user, rows.select_related("dataset__project")).order_by("-pk")
        every = {name, *TrainedModel.objects.taught().values_list("name", flat=True)}
        found = []
        for taught in rows.filter(_using([name]))[:RUNS]:
            alike = {field: getattr(taught, field) for field in ("split", "seed", "recipe_name", "data_sha256")}
            others = rows.filter(**alike).exclude(_using(every))[: RUNS * 4]
            settings = _without_models(taught.recipe)
            without = next((run for run in others if _without_models(run.recipe) == settings), None)
            if without is not None:
                found.append(_result(rights, without, taught))
        return found

    def rivals(self) -> list[TrainedModel]:
        """Models that it can be measured against: ready ones of its kind that were taught nothing."""
        if not self.recipe:
            return []
        alike = self.model.project.models.filter(ready=True, kind=self.model.kind)
        return list(alike.exclude(pk__in=TrainedModel.objects.taught())[:MOST])

    @property
    def recipe(self) -> str:
        """In which it is measured: the one whose prompts it learnt, else that of its kind; "" where none is."""
        model = self.model
        asked = (model.job.params.get("recipe") or {}).get("name", "") if model.job else ""
        return asked or ("grounded" if model.kind == TrainedModel.Kind.GROUNDED else "")

    def measure(self, user: Account, against: TrainedModel, split: str) -> Study:
        """Start a study of both. Raises ValueError, PermissionDenied."""
        model, dataset = self.model, self.model.dataset
        if not self.recipe or dataset is None:
            raise ValueError("This model was trained for no recipe: name one in a study.")
        if split == Split.TRAIN or not dataset.conversations.filter(split=split).exists():
            raise ValueError("Choose a split with conversations that the models have not learnt from.")
        place = stage_served(model.kind)
        return create_study(
            user=user,
            dataset=dataset,
            recipes=[self.recipe],
            splits=[split],
            variants=[{f"{place}.model": one.name} for one in (against, model)],
            name=f"{model.name} against {against.name}",
        )


def _using(names: Iterable[str]) -> Q:
    """Runs whose recipe names one of these models."""
    return Q(recipe__plan__model__in=list(names)) | Q(recipe__rank__model__in=list(names))


def _result(rights: Rights, without: Run, taught: Run) -> HeldOutResult:
    runs = [without, taught]
    paired = RunDifferences(runs).paired() if tells_gold(rights, runs) else []
    models = [[run.recipe.get(place, {}).get("model", "") for place in PLACES] for run in runs]
    other = next((said for said, ours in zip(*models, strict=True) if said != ours), "")
    return HeldOutResult(without, taught, other or "no model", next(iter(paired), None))


def _without_models(recipe: dict[str, Any]) -> dict[str, Any]:
    return {**recipe, **{place: {**recipe.get(place, {}), "model": ""} for place in PLACES}}

"""Deletes models that were trained here, with their files, where nothing uses them. Shell."""

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from django.core.exceptions import PermissionDenied
from django.db import transaction

from agents.encoders.weights import is_named_in
from agents.models import Run, SavedRecipe, TrainedModel
from agents.training.trained.stored import CACHE
from annotations.access.rules import User
from annotations.hosts.identity import host_id
from annotations.models import Job, Worker
from annotations.storage import forget_scratch, store

OVER = (Job.State.DONE, Job.State.FAILED, Job.State.CANCELLED)
ADAPTERS = ("lora", "qlora")  # of these the base is still read


class ModelInUse(ValueError):
    """The model cannot be deleted; `uses` has a sentence for each use."""

    def __init__(self, uses: list[str]) -> None:
        super().__init__(" ".join(uses))
        self.uses = uses


class ModelRemoval:
    """Deletes a model for a user, who must have started its training or may train in its project."""

    def __init__(self, model: TrainedModel, user: User) -> None:
        self.model, self.user = model, user

    def is_allowed(self) -> bool:
        mine = self.model.created_by_id is not None and self.model.created_by_id == self.user.pk
        return mine or self.model.project.lets(self.user, "train")

    def uses(self) -> list[str]:
        """What would break without the model, a sentence each. What other projects do with it is counted and not named.

        Runs that are over keep their results and the name of the model. A starter is made anew by *Prepare*, so
        packaged recipes do not hold it.
        """
        return [*self._trainings(), *self._recipes(), *self._runs()]

    def carry_out(self) -> None:
        """Delete the model. Raises PermissionDenied or ModelInUse where it stays."""
        if not self.is_allowed():
            raise PermissionDenied(f"{self.model} is deleted by who trained it, or by an admin of its project.")
        with transaction.atomic():
            TrainedModel.objects.select_for_update(of=("self",)).filter(pk=self.model.pk).first()
            if uses := self.uses():
                raise ModelInUse(uses)
            forget = partial(_forget, self.model.folder, self._stored(), self.model.files.get("sha256", ""))
            self.model.delete()
            transaction.on_commit(forget)  # a row without its files would fail runs; files without a row take only room

    def _trainings(self) -> Iterator[str]:
        """Trainings that need the model: its own where that is not over, those that start from it, and adapters beside
        it."""
        open_jobs = Job.objects.exclude(state__in=OVER)
        if self.model.job_id and open_jobs.filter(pk=self.model.job_id).exists():
            yield f"Its training is not over: cancel job {self.model.job_id} first."
        for job in open_jobs:
            if job.pk != self.model.job_id and is_named_in(job.params, self.model.name):
                here = job.project_id == self.model.project_id
                yield f"Job {job.pk} ({job.get_kind_display()}) reads it." if here else "A job elsewhere reads it."
        rest_on_it = TrainedModel.objects.filter(base=self.model.name, config__adapter__in=ADAPTERS, ready=True)
        for other in rest_on_it.exclude(pk=self.model.pk):
            here = other.project_id == self.model.project_id
            yield f"The adapter {other.name} goes with it." if here else "An adapter of another project goes with it."

    def _recipes(self) -> Iterator[str]:
        for recipe in SavedRecipe.objects.order_by("name"):
            if is_named_in(recipe.changes, self.model.name):
                here = recipe.project_id == self.model.project_id
                yield f"The recipe {recipe.name} names it." if here else "A recipe of another project names it."

    def _runs(self) -> Iterator[str]:
        for run in Run.objects.filter(state__in=Run.OPEN).select_related("dataset").order_by("pk"):
            if is_named_in(run.recipe, self.model.name):
                here = run.dataset.project_id == self.model.project_id
                yield f"Run {run.pk} ({run.recipe_name}) is not over." if here else "A run of another project uses it."

    def _stored(self) -> list[str]:
        """The model's files in the storage of all hosts, without those that another model of the same content has
        too."""
        whole = self.model.files.get("sha256", "")
        same = TrainedModel.objects.filter(files__sha256=whole).exclude(pk=self.model.pk)
        files = [] if not whole or same.exists() else [f"{CACHE}/{whole}/{name}" for name in self.model.files["files"]]
        return [*files, *self.model.checkpoint.values()]


def _forget(folder: Path, stored: list[str], whole: str) -> None:
    """Remove the model's files from the storage and from this host. The own folders of other hosts are left to their
    operators."""
    for name in stored:
        store.delete(name)
    if whole and stored:
        forget_scratch(f"{CACHE}/{whole}")
    shutil.rmtree(folder, ignore_errors=True)
    Worker.objects.lose(host_id(), folder.name)

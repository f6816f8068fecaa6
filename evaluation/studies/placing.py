"""Which shard a worker takes when it is woken up, and on which host a shard is best done. A shard that somebody watches
goes before all others, and after all others while it waits for that person to say something."""

from typing import Any

from agents.encoders import weights
from agents.live import parked
from agents.models import TrainedModel
from agents.models.awaited import awaits_people
from agents.recipes import literature
from agents.stages.registry import installed
from annotations.hosts.identity import owner_of
from annotations.jobs.placement import Needs, better_queue, held_here, host_queue, preferred
from annotations.models import Job
from annotations.models.jobs.worker_leases import is_at_work
from annotations.storage import store
from evaluation.models import Shard
from evaluation.studies import sample

WEIGHTS_OF = 1.5  # times the bytes of the weights: what a model needs while it decides
LOOKED_AT = 200


def names_of(stored: dict[str, Any]) -> frozenset[str]:
    """Names of the weights that a recipe, as a run stores it, loads on the worker's host; none where it cannot be read
    any more, so that the run ends with the reason and keeps no other waiting."""
    recipe = literature.readable(stored)
    if recipe is None:
        return frozenset()
    plan = recipe.plan.model if recipe.plan.backend == "local" else ""
    ranking = installed(recipe, "rank.kind")
    rank = recipe.rank.model if ranking is None or ranking.loads_weights else ""
    encoder = "" if weights.is_remote(recipe.recall.encoder) else recipe.recall.encoder
    return frozenset({rank, plan, encoder} - {"", weights.MINILM})


def queue_for(shard: Shard) -> str | None:
    """The queue of a host that suits the shard better; None to decide it here."""
    names = names_of(shard.run.recipe)
    trained = TrainedModel.objects.filter(name__in=names, ready=True)
    stored = {model.name for model in trained if model.files and store.shared}
    parameters = sum(model.metrics.get("parameters", 0) for model in trained)
    here = {name for name in names if weights.find(name) is not None}
    return better_queue("gpu", Needs(frozenset(names - stored - here), "", int(4 * parameters * WEIGHTS_OF)))


def somebody_waits() -> bool:
    """Whether somebody waits for whom long work makes way: for a proposal, at an episode, for the sample's numbers."""
    if Job.objects.at_desks().hold_up_work() or Shard.objects.just_watched().for_this_process().exists():
        return True
    return sample.urgent_waits()


def keeper_queue(shard_id: int) -> str | None:
    """The queue of the host where another process keeps the browsers of a waiting shard in which people have acted;
    None where this one may go on with it."""
    shard = Shard.objects.filter(pk=shard_id).first()
    if shard is None or Shard.objects.filter(pk=shard_id).for_this_process().exists():
        return None
    owner = owner_of(shard.lease_owner)
    return host_queue("gpu", owner.host) if owner else None


def best_of(shard_id: int) -> int:
    """The shard to decide when a message names `shard_id`: a waiting one that somebody watches; else one of the same
    run whose browsers are parked here, as each shard that is begun meanwhile would open more; else the named one, if
    this host holds its weights; else a waiting one whose weights it holds; last those that wait for people. The message
    of that one wakes up a worker who then finds the named one."""
    waiting = Shard.objects.claimable().exclude(published_at=None).select_related("run").order_by("published_at", "id")
    waiting = waiting.for_this_process()
    if watched := list(waiting.watched()[:LOOKED_AT]):
        return next((one for one in watched if _is_parked(one)), watched[0]).pk
    awaiting = waiting.filter(awaits_people("run")).values_list("pk", "lease_owner")
    resting = {pk for pk, owner in awaiting if not owner or is_at_work(owner)}
    rows = sorted(waiting[:LOOKED_AT], key=lambda shard: (shard.pk in resting, shard.pk != shard_id))
    if not rows:
        return shard_id
    of_run = [shard for shard in rows if shard.run_id == rows[0].run_id and rows[0].pk == shard_id]
    if (begun := next((one for one in of_run if _is_parked(one)), None)) is not None:
        return begun.pk
    wanted = [(shard.pk, names_of(shard.run.recipe)) for shard in rows]
    return preferred(wanted, held_here()) or rows[0].pk


def _is_parked(shard: Shard) -> bool:
    """Whether this process keeps browsers of the shard."""
    return parked.any_of(shard.run_id, shard.conversation_ids)

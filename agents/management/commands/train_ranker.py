"""Train a ranker."""

from agents.management.commands._training import TrainCommand
from agents.stages.registry import MODELS


class Command(TrainCommand):
    """Train a cross encoder (MindAct) or a dual encoder (dense markup ranking) on the train split of a dataset, with
    the published settings unless --set changes them. The result is one folder: weights, tokenizer, config, metrics and
    a model card."""

    help = __doc__
    kinds = MODELS["rank"]

"""Train a planner."""

from argparse import ArgumentParser
from typing import Any

from agents.management.commands._training import TrainCommand
from agents.recipes.declaring import declarations
from agents.stages.registry import MODELS
from agents.training.presets import PRESETS
from agents.training.settings import PlannerSettings


class Command(TrainCommand):
    """Train a planner on the train split of a dataset: a sequence-to-sequence or causal model that writes its answer,
    with the published settings unless --set changes them, or the small planner of the recipe `grounded`. The result is
    one folder: weights, tokenizer, config, metrics and a model card."""

    help = __doc__
    kinds = MODELS["plan"]
    presets = PRESETS

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        paradigm = declarations(PlannerSettings)["paradigm"]
        parser.add_argument(
            "--paradigm", choices=paradigm.choices, help=f"default: {paradigm.default}; not for grounded"
        )

    def changes(self, options: dict[str, Any]) -> dict[str, Any]:
        paradigm = options["paradigm"]
        return super().changes(options) | ({"paradigm": paradigm} if paradigm else {})

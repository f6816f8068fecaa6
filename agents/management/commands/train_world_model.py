"""Train a world model, or a value function."""

from argparse import ArgumentParser
from typing import Any

from agents.management.commands._training import TrainCommand
from agents.training.presets import PRESETS


class Command(TrainCommand):
    """Train a causal model to say what actions change (or with --value, how far on the way a step is), by the
    transitions of the train split of a dataset, in the prompts that recipes ask. Beside the weights as LoRA unless
    --set says otherwise; the base at hand is embedded:smollm2-135m."""

    help = __doc__
    kinds = ("causal",)
    presets = {name: preset for name, preset in PRESETS.items() if name.startswith("wma")}

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(kind="causal", base="embedded:smollm2-135m")
        parser.add_argument("--value", action="store_true", help="a value function, not a world model")

    def changes(self, options: dict[str, Any]) -> dict[str, Any]:
        own = {"paradigm": "value" if options["value"] else "world_model", "adapter": "lora", "max_new_tokens": 200}
        return own | super().changes(options)

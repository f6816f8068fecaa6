"""Train a world model, or a value function."""

from argparse import ArgumentParser
from typing import Any

from agents.management.commands._training import TrainCommand
from agents.recipes.declaring import declarations
from agents.training.presets import PRESETS
from agents.training.settings import PlannerSettings


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
        other = parser.add_mutually_exclusive_group()
        other.add_argument("--page", action="store_true", help="a world model that writes the whole next page")
        other.add_argument("--value", action="store_true", help="a value function, not a world model")

    def changes(self, options: dict[str, Any]) -> dict[str, Any]:
        # Rows of pages one by one: eight of 2,000 tokens at once take 19 GB without a GPU.
        own = {"paradigm": "world_model", "adapter": "lora", "max_new_tokens": 200, "batch_size": 1, "accumulate": 8}
        if options["page"]:  # as long as a page that is shown
            own |= {
                "paradigm": "world_model_page",
                "max_new_tokens": declarations(PlannerSettings)["page_tokens"].default,
            }
        if options["value"]:
            own["paradigm"] = "value"
        return own | super().changes(options)

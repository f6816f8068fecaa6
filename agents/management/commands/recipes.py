"""List the recipes."""

import json
from argparse import ArgumentParser

from django.core.management.base import BaseCommand

from agents.recipes import RECIPES, missing, to_dict


class Command(BaseCommand):
    """Every recipe, what it needs, and whether it can run now."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true")

    def handle(self, **options) -> None:
        if options["json"]:
            rows = [to_dict(r) | {"missing": missing(r), "can_run": not missing(r)} for r in RECIPES.values()]
            self.stdout.write(json.dumps(rows))
            return
        for recipe in RECIPES.values():
            lacking = missing(recipe)
            self.stdout.write(f"{recipe.name:22} {'can run' if not lacking else 'needs ' + '; '.join(lacking)}")
            self.stdout.write(f"{'':22} {recipe.description}{f' [{recipe.paper}]' if recipe.paper else ''}")

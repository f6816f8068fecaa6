"""Options that several commands have: --set, which changes settings by their names, and limits on model calls."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError

from agents.models.spending import BudgetLimits
from agents.recipes.key_values import settings_given

OF_A_RECIPE = "settings of the recipe by dotted name; manage.py recipes NAME lists them with what they take"


def add_changes(parser: ArgumentParser, words: str = OF_A_RECIPE) -> None:
    """Add the option `--set`, whose values `changes_in` reads."""
    parser.add_argument(
        "--set", nargs="+", action="extend", default=[], metavar="key=value", dest="changes", help=words
    )


def changes_in(texts: list[str], option: str = "--set") -> dict[str, str]:
    """Texts "key=value" as a dictionary; CommandError for another form, or a key that comes twice."""
    try:
        return settings_given((option, text) for text in texts)
    except ValueError as error:
        raise CommandError(str(error)) from error


def add_limits(parser: ArgumentParser, words: str = "its model calls") -> None:
    """Add the options `--max-tokens`, `--max-cost` and `--max-seconds`, which `limits_in` reads."""
    for unit, kind in (("tokens", int), ("cost", float), ("seconds", int)):
        parser.add_argument(f"--max-{unit}", type=kind, metavar="N", help=f"hard limit on {words}")


def limits_in(options: Mapping[str, Any]) -> BudgetLimits:
    return BudgetLimits(tokens=options["max_tokens"], cost=options["max_cost"], seconds=options["max_seconds"])

"""List the recipes, or describe one."""

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.cookbook import deviations, saved, sentences
from agents.recipes import published
from agents.recipes.literature import Recipe, to_dict
from agents.training.prepare import preparing
from annotations.models import Project


class Command(BaseCommand):
    """Every recipe, what it needs, and whether it can run now; with NAME its stages, differences, quirks and the
    numbers that papers print for it."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="?")
        parser.add_argument("--json", action="store_true", help="print one line of JSON")

    def handle(self, *, name: str | None, **options: Any) -> None:
        try:
            chosen = [saved.get(name)] if name else saved.listed()
        except ValueError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            lacking = zip(chosen, _missing(chosen), strict=True)
            rows = [to_dict(r) | {"missing": what, "can_run": not what} for r, what in lacking]
            self.stdout.write(json.dumps(rows[0] if name else rows))
        elif name:
            self._describe(chosen[0])
        else:
            self._list(chosen)

    def _list(self, found: list[Recipe]) -> None:
        for family, recipes in saved.families(found).items():
            self.stdout.write(f"\n{family}")
            for recipe, lacking in zip(recipes, _missing(recipes), strict=True):
                self.stdout.write(f"  {recipe.name:24}{'needs ' + '; '.join(lacking) if lacking else 'can run'}")
                self.stdout.write(f"  {'':24}{recipe.description}")

    def _describe(self, recipe: Recipe) -> None:
        write, parent, lacking = self.stdout.write, saved.parent_of(recipe), _missing([recipe])[0]
        write(f"{recipe.name} · {saved.family(recipe)} · preset {recipe.preset}")
        write(recipe.description)
        write(f"needs {'; '.join(lacking)}" if lacking else "can run")
        for stage in sentences.stages(recipe, parent):
            write(f"\n{stage.name:10}{stage.sentence}")
            for setting in stage.settings:
                before = "" if setting.before is None else f"   (in {recipe.parent}: {setting.before})"
                takes = f"   [{setting.allowed}]" if setting.allowed else ""
                write(f"{'':10}{setting.name} = {setting.value}{before}   {setting.words}{takes}")
        write("\nquirks     (preset faithful sets all, corrected none)")
        for quirk in sentences.quirks(recipe, parent):
            before = "" if quirk.before is None else f"   (in {recipe.parent}: {'on' if quirk.before else 'off'})"
            write(f"{'':10}{'on ' if quirk.on else 'off'} {quirk.name}: {quirk.what}{before}")
        if differs := deviations.of_recipe(recipe):
            write("\nwhere it still differs from the papers")
            for deviation in differs:
                write(f"{'':10}{deviation.key}: {deviation.words}")
        cells = published.of_recipe(recipe.name)
        write("\nin the papers, percent" if cells else "\nno printed numbers are known")
        for cell in cells:
            write(f"{'':10}{100 * cell.value:6.2f}  {cell.metric}, {cell.split} ({cell.label})")


def _missing(recipes: Sequence[Recipe]) -> list[list[str]]:
    return [lacking for lacking, _ in preparing.told_of(recipes, Project.objects.all())]

"""Goals of hidden conversations out of the splits that earlier versions put them in."""

from argparse import ArgumentParser
from collections.abc import Iterable

from django.core.management.base import BaseCommand

from agents.environments.task_sets import TALKING
from agents.live.goals import FORMAT
from annotations.models import Conversation, Dataset
from annotations.sample.goals import conversations

AT_ONCE = 500


class Command(BaseCommand):
    """Give each goal that repeats a conversation of the sample the split of that conversation: what agents do towards
    the goal of a hidden one tells its gold. Nothing is deleted; runs and their scores stay as they are."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only say how many there are")

    def handle(self, *, dry_run: bool, **options) -> None:
        splits = {task: goals.split for task, goals in conversations().items() if goals.split}
        datasets = Dataset.objects.filter(source_format=FORMAT, live__environment__in=sorted(TALKING))
        if not datasets:
            self.stdout.write("There are no goals on the sample's websites.")
        for dataset in datasets.order_by("name"):
            wrong = self._moved(dataset.conversations.all(), splits)
            if not dry_run:
                Conversation.objects.bulk_update(wrong, ["split"], batch_size=AT_ONCE)
            done = "would get" if dry_run else "got"
            self.stdout.write(f"{dataset.name}: {len(wrong)} goals {done} the split of their conversation")

    def _moved(self, goals: Iterable[Conversation], splits: dict[str, str]) -> list[Conversation]:
        """Those that belong to another split, with it."""
        moved = []
        for goal in goals:
            belongs = splits.get(goal.extra.get("task", ""), goal.split)
            if belongs != goal.split:
                goal.split = belongs
                moved.append(goal)
        return moved

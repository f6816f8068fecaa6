"""One of the other processes of a training on several devices."""

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError

from agents.models import TrainedModel
from annotations.models import Job


class Command(BaseCommand):
    """Take part in a training on several devices. Started by the training itself, never by people; it writes nothing
    and ends with the process that started it."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("model", type=int)

    def handle(self, *, model: int, **options) -> None:
        from agents.training.work import Work

        found = TrainedModel.objects.select_related("dataset", "project", "job").get(pk=model)
        assert isinstance(found.job, Job)
        try:
            Work(found, found.job.params, lambda: False, lambda *told, **more: None).take_part()
        except ValueError as error:
            raise CommandError(str(error)) from error

"""Where texts of recorded conversations stand in what judges, scanners and the guard have said of them, for who takes a
private one out."""

from collections.abc import Iterator

from django.db.models import QuerySet

from annotations.models import Conversation
from evaluation.models import JudgeVerdict, RiskForecast, ScannerAnswer


def said_of(conversation: Conversation, text: str) -> Iterator[tuple[QuerySet, tuple[str, ...]]]:
    """Rows about a conversation, and the columns of them that may hold its text."""
    yield JudgeVerdict.objects.filter(trajectory__conversation=conversation), ("said", "error", "answers")
    yield ScannerAnswer.objects.filter(step__trajectory__conversation=conversation), ("said", "error")
    yield RiskForecast.objects.filter(step__turn__conversation=conversation), ("name", "by_page", "foreseen")

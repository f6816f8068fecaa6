"""What was redacted, as those are shown it who may not export the releases that still hold it: its kind in words."""

from collections.abc import Iterator
from functools import partial

from annotations.models import Dataset
from annotations.releases.checking import kind_words
from annotations.releases.diffing import Json
from annotations.releases.privacy import fingerprint, map_strings, scan, take_out

UNREAD = frozenset({"files", "positives", "negatives"})  # of which no difference shows a text


class TakenOut:
    """Hides the texts that were taken out of a dataset. They are not kept: a text of an older release is known again by
    its fingerprint."""

    def __init__(self, dataset: Dataset) -> None:
        self.fingerprints = set(dataset.redactions.values_list("found_sha256", flat=True))

    def hidden(self, content: Json) -> Json:
        """A released conversation without these texts, wherever they stand in it."""
        if not self.fingerprints:
            return content
        texts = {(kind, text) for one in _strings(content) for kind, text in _private(one)}
        for kind, text in sorted(texts, key=lambda found: -len(found[1])):
            if fingerprint(kind, text) in self.fingerprints:
                content = map_strings(content, partial(_without, kind=kind, private=text))
        return content


def _strings(value: object) -> Iterator[str]:
    """The texts of a conversation that a difference may show."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in UNREAD:
                yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _private(text: str) -> Iterator[tuple[str, str]]:
    """What looks private in a text, whether a person typed it or not."""
    for typed in (True, False):
        for kind, start, end in scan(text, typed):
            yield kind, text[start:end]


def _without(text: str, kind: str, private: str) -> str:
    """The text with the private one replaced by what it was: "(phone number taken out)"."""
    return take_out(text, private, f"({kind_words(kind, 1)} taken out)")[0]

"""Whatever is wrong with a file, its import ends with a report, and what is sound in it is stored."""

import random

import pytest

from annotations.corpus.importing import import_files
from annotations.models import Conversation
from tests import factories
from tests.fuzz.formats import FORMATS

pytestmark = pytest.mark.django_db
IMPORTED = {
    "mind2web": "mind2web",
    "mt-mind2web": "mt-mind2web",
    "miniwob": "miniwob-demos",
    "jsonl": "jsonl",
    "weblinx demonstration": "weblinx",
    "weblinx chat rows": "weblinx",
    "weblinx chat table": "weblinx",
}
FEW, MANY = 3, 60


def import_all(name: str, numbers: range, folder) -> None:
    wrong = []
    for number in numbers:
        place = folder / str(number)
        place.mkdir()
        FORMATS[name].write(place, random.Random(f"{name} {number}"))
        dataset = factories.make_dataset(name=f"fuzz-{number}", source_format=IMPORTED[name])
        try:
            report = import_files(IMPORTED[name], place, dataset)
            assert Conversation.objects.filter(dataset=dataset).count() == report.conversations
        except Exception as error:
            wrong.append(f"file {number}: {type(error).__name__}: {str(error)[:200]}")
    assert wrong == []


@pytest.mark.parametrize("name", IMPORTED)
def test_a_few_broken_files_are_imported(name, tmp_path) -> None:
    import_all(name, range(FEW), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", IMPORTED)
def test_many_broken_files_are_imported(name, tmp_path) -> None:
    import_all(name, range(FEW, MANY), tmp_path)

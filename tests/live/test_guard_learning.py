"""The learned part of the guard, trained anew from what is packaged: anybody can make its numbers again."""

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from agents.guard import learned
from annotations.corpus.importing import import_files
from tests import factories
from tests.annotations.built_sample import built_sample


@pytest.mark.browser
@pytest.mark.slow
def test_the_packaged_numbers_are_made_of_the_packaged_labels(
    db: None, has_chromium: None, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch
) -> None:
    dataset = factories.make_dataset()
    import_files("mt-mind2web", built_sample(tmp_path_factory), dataset)
    packaged, made = learned.read(learned.PACKAGED), tmp_path / "learned.json"
    monkeypatch.setattr(learned, "PACKAGED", made)
    out = io.StringIO()
    call_command("guard_controls", "--train", dataset.name, stdout=out)
    again = learned.read(made)
    assert again.learned_of == packaged.learned_of
    assert again.weights.keys() == packaged.weights.keys()
    most = max(
        abs(a - b) for piece, row in again.weights.items() for a, b in zip(row, packaged.weights[piece], strict=True)
    )
    assert most <= 0.05, "rounding of another processor at most"
    assert made.stat().st_size < 240_000
    lines = {tuple(line[:21].split()): line for line in out.getvalue().splitlines()}
    assert {part for part, *_ in lines if part in again.learned_of} == again.learned_of.keys()


def test_without_labelled_steps_nothing_is_trained(db: None) -> None:
    with pytest.raises(CommandError, match="is no dataset with labelled steps"):
        call_command("guard_controls", "--train", factories.make_dataset().name)

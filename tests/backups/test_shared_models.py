"""Models that hosts share in a storage are in the backup, and are found again on a machine that shares nothing."""

import hashlib
from pathlib import Path

import pytest
from django.core.files.base import ContentFile

from agents.models import TrainedModel
from annotations.storage import store
from tests import factories
from tests.annotations.test_storage import files, objects  # noqa: F401  fixtures
from webnav_site import sharing
from webnav_site.backups.making import backup
from webnav_site.backups.restoring import _find_models, _place_files, look_through

CONFIG = b'{"model_type": "bert"}'


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("files", ["mounted", pytest.param("objects", marks=pytest.mark.slow)], indirect=True)
def test_a_model_that_another_host_trained_is_taken_along(files, settings, tmp_path: Path) -> None:  # noqa: F811
    settings.MODEL_ROOT = tmp_path / "models"
    settings.VAR_DIR.mkdir(exist_ok=True)
    sums = {"config.json": hashlib.sha256(CONFIG).hexdigest()}
    far = TrainedModel.objects.create(
        name="far",
        kind="cross_encoder",
        base="b",
        project=factories.make_project(),
        ready=True,
        files={"sha256": "0" * 64, "files": sums},
        checkpoint={"work/checkpoint.pt": "checkpoints/1/gone"},
    )
    store.save(f"models/{'0' * 64}/config.json", ContentFile(CONFIG))
    written = backup(tmp_path / "a.tar")
    assert f"stored-models/{'0' * 64}/config.json" in written.manifest.members
    looked = look_through(tmp_path / "a.tar", None, tmp_path / "out")
    alone = sharing.file_storage(lambda name, default="": default)
    settings.STORAGES, settings.MEDIA_ROOT = settings.STORAGES | {"default": alone}, tmp_path / "alone"
    _place_files(looked.folder)
    _find_models()
    far.refresh_from_db()
    assert (far.folder / "config.json").read_bytes() == CONFIG
    assert far.checkpoint == {}, "a training goes on from nothing rather than from a file that is gone"

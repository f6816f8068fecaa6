"""Where files lie: a folder and a real object store behave alike, and an import and an export work with both."""

import os
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.files.base import ContentFile

from annotations.storage import Store, scratch, store
from tests import object_store
from webnav_site import sharing

MIB = 1024**2


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object_store.ObjectStore]:
    with object_store.running(tmp_path_factory.mktemp("swift")) as running:
        yield running


@pytest.fixture(params=["folder", "mounted", pytest.param("objects", marks=pytest.mark.slow)])
def files(request: pytest.FixtureRequest, settings, tmp_path: Path) -> Store:
    """The default storage, configured as by the environment."""
    settings.VAR_DIR, settings.MEDIA_ROOT = tmp_path / "var", tmp_path / "files"
    values = {"STORAGE_PREFIX": tmp_path.name}
    if request.param == "objects":
        values |= request.getfixturevalue("objects").environment
    elif request.param == "mounted":
        values["STORAGE_FOLDER"] = str(tmp_path / "mounted")
    settings.STORAGES = settings.STORAGES | {
        "default": sharing.file_storage(lambda name, default="": values.get(name, default))
    }
    return store


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Larger than a part of an upload, and not of round size."""
    path = tmp_path / "large"
    path.write_bytes(os.urandom(40 * MIB + 17))
    return path


def whole(name: str, first: int = 0, length: int | None = None) -> bytes:
    return b"".join(store.read(name, first, length))


def test_what_is_kept_is_found(files: Store, tmp_path: Path) -> None:
    path = tmp_path / "result"
    path.write_bytes(b"0123456789")
    files.keep("exports/1.zip", path)
    path.unlink()
    assert files.exists("exports/1.zip")
    assert (whole("exports/1.zip"), whole("exports/1.zip", 3), whole("exports/1.zip", 3, 2)) == (
        b"0123456789",
        b"3456789",
        b"34",
    )
    assert files.local("exports/1.zip").read_bytes() == b"0123456789"
    assert [name for name, _ in files.names("exports")] == ["exports/1.zip"]
    facts = files.facts("exports/1.zip")
    assert (facts.size, facts.etag[0], facts.etag[-1]) == (10, '"', '"')


def test_what_is_gone_is_told(files: Store) -> None:
    files.save("uploads/a", ContentFile(b"x"))
    files.delete("uploads/a")
    assert (files.exists("uploads/a"), files.facts("uploads/a"), list(files.names("uploads"))) == (False, None, [])
    with pytest.raises(FileNotFoundError):
        files.local("uploads/a")
    with pytest.raises(FileNotFoundError):
        whole("uploads/a")


def test_other_content_under_the_same_name_has_another_etag(files: Store, tmp_path: Path) -> None:
    path, etags = tmp_path / "result", []
    for content in (b"one", b"four"):
        path.unlink(missing_ok=True)
        path.write_bytes(content)
        files.keep("exports/1.zip", path)
        etags.append(files.facts("exports/1.zip").etag)
    assert etags[0] != etags[1]
    assert whole("exports/1.zip") == b"four"


@pytest.mark.parametrize("files", ["folder"], indirect=True)
def test_a_folder_keeps_its_files_to_itself(files: Store, settings) -> None:
    files.save("uploads/a", ContentFile(b"x"))
    paths = [settings.MEDIA_ROOT, settings.MEDIA_ROOT / "uploads", settings.MEDIA_ROOT / "uploads" / "a"]
    assert [oct(path.stat().st_mode & 0o777) for path in paths] == ["0o700", "0o700", "0o600"]


@pytest.mark.slow
def test_large_files_go_and_come_in_pieces(files: Store, large: Path) -> None:
    tracemalloc.start()
    files.keep("models/large", large)
    with large.open("rb") as file:
        assert all(file.read(len(piece)) == piece for piece in files.read("models/large"))
    scratch_copy = files.local("models/large")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert scratch_copy.stat().st_size == 40 * MIB + 17
    assert peak < 40 * MIB


@pytest.mark.slow
@pytest.mark.parametrize("files", ["objects"], indirect=True)
def test_an_upload_in_parts_that_was_not_ended_is_not_there(files: Store, settings) -> None:
    client, where = files.connection.meta.client, {"Bucket": files.bucket_name, "Key": files._key("models/large")}
    begun = client.create_multipart_upload(**where)["UploadId"]
    client.upload_part(**where, UploadId=begun, PartNumber=1, Body=bytes(6 * MIB))
    assert (files.exists("models/large"), list(files.names("models"))) == (False, [])


def test_processes_that_keep_the_same_name_at_once_leave_one_whole_file(files: Store, tmp_path: Path) -> None:
    contents = [bytes([65 + number]) * MIB for number in range(4)]

    def keep(content: bytes) -> None:
        path = tmp_path / content[:1].decode()
        path.write_bytes(content)
        files.keep("exports/1.zip", path)

    threads = [threading.Thread(target=keep, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert whole("exports/1.zip") in contents


@pytest.mark.parametrize("name", ["/", "//", "", ".", "..", "../x", "a/../..", "a/../../scratch-of-others", "/tmp/x"])
def test_no_name_leads_out_of_the_scratch_folder(name: str, settings, tmp_path: Path) -> None:
    """Whole folders are removed by it: "/" was the root of the machine."""
    settings.VAR_DIR = tmp_path / "var"
    with pytest.raises(ValueError, match="no name"):
        scratch(name)
    assert scratch("models/a") == tmp_path / "var" / "scratch" / "models" / "a"

"""Backups are whole, private and taken of one moment; archives that are not ours, newer or damaged change nothing."""

import io
import json
import stat
import subprocess
import tarfile
import tracemalloc
from dataclasses import asdict
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command

from annotations.storage import store
from tests import factories
from webnav_site.backups import archive
from webnav_site.backups.archive import ArchiveDamaged, ArchiveWriter, Manifest, Version
from webnav_site.backups.making import backup
from webnav_site.backups.restoring import TooNew, look_through
from webnav_site.backups.sealing import SealError, opened, sealed
from webnav_site.embedded import postgres_tools

VERSION = Version("2026-01-01T00:00:00+00:00", "", "18.0", [["annotations", "0001_initial"]], "0" * 16)
MIB = 1024**2


@pytest.fixture(autouse=True)
def _own_folders(settings, tmp_path: Path) -> None:
    settings.VAR_DIR, settings.MEDIA_ROOT = tmp_path / "var", tmp_path / "files"
    settings.MODEL_ROOT = tmp_path / "models"
    for folder in (settings.VAR_DIR / "secrets", settings.MODEL_ROOT / "first"):
        folder.mkdir(parents=True)


def members(path: Path) -> dict[str, bytes]:
    with opened(path) as stream:
        return {name: content.read() for name, content in archive.read(stream)}


def write(path: Path, *entries: tuple[str, bytes], version: Version = VERSION) -> Path:
    """A small archive; its database is no dump, so it can only be looked through."""
    with sealed(path) as stream:
        writer = ArchiveWriter(stream, version)
        for name, data in (("database/000000", b"dump"), *entries):
            writer.add(name, io.BytesIO(data), len(data))
        writer.close({})
    return path


def raw(path: Path, *infos: tuple[tarfile.TarInfo, bytes]) -> Path:
    """A tar as somebody else would make it, after a good beginning."""
    data = json.dumps(asdict(VERSION)).encode()
    with tarfile.open(path, "w") as tar:
        for info, content in ((_info("version.json", len(data)), data), *infos):
            tar.addfile(info, io.BytesIO(content))
    return path


def _info(name: str, size: int = 0, **fields) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size = size
    for field, value in fields.items():
        setattr(info, field, value)
    return info


@pytest.fixture(autouse=True)
def _first_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python before 3.11.4 (Debian 12 has 3.11.2) knows no filters of archives."""
    monkeypatch.delattr(tarfile, "data_filter", raising=False)


def test_a_good_archive_is_unpacked_for_its_owner_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tar", ("uploads/" + "a" * 32, b"1"), ("models/first/config.json", b"{}"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    looked = look_through(path, None, tmp_path / "out")
    files = [file for file in looked.folder.rglob("*") if file.is_file()]
    assert {file.relative_to(looked.folder).as_posix() for file in files} == {
        "uploads/" + "a" * 32,
        "models/first/config.json",
    }
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


HOSTILE = {
    "climbs": _info("models/../../evil"),
    "absolute": _info("/etc/cron.d/evil"),
    "elsewhere": _info("static/evil.js"),
    "hidden climb": _info("uploads/x/../../../evil"),
    "backslash": _info("models/..\\evil"),
    "symbolic link": _info("models/first", type=tarfile.SYMTYPE, linkname="/etc"),
    "hard link": _info("uploads/x", type=tarfile.LNKTYPE, linkname="/etc/passwd"),
    "device": _info("uploads/x", type=tarfile.CHRTYPE, devmajor=1, devminor=5),
    "fifo": _info("uploads/x", type=tarfile.FIFOTYPE),
    "folder": _info("models/first", type=tarfile.DIRTYPE),
    "twice": _info("version.json"),
    "control characters": _info("uploads/a\nb"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_members_that_a_backup_does_not_write_are_refused(what: str, tmp_path: Path) -> None:
    path = raw(tmp_path / "evil.tar", (HOSTILE[what], b""))
    with pytest.raises(ArchiveDamaged):
        look_through(path, None, tmp_path / "out")
    assert not (tmp_path / "evil").exists()


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    for content in (b"", b"PGDMP not a tar", b"x" * 20_000):
        path.write_bytes(content)
        with pytest.raises(ArchiveDamaged):
            look_through(path, None, tmp_path / "out")
    with tarfile.open(path, "w") as tar:
        tar.addfile(_info("readme.txt"))
    with pytest.raises(ArchiveDamaged, match="does not belong"):
        look_through(path, None, tmp_path / "out")


def test_a_changed_byte_and_a_missing_end_are_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tar", ("secrets/django", b"right" * 100))
    data = path.read_bytes()
    path.write_bytes(data.replace(b"rightright", b"wrongright", 1))
    with pytest.raises(ArchiveDamaged, match="secrets/django"):
        look_through(path, None, tmp_path / "one")
    path.write_bytes(data[: data.index(b"manifest.json")])
    with pytest.raises(ArchiveDamaged, match=r"incomplete|cannot be read"):
        look_through(path, None, tmp_path / "two")


def test_a_backup_of_a_newer_version_is_refused_before_anything_else(tmp_path: Path) -> None:
    newer = Version("2030-01-01T00:00:00+00:00", "", "18.0", [["annotations", "9999_from_the_future"]], "0" * 16)
    path = write(tmp_path / "a.tar", version=newer)
    with pytest.raises(TooNew, match=r"newer version of WebNav.*9999_from_the_future.*update the code first"):
        look_through(path, None, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_encrypted_archive_opens_with_its_key_alone(tmp_path: Path) -> None:
    from pyrage import x25519

    right, wrong = x25519.Identity.generate(), x25519.Identity.generate()
    path, key, other = tmp_path / "a.tar.age", tmp_path / "key", tmp_path / "other"
    key.write_text(f"# made for this test\n{right}\n")
    other.write_text(str(wrong))
    with sealed(path, str(right.to_public())) as stream:
        writer = ArchiveWriter(stream, VERSION)
        writer.add("database/000000", io.BytesIO(b"d" * MIB), MIB)
        writer.add("secrets/django", io.BytesIO(b"plain words"), 11)
        writer.close({})
    assert b"plain words" not in path.read_bytes()
    looked = look_through(path, key, tmp_path / "out")
    assert (looked.folder / "secrets" / "django").read_text() == "plain words"
    with pytest.raises(SealError, match="--identity"):
        look_through(path, None, tmp_path / "no")
    with pytest.raises(SealError, match="cannot be decrypted"):
        look_through(path, other, tmp_path / "no")
    path.write_bytes(path.read_bytes()[:-100_000])
    with pytest.raises((SealError, ArchiveDamaged)):
        look_through(path, key, tmp_path / "cut")


def test_a_recipient_that_is_none_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(SealError, match="age1"), sealed(tmp_path / "a", "nobody"):
        pass


@pytest.mark.django_db(transaction=True)
def test_it_takes_what_cannot_be_made_again_and_nothing_else(settings, tmp_path: Path) -> None:
    store.save("uploads/" + "a" * 32, ContentFile(b"upload"))
    store.save("exports/1.zip", ContentFile(b"export"))
    (settings.MODEL_ROOT / "first" / "model.safetensors").write_bytes(b"weights")
    (settings.MODEL_ROOT / "link").symlink_to("/etc")
    for name in ("django", "redis"):
        (settings.VAR_DIR / "secrets" / name).write_text(f"secret of {name}")
    path = tmp_path / "backup" / "a.tar"
    backup(path)
    found = members(path)
    assert {name for name in found if not name.startswith("database/")} == {
        "version.json",
        "uploads/" + "a" * 32,
        "models/first/model.safetensors",
        "secrets/django",
        "manifest.json",
    }
    assert found["database/000000"].startswith(b"PGDMP")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path], "nothing is left beside it"


@pytest.mark.django_db(transaction=True)
def test_it_is_of_one_moment_while_the_app_goes_on(tmp_path: Path, monkeypatch, in_thread) -> None:
    """Meanwhile an upload is deleted and somebody joins: the upload is in it, the person is not, in rows and counts."""
    store.save("uploads/" + "b" * 32, ContentFile(b"upload"))
    factories.make_user(username="before")
    add_dump = ArchiveWriter.add_dump

    def meanwhile(writer: ArchiveWriter, stream) -> None:
        store.delete("uploads/" + "b" * 32)
        in_thread(lambda: factories.make_user(username="during"))
        add_dump(writer, stream)

    monkeypatch.setattr(ArchiveWriter, "add_dump", meanwhile)
    path = tmp_path / "a.tar"
    backup(path)
    found = members(path)
    assert found["uploads/" + "b" * 32] == b"upload"
    assert get_user_model().objects.count() == 2
    assert Manifest(**json.loads(found["manifest.json"])).rows["auth_user"] == 1
    dump = b"".join(data for name, data in sorted(found.items()) if name.startswith("database/"))
    command = [postgres_tools._path("pg_restore"), "--data-only", "--table=auth_user", "--file=-"]
    told = subprocess.run(command, input=dump, capture_output=True, check=True).stdout.decode()
    assert "before" in told
    assert "during" not in told


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_memory_does_not_grow_with_the_files(settings, tmp_path: Path) -> None:
    with (settings.MODEL_ROOT / "first" / "model.safetensors").open("wb") as file:
        file.truncate(64 * MIB)
    tracemalloc.start()
    try:
        backup(tmp_path / "a.tar")
        look_through(tmp_path / "a.tar", None, tmp_path / "out")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 24 * MIB


@pytest.mark.django_db(transaction=True)
def test_a_backup_of_nothing_is_refused(tmp_path: Path) -> None:
    """As without the variables that name the app's database."""
    with pytest.raises(CommandError, match=r"holds no accounts, so nothing was written.*DATABASE_URL"):
        call_command("backup", out=tmp_path / "a.tar")
    assert not (tmp_path / "a.tar").exists()


@pytest.mark.django_db(transaction=True)
def test_a_failed_backup_leaves_nothing(tmp_path: Path, monkeypatch) -> None:
    factories.make_user("reader", factories.make_project())
    monkeypatch.setattr(postgres_tools, "_path", lambda name: "/bin/false")
    with pytest.raises(CommandError, match="no backup was made: pg_dump failed"):
        call_command("backup", out=tmp_path / "b" / "a.tar")
    assert list((tmp_path / "b").iterdir()) == []


@pytest.mark.django_db
def test_over_existing_data_the_name_must_be_typed(tmp_path: Path, monkeypatch) -> None:
    factories.make_user()
    path = write(tmp_path / "a.tar")
    monkeypatch.setattr("builtins.input", lambda question: "yes")
    with pytest.raises(CommandError, match="not confirmed; nothing was changed"):
        call_command("restore", path)
    monkeypatch.undo()
    monkeypatch.setattr("sys.stdin", StringIO())  # of a script: nobody answers
    with pytest.raises(CommandError, match=r"nobody can be asked here: --confirm .* replaces everything"):
        call_command("restore", path)
    with pytest.raises(CommandError, match="there is no backup"):
        call_command("restore", tmp_path / "nothing.tar")
    with pytest.raises(CommandError, match="which backup"):  # as `make restore` asks without FILE
        call_command("restore", "")


@pytest.mark.django_db(transaction=True)
def test_a_backup_of_another_database_is_refused_in_a_line(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(get_user_model()._meta, "db_table", "no_such_table")
    with pytest.raises(CommandError, match='nothing was written: relation "no_such_table" does not exist'):
        call_command("backup", out=tmp_path / "a.tar")

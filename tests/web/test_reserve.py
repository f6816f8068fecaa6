"""Room is kept back for a disk that becomes full, and PostgreSQL takes new connections by it."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from tests.annotations.test_full_disk import mounted
from webnav_site.embedded import own_postgres
from webnav_site.supervision import reserve

MIB = 1024**2


@pytest.fixture
def disk() -> Iterator[Path]:
    """A data folder on a disk of its own, which PostgreSQL's user can enter."""
    place = Path("/var/tmp") / f"webnav-test-{uuid4().hex[:8]}"
    for folder in mounted(place, "size=400m,mode=755"):
        yield folder
        own_postgres.stop(folder)
    place.rmdir()


def fill(folder: Path) -> None:
    with suppress(OSError), (folder / "filler").open("ab", buffering=0) as file:
        while True:
            file.write(bytes(MIB))


def free(folder: Path) -> int:
    return shutil.disk_usage(folder).free


@pytest.mark.slow
def test_room_is_kept_back_given_up_when_the_disk_is_full_and_kept_again(disk: Path) -> None:
    before = free(disk)
    reserve.look_after(disk)
    file = disk / "reserve"
    assert before - free(disk) == file.stat().st_size == reserve.RESERVE_BYTES, "it is room, no promise of it"
    assert [path.name for path in disk.iterdir()] == ["reserve"]
    reserve.look_after(disk)
    assert before - free(disk) == reserve.RESERVE_BYTES

    fill(disk)
    reserve.look_after(disk)
    assert not file.exists()
    assert free(disk) == reserve.RESERVE_BYTES
    reserve.look_after(disk)
    assert not file.exists(), "what has just been given up is not taken back"

    (disk / "filler").unlink()
    reserve.look_after(disk)
    assert file.stat().st_size == reserve.RESERVE_BYTES


@pytest.mark.slow
def test_nothing_is_kept_back_on_a_disk_with_little_room_or_none_at_all(disk: Path, tmp_path: Path) -> None:
    (disk / "filler").write_bytes(bytes(free(disk) - reserve.ROOM_BYTES + MIB))
    reserve.look_after(disk)
    assert not (disk / "reserve").exists()
    reserve.look_after(tmp_path / "not mounted")


@pytest.mark.slow
def test_a_full_disk_refuses_new_connections_until_the_reserve_is_given_up(disk: Path) -> None:
    """PostgreSQL removes its caches when it tidies its catalogues; a connection that comes next writes them anew."""
    reserve.look_after(disk)
    address = own_postgres.url(disk)
    caches = list((disk / "postgres").rglob("pg_internal.init"))
    assert caches
    for cache in caches:
        cache.unlink()
    fill(disk)
    with pytest.raises(psycopg.OperationalError, match="could not write init file: No space left on device"):
        psycopg.connect(address)
    reserve.look_after(disk)
    with psycopg.connect(address) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)

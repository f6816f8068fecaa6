"""Variables are checked with their names, and each can be read from a file."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from annotations.environment import env, env_number, env_seconds, told_in_a_line
from webnav_site.embedded import services
from webnav_site.monitor.logs import log_level

ADDRESS = "postgresql://me:word@database.example/webnav"


def test_the_addresses_of_database_and_broker_are_read_from_files(tmp_path: Path, monkeypatch) -> None:
    """As every other variable: a server of one's own is never replaced by an embedded one without a word."""
    for name, address in (("DATABASE_URL", ADDRESS), ("REDIS_URL", "redis://broker.example/0")):
        (tmp_path / name).write_text(f"{address}\n")
        monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(f"{name}_FILE", str(tmp_path / name))
    assert services.addresses() == (ADDRESS, "redis://broker.example/0")
    assert services.own_servers() == []
    assert services.ensure() == services.addresses()


def test_a_file_that_cannot_be_read_is_told_with_its_variable(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("DATABASE_URL_FILE", str(tmp_path / "none"))
    with pytest.raises(ValueError, match=r"DATABASE_URL_FILE cannot be read: .*No such file"):
        env("DATABASE_URL")


@pytest.mark.parametrize("value", ["", "abc", "-1", "1.5", "0", "9" * 30 + "x"])
def test_a_number_names_its_variable(value: str, monkeypatch) -> None:
    monkeypatch.setenv("TOKEN_LONGEST_DAYS", value)
    with pytest.raises(ValueError, match=f"TOKEN_LONGEST_DAYS must be a whole number of at least 1, got '{value}'"):
        env_number("TOKEN_LONGEST_DAYS", 365, least=1)


@pytest.mark.parametrize("value", ["abc", "-1", "0", "inf", "nan"])
def test_seconds_name_their_variable(value: str, monkeypatch) -> None:
    monkeypatch.setenv("PAGE_SECONDS", value)
    with pytest.raises(ValueError, match=f"PAGE_SECONDS must be a number of seconds above 0, got '{value}'"):
        env_seconds("PAGE_SECONDS", 10)


def test_a_level_of_the_log_that_is_none() -> None:
    assert log_level("WARNING") == "WARNING"
    with pytest.raises(ValueError, match=r"LOG_LEVEL must be DEBUG, .*got 'LOUD'"):
        log_level("LOUD")


def test_what_does_not_fit_ends_the_process_with_a_line(capsys) -> None:
    with pytest.raises(SystemExit) as ended, told_in_a_line(exit_code=3):
        raise ValueError("PORT is none")
    assert (ended.value.code, capsys.readouterr().err) == (3, "webnav: PORT is none\n")


@pytest.mark.slow
def test_keys_of_models_are_read_from_files(tmp_path: Path) -> None:
    """Where agents look for them."""
    (tmp_path / "key").write_text("a key of a model\n")
    environment = {key: value for key, value in os.environ.items() if key != "LLM_API_KEY"}
    read = "import os, webnav_site.settings; print(os.environ['LLM_API_KEY'])"
    environment["LLM_API_KEY_FILE"] = str(tmp_path / "key")
    assert subprocess.check_output([sys.executable, "-c", read], env=environment, text=True) == "a key of a model\n"

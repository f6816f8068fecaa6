"""Log lines: JSON with the ids of what they are about, and no secrets."""

import io
import json
import logging

import pytest
import structlog

from webnav_site.monitor.logs import log_format, logging_settings
from webnav_site.monitor.redaction import GONE, Redactor

KNOWN = "a-secret-that-we-know"


@pytest.fixture
def told():
    """`told("json")` is a logger and a function that gives the lines it has written."""

    def start(form: str):
        formatter = dict(logging_settings(form, "INFO", [KNOWN])["formatters"]["told"])
        output = io.StringIO()
        handler = logging.StreamHandler(output)
        handler.setFormatter(formatter.pop("()")(**formatter))
        logger = logging.Logger("webnav.test")
        logger.addHandler(handler)
        return logger, lambda: output.getvalue().splitlines()

    yield start
    logging_settings("lines", "INFO", [])


@pytest.mark.parametrize(("name", "level", "has_trace"), [("DisallowedHost", "warning", False), ("x", "error", True)])
def test_requests_for_foreign_hosts_fill_no_log(told, name: str, level: str, has_trace: bool) -> None:
    logger, lines = told("json")
    logger.name = f"django.security.{name}"
    try:
        raise ValueError("Invalid HTTP_HOST header: 'evil.example'")
    except ValueError as error:
        logger.error(str(error), exc_info=error)
    (line,) = map(json.loads, lines())
    assert (line["level"], "exception" in line) == (level, has_trace)
    assert "evil.example" in line["event"]


def test_a_line_is_one_json_object_with_the_bound_ids(told) -> None:
    logger, lines = told("json")
    with structlog.contextvars.bound_contextvars(request="abc", job=7, run=3, shard=9):
        logger.warning("slow: %s", "a page\nof two lines")
    (line,) = lines()
    found = json.loads(line)
    assert found["event"] == "slow: a page\nof two lines"
    assert (found["request"], found["job"], found["run"], found["shard"]) == ("abc", 7, 3, 9)
    assert (found["level"], found["logger"]) == ("warning", "webnav.test")
    assert found["timestamp"].endswith("Z")


def test_lines_on_a_terminal_can_be_read(told) -> None:
    logger, lines = told("lines")
    logger.info("started")
    (line,) = lines()
    assert "started" in line
    assert not line.startswith("{")


def test_a_traceback_is_in_the_line_without_secrets(told) -> None:
    logger, lines = told("json")
    try:
        raise ValueError(f"token=abcdefgh12345 {KNOWN}")
    except ValueError:
        logger.exception("failed")
    (line,) = lines()
    assert "ValueError" in json.loads(line)["exception"]
    assert "abcdefgh12345" not in line
    assert KNOWN not in line


SECRET = "Zm9vYmFyYmF6cXV4"


@pytest.mark.parametrize(
    "text",
    [
        f"Authorization: Bearer {SECRET}",
        f"{{'Authorization': 'Token {SECRET}'}}",
        f"GET /x?token={SECRET}&page=2",
        f'{{"api_key": "{SECRET}"}}',
        f"LLM_API_KEY={SECRET}",
        f"password='{SECRET}'",
        f"postgresql://webnav:{SECRET}@db/webnav",
        f"redis://:{SECRET}@127.0.0.1:6379/0",
        f"Cookie: theme=dark; sessionid={SECRET}",
        f"csrfmiddlewaretoken={SECRET}",
        f"sk-{SECRET}1234",
        f"GET /invites/{SECRET}/ 200",
        f"GET /s/abc:{SECRET}:{SECRET}",
        f"GET /snapshots/{SECRET}.{SECRET}",
    ],
)
def test_secrets_in_texts_are_replaced(text: str) -> None:
    clean = Redactor().text(text)
    assert SECRET not in clean
    assert GONE in clean


@pytest.mark.parametrize("name", ["password", "api_key", "apiKey", "access_token", "Authorization", "Cookie", "secret"])
def test_fields_with_a_secret_name_are_replaced_wherever_they_are(name: str) -> None:
    assert Redactor().value({"data": [{name: SECRET}]}) == {"data": [{name: GONE}]}


@pytest.mark.parametrize(
    "text",
    [
        "prompt_tokens=120 of 4000",
        "a run of /runs/12/",
        "the token limit is 512",
        "https://example.org/a:b",
        f"GET /api/snapshots/{64 * 'a'}/ 200",
        "tokens: 7",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert Redactor().text(text) == text


def test_the_format_follows_the_setting_and_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())  # no terminal
    assert log_format("", production=True) == "json"
    assert log_format("", production=False) == "lines"
    assert log_format("lines", production=True) == "lines"
    with pytest.raises(ValueError, match="LOG_FORMAT"):
        log_format("xml", production=True)

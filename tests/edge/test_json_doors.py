"""Every place that takes JSON refuses what is nested too deeply, or is none, with a 400 that says why."""

import json
import time

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client

from annotations.access.json_input import DEEPEST, BadJson, DeepJsonMiddleware, parse_json
from tests import factories
from tests.annotations.work_world import make_verification
from tests.signed_in import client_of
from tests.web.world import STARTS, make_world

DEEP = ("[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000, "[" * 500 + "]" * 500)
HALVES = ('"\\ud800"', '{"\\udfff": 1}', '[["\\ude00\\ud83d"]]')
NULS = ('"a\\u0000b"', '{"\\u0000": 1}', '[[{"a": ["\\u0000"]}]]')
BAD = (*DEEP, *NULS, "[NaN]", "[-Infinity]", "[1e999]", "{", '"\\ud8', "\xff", "1" * 5000, *HALVES)


@pytest.mark.parametrize("text", BAD, ids=lambda text: text[:12])
def test_what_is_no_json_of_ours_is_refused(text: str) -> None:
    with pytest.raises(BadJson):
        parse_json(text)
    with pytest.raises(BadJson):
        parse_json(text.encode("latin1"))


def test_half_a_character_is_refused_in_bytes_too_and_whole_ones_are_read() -> None:
    with pytest.raises(BadJson, match="half of a character"):
        parse_json(b'"\xed\xa0\x80"')
    assert parse_json(b'["\\ud83d\\ude00", "\xf0\x9f\x98\x80"]') == ["😀", "😀"]


def test_a_backslash_before_u0000_is_text() -> None:
    assert parse_json(r'["\\u0000"]') == [r"\u0000"]
    with pytest.raises(BadJson, match=r"^0 holds the character U\+0000"):
        parse_json(r'["\\\u0000"]')


def test_where_u0000_is_is_said() -> None:
    for text, place in (
        ('{"a": {"b": ["", "\\u0000"]}}', "a.b.1"),
        ('"\\u0000"', "The JSON"),
        ('{"a\\u0000": 1}', "A name in The JSON"),
    ):
        with pytest.raises(BadJson, match=rf"^{place} holds the character U\+0000"):
            parse_json(text)


def test_as_deep_as_may_be_is_read() -> None:
    text = "[" * DEEPEST + "]" * DEEPEST
    assert json.dumps(parse_json(text)) == text
    with pytest.raises(BadJson, match="deeper than"):
        parse_json(f"[{text}]")


@pytest.mark.slow
@pytest.mark.timed
def test_many_values_take_little_longer_than_to_parse() -> None:
    text = json.dumps([[], {}, 1, "a"] * 200_000)
    begun = time.perf_counter()
    json.loads(text)
    plain = time.perf_counter() - begun
    begun = time.perf_counter()
    parse_json(text)
    assert time.perf_counter() - begun < 20 * plain + 0.5


def said_no(client: Client, path: str, text: str) -> None:
    client.raise_request_exception = False
    answer = client.post(path, text, content_type="application/json")
    assert answer.status_code == 400, path
    assert f"The JSON is nested deeper than {DEEPEST} levels." in answer.content.decode(), path


@pytest.mark.django_db
@pytest.mark.parametrize("text", DEEP, ids=lambda text: text[:12])
def test_the_sign_in_of_the_api_answers_400(text: str) -> None:
    said_no(Client(), "/api/auth/login/", text)


@pytest.mark.django_db
@pytest.mark.parametrize("noun", STARTS)
def test_what_starts_work_answers_400(noun: str) -> None:
    admin = factories.make_user("admin")
    said_no(client_of(admin), f"/api/{noun}/", DEEP[0])


@pytest.mark.slow
@pytest.mark.django_db
def test_a_study_s_budget_answers_400() -> None:
    said_no(client_of(factories.make_superuser()), make_world().fill("studies/{}/budget/"), DEEP[0])


@pytest.mark.django_db
def test_pages_that_take_json_answer_400() -> None:
    work = factories.make_assignment()
    verification = make_verification()
    session = work.item.session
    admin = client_of(factories.make_user("admin", session.campaign.project))
    annotator, reviewer = client_of(work.user), client_of(verification.user)
    for name in ("edits", "undo", "redo", "lease", "submit", "propose"):
        said_no(annotator, f"/annotate/assignments/{work.pk}/{name}/", DEEP[0])
    said_no(annotator, "/keys/choose/", DEEP[1])
    said_no(annotator, f"/annotate/sessions/{session.pk}/comments/", DEEP[0])
    said_no(admin, f"/annotate/campaigns/{session.campaign.pk}/organise/change/", DEEP[0])
    said_no(reviewer, f"/annotate/verify/{verification.pk}/judge/", DEEP[0])


@pytest.mark.django_db
def test_a_passkey_that_is_deep_json_answers_400() -> None:
    """A form of django-allauth, which parses by itself."""
    client = Client(raise_request_exception=False)
    answer = client.post("/login/passkey/", {"credential": "[" * 60_000})
    assert (answer.status_code, answer.content.decode()) == (400, f"The JSON is nested deeper than {DEEPEST} levels.")


def test_recursion_elsewhere_stays_a_failure_of_ours() -> None:
    def endless(number: int) -> int:
        return 1 + endless(number)

    for work, answered in ((lambda: endless(1), False), (lambda: json.loads("[" * 100_000), True)):
        try:
            work()
        except RecursionError as error:
            answer = DeepJsonMiddleware(HttpResponse).process_exception(HttpRequest(), error)
            assert (answer is not None) == answered

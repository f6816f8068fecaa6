"""What looks private is found, what only resembles it is not."""

import time
from itertools import pairwise

import pytest

from annotations.releases.privacy import luhn, scan, take_out

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"


@pytest.mark.parametrize(
    ("text", "kind", "private"),
    [
        ("Write to ann.lee+news@mail.example.co.uk.", "email", "ann.lee+news@mail.example.co.uk"),
        ('<a href="mailto:info@shop.example">', "email", "info@shop.example"),
        ("Call +44 20 7946 0958 today", "phone", "+44 20 7946 0958"),
        ("Call +1-212-555-0142.", "phone", "+1-212-555-0142"),
        ("Call (212) 555-0142 now", "phone", "(212) 555-0142"),
        ("Call 212-555-0142 now", "phone", "212-555-0142"),
        ("Call 020 7946 0958", "phone", "020 7946 0958"),
        ("Pay with 4111 1111 1111 1111", "card", "4111 1111 1111 1111"),
        ("Pay with 5500-0000-0000-0004", "card", "5500-0000-0000-0004"),
        ("Pay with 340000000000009", "card", "340000000000009"),
        ("Book for Mary Miller and me", "name", "Mary Miller"),
        ("by James T. Kirk-Smith", "name", "James T. Kirk-Smith"),
        (f"token={JWT}", "token", JWT),
        ("key AKIAIOSFODNN7EXAMPLE", "token", "AKIAIOSFODNN7EXAMPLE"),
        ("ghp_" + "a1B2" * 9, "token", "ghp_" + "a1B2" * 9),
        ("Authorization: Bearer abcdefghij0123456789.x", "token", "abcdefghij0123456789.x"),
    ],
)
def test_it_is_found(text: str, kind: str, private: str) -> None:
    assert [(piece.kind, text[piece.start : piece.end]) for piece in scan(text)] == [(kind, private)]


@pytest.mark.parametrize(
    "text",
    [
        "logo@2x.png",
        "https://maps.example/@51.5,0.1",
        'bounding_box_rect="110,276.5,264,33"',
        "2023-04-12 10:30:00",
        "Pay with 4111 1111 1111 1112",  # the last digit is wrong
        "4111111111111111.5",
        "1234567890123452",  # no card begins with 1
        "Mary and I",
        "Mary And Company",
        "Find Jordan shoes in Charlotte",
        "$1,299.00 – 12 345 678",
        "d41d8cd98f00b204e9800998ecf8427e",  # in a page: a name of a file
        "version 10.15.7.2345",
    ],
)
def test_it_is_not_found(text: str) -> None:
    assert scan(text) == []


def test_long_random_values_are_tokens_only_where_somebody_typed_them() -> None:
    secret = "d41d8cd98f00b204e9800998ecf8427e"
    assert [piece.kind for piece in scan(f"key {secret}", typed=True)] == ["token"]
    assert scan("a" * 64, typed=True) == []
    assert scan("https://shop.example/a-long-path/with-many-words/and-no-secret", typed=True) == []


def test_pieces_do_not_overlap() -> None:
    text = "Mary Miller, mary.miller@mail.example, 4111111111111111, (212) 555-0142"
    found = scan(text)
    assert [piece.kind for piece in found] == ["name", "email", "card", "phone"]
    assert all(one.end <= two.start for one, two in pairwise(found))


@pytest.mark.parametrize(
    ("digits", "valid"), [("79927398713", True), ("79927398710", False), ("0", True), ("18", True)]
)
def test_the_luhn_digit(digits: str, valid: bool) -> None:
    assert luhn(digits) is valid


def test_only_whole_occurrences_are_taken_out() -> None:
    text = "ann@x.example, joann@x.example, ann@x.example"
    assert take_out(text, "ann@x.example", "[email]") == ("[email], joann@x.example, [email]", [0, 32])


@pytest.mark.timed
@pytest.mark.parametrize("unit", ["a", "1 ", "1-", "a.", "a@", "a@a.", "+1 ", "eyJ-", "eyJabcdefgh.", "Mary ", "x/+="])
def test_the_time_is_in_proportion_to_the_length(unit: str) -> None:
    begun = time.perf_counter()
    scan(unit * (200_000 // len(unit)) + "!", typed=True)
    assert time.perf_counter() - begun < 3

"""Small valid files made wrong in every way, the same ways every time: bytes, and values inside of JSON."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

# What foreign files hold where nobody expects it. `%` is repeated.
TOKENS = (
    b"<",
    b">",
    b"</",
    b"/>",
    b'"',
    b"'",
    b"&",
    b"&amp;",
    b"&#0;",
    b"<!--",
    b"-->",
    b"<![CDATA[",
    b"]]>",
    b"<?xml ",
    b"?>",
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n",
    b" ",
    b"\t",
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"-0",
    b"null",
    b"true",
    b"(",
    b")",
    b";",
    b"[00:01] ",
    b"<text>",
    b"</text>",
    b"<a ",
    b"url(",
    b"@import ",
    b"/*",
    b"*/",
    b"say(",
    b"0",
    b"backend_node_id=",
    b"\xf0\x9f\x98\x80",
    b"\xed\xa0\x80",
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    2**63,
    10**400,
    0.5,
    float("nan"),
    float("inf"),
    "",
    " ",
    "\0",
    "\ud800",
    "a" * 300,
    " " * 30_000,
    "<" * 30_000,
    "<a>" * 3_000,
    "(" * 30_000,
    '"' * 30_000,
    [],
    {},
    [[]],
    [None],
    {"": None},
    [1] * 500,
    "a list in a list in a list",
    "a number of many digits",
)
# Values that Python's own writer of JSON refuses, by the names that stand for them above.
WRITTEN = {
    b'"a list in a list in a list"': b"[" * 50_000 + b"]" * 50_000,
    b'"a number of many digits"': b"9" * 6_000,
}
MANY = (2, 40, 3_000, 40_000)


def broken_bytes(data: bytes, rng: random.Random) -> bytes:
    """The file with one to three mistakes."""
    for _ in range(rng.randint(1, 3)):
        data = rng.choice((_cut, _flip, _leave_out, _repeat, _insert, _insert, _insert_many))(data, rng)
    return data


def _place(data: bytes, rng: random.Random) -> int:
    return rng.randrange(len(data) + 1)


def _span(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = _place(data, rng)
    return start, min(len(data), start + rng.choice((1, 5, 50, 500)))


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: _place(data, rng)]


def _flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _leave_out(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[start:end] * rng.choice((2, 10, 200)) + data[end:]


def _insert(data: bytes, rng: random.Random) -> bytes:
    place = _place(data, rng)
    return data[:place] + rng.choice(TOKENS) + data[place:]


def _insert_many(data: bytes, rng: random.Random) -> bytes:
    place = _place(data, rng)
    return data[:place] + rng.choice(TOKENS) * rng.choice(MANY) + data[place:]


def broken_json(value: Any, rng: random.Random) -> bytes:
    """The value with one to three of its parts wrong, gone, twice or nested; now and then also broken as a text."""
    changed = copy.deepcopy(value)
    for _ in range(rng.randint(1, 3)):
        places = list(_places(changed))
        if places:
            _spoil(*rng.choice(places), rng)
    data = json.dumps(changed).encode()
    for name, written in WRITTEN.items():
        data = data.replace(name, written)
    return broken_bytes(data, rng) if rng.random() < 0.2 else data


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """(container, key) of everything inside."""
    pending = [value]
    while pending:
        found = pending.pop()
        keys = list(found) if isinstance(found, dict) else range(len(found)) if isinstance(found, list) else ()
        for key in keys:
            yield found, key
            pending.append(found[key])


def _spoil(holder: Any, key: Any, rng: random.Random) -> None:
    how = rng.randrange(6)
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))
    elif how == 2:
        for _ in range(rng.choice((1, 30, 150))):
            holder[key] = [holder[key]] if rng.random() < 0.5 else {"children": [holder[key]]}
    elif how == 3 and isinstance(holder[key], str):
        text = broken_bytes(holder[key].encode("utf-8", "surrogatepass"), rng)
        holder[key] = text.decode("utf-8", "replace")
    else:
        holder[key] = copy.deepcopy(rng.choice(VALUES))

"""Streaming the elements of JSON files, damaged ones too."""

import gzip
import io
import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.datasets import json_value
from annotations.datasets.files import open_stream
from annotations.datasets.json_stream import StreamItem, elements

TALE = [
    {"id": str(number), "text": '<a href="x">{[ \\"quoted\\" ]}</a>\n' * 3, "rows": [{"n": 1}]} for number in range(5)
]


class Trickle(io.BytesIO):
    """A stream that hands out a few bytes at a time, so that every token meets a chunk border."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self.step = step

    def read(self, size: int | None = -1) -> bytes:
        return super().read(self.step)


def stream(text: str | bytes, step: int = 7) -> list[StreamItem]:
    return list(elements(Trickle(text.encode() if isinstance(text, str) else text, step)))


def values(found: list[StreamItem]) -> list[object]:
    return [element.value for element in found if not element.error]


def errors(found: list[StreamItem]) -> list[tuple[str, str]]:
    return [(element.place, element.error) for element in found if element.error]


LAYOUTS = {
    "one line": json.dumps(TALE),
    "compact": json.dumps(TALE, separators=(",", ":")),
    "indented": json.dumps(TALE, indent=2),
    "line per element": "[\n" + ",\n".join(map(json.dumps, TALE)) + "\n]\n",
    "JSON lines": "\n".join(map(json.dumps, TALE)),
    "JSON lines with blank lines": "\n\n".join(map(json.dumps, TALE)) + "\n\n",
    "byte order mark": "\ufeff" + json.dumps(TALE),
    "objects over many lines": "\n".join(json.dumps(item, indent=1) for item in TALE),
}


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
def test_every_layout_gives_the_elements_in_order(text):
    found = stream(text)
    assert values(found) == TALE
    assert errors(found) == []


@pytest.mark.parametrize("step", [1, 2, 3, 64, 4096])
def test_chunk_borders_anywhere_change_nothing(step):
    assert values(stream(LAYOUTS["one line"], step)) == TALE


def test_one_object_is_one_element():
    assert stream('{"a": 1}') == [StreamItem("line 1", 0, {"a": 1})]


def test_places_and_offsets_name_where_an_element_begins():
    assert [(item.place, item.offset) for item in stream('[1, "two", {"a": 3}]')] == [
        ("[0]", 1),
        ("[1]", 4),
        ("[2]", 11),
    ]
    assert [(item.place, item.offset) for item in stream('{"a": 1}\n\n{"a": 2}')] == [("line 1", 0), ("line 3", 10)]


def test_an_empty_list_has_no_elements():
    assert stream(" [ ] \n") == []


@pytest.mark.parametrize("text", ["", " \n "])
def test_an_empty_file_says_so(text):
    assert errors(stream(text)) == [("", "the file is empty; expected a JSON list or one JSON object per line")]


# Damage: (what is replaced in the second element, by what, part of the message)
DAMAGE = {
    "a wrong word": ('"rows"', "nope", "Expecting property name"),
    "a missing colon": ('"rows":', '"rows"', "Expecting ':' delimiter"),
    "a missing quote": ('"rows"', '"rows', "is not valid JSON"),
    "a missing bracket": ('{"n": 1}]', '{"n": 1}', "is not valid JSON"),
    "a missing brace": ("}]}", "}]", "Expecting property name"),
    "a bracket too many": ("}]}", "}]]}", "is not valid JSON"),
    "NaN": ('{"n": 1}', '{"n": NaN}', "NaN is no JSON value"),
    "a raw line break in a string": ('"rows"', '"ro\nws"', "is not valid JSON"),
}


@pytest.mark.parametrize(("old", "new", "message"), DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_element_of_a_list_is_reported_and_the_others_come(old, new, message):
    parts = [json.dumps(item) for item in TALE]
    parts[1] = parts[1].replace(old, new)
    found = stream("[" + ", ".join(parts) + "]")
    assert [item for item in TALE if item not in values(found)] == [TALE[1]]
    assert errors(found)[0][0] == "[1]"
    assert message in errors(found)[0][1]


@pytest.mark.parametrize(("old", "new", "message"), list(DAMAGE.values())[:5], ids=list(DAMAGE)[:5])
def test_a_damaged_first_element_does_not_hide_the_others(old, new, message):
    parts = [json.dumps(item) for item in TALE]
    parts[0] = parts[0].replace(old, new)
    assert [item for item in TALE if item not in values(stream("[" + ", ".join(parts) + "]"))] == [TALE[0]]


def test_a_damaged_line_is_reported_by_its_number_and_byte():
    found = stream('{"a": 1}\n{"a": tru}\n{"a": "open\n{"a": 4}\n')
    assert values(found) == [{"a": 1}, {"a": 4}]
    assert [place for place, _ in errors(found)] == ["line 2", "line 3"]
    assert errors(found)[0][1] == "is not valid JSON: Expecting value (at byte 15)"


def test_bytes_that_are_not_utf_8_are_reported():
    found = stream(b'[{"a": "\xff"}, {"a": 2}]')
    assert errors(found) == [("[0]", "is not UTF-8: byte 0xff (at byte 8)")]
    assert values(found) == [{"a": 2}]


def test_utf_16_is_named():
    assert errors(stream("[1]".encode("utf-16"))) == [("", "expected UTF-8 text, found UTF-16")]


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_cut_list_gives_the_elements_before_the_cut(cut):
    text = LAYOUTS["one line"]
    found = stream(text[:-cut])
    assert values(found) == (TALE if cut == 1 else TALE[:4])
    assert len(errors(found)) == 1
    assert "the file ends" in errors(found)[0][1]


def test_a_cut_line_says_that_the_file_ends_in_it():
    found = stream(LAYOUTS["JSON lines"][:-20])
    assert values(found) == TALE[:4]
    assert errors(found)[0][0] == "line 5"
    assert errors(found)[0][1].startswith("the file ends inside this line")


def test_a_damaged_archive_gives_its_elements_and_then_its_message(tmp_path: Path):
    many = [{"id": str(number), "text": str(number**9)} for number in range(3000)]
    packed = gzip.compress(json.dumps(many).encode())
    (tmp_path / "many.json.gz").write_bytes(packed[: len(packed) // 2])
    with open_stream(tmp_path / "many.json.gz") as file:
        found = list(elements(file))
    assert 1000 < len(values(found)) < 2000
    assert values(found) == many[: len(values(found))]
    assert "the file ends inside this element" in errors(found)[0][1]
    assert errors(found)[-1] == ("", f"many.json.gz is cut off after {len(packed) // 2:,} compressed bytes")


def test_commas_that_are_missing_or_too_many_are_reported_and_nothing_is_lost():
    found = stream('[{"a": 1} {"a": 2},, {"a": 3},]')
    assert values(found) == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert [message for _, message in errors(found)] == [
        "expected ',' before this element",
        "unexpected ','",
        "unexpected ']'",
    ]


def test_elements_after_the_end_of_the_list_still_come():
    found = stream('[{"a": 1}]\n[{"a": 2}]')
    assert values(found) == [{"a": 1}, {"a": 2}]
    assert errors(found) == [("[1]", "more text after the list")]


def test_a_list_that_is_never_closed_is_reported():
    assert errors(stream('[{"a": 1}')) == [("[1]", "the file ends before the list is closed with ']'")]


def test_an_element_over_the_size_limit_is_reported_and_the_next_come():
    for text in (
        json.dumps([TALE[0], {"id": "x" * 5000}, TALE[1]]),
        "\n".join(map(json.dumps, [TALE[0], "x" * 5000, TALE[1]])),
    ):
        found = list(elements(Trickle(text.encode(), 64), max_bytes=1000))
        assert values(found) == TALE[:2]
        assert "is longer than 1,000 bytes" in errors(found)[0][1]


def test_brackets_nested_without_end_are_reported():
    found = stream('[{"a": 1}, {"a": ' + "[" * 5000 + "]" * 5000 + '}, {"a": 2}]')
    assert values(found) == [{"a": 1}, {"a": 2}]
    assert errors(found) == [("[1]", "is nested more than 900 levels deep")]


def test_a_file_of_another_kind_is_given_up_early():
    found = stream("name,age\n" + "ann,5\n" * 5000, 4096)
    assert values(found) == []
    assert len(found) == 101
    assert found[-1].error == "gave up after 100 damaged elements in a row"


@pytest.mark.slow
@given(
    st.lists(
        st.dictionaries(
            st.text(max_size=5),
            st.text(max_size=20) | st.integers() | st.lists(st.text(max_size=9), max_size=4),
            max_size=4,
        ),
        max_size=6,
    ),
    st.sampled_from([None, 1]),
    st.booleans(),
    st.integers(1, 40),
)
def test_any_list_of_objects_comes_back(items, indent, ascii_only, step):
    text = json.dumps(items, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    assert [(item.value, item.error) for item in stream(text, step)] == [(item, "") for item in items]


@pytest.mark.slow
@pytest.mark.full_size
def test_memory_stays_near_one_element():
    def text() -> bytes:
        yield b"["
        for number in range(120):
            yield (b"," if number else b"") + json.dumps({"id": number, "page": "<p>" * 40_000}).encode()
        yield b"]"

    file = io.BytesIO(b"".join(text()))  # 14 MB
    tracemalloc.start()
    try:
        count = sum(1 for element in elements(file) if not element.error)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 120
    assert peak < 5 << 20


def test_a_value_of_too_many_parts_is_refused_before_it_becomes_objects(monkeypatch) -> None:
    monkeypatch.setattr(json_value, "MAX_PARTS", 100)
    with pytest.raises(json_value.JSONError, match="more than 100 brackets, commas and quotes"):
        json_value.parse(b"[" + b"[]," * 60 + b"[]]")
    assert len(json_value.parse(b"[" + b"1," * 60 + b"1]")) == 61

"""Style sheets of recorded pages keep their look and lose everything that fetches or runs."""

import pytest
import tinycss2
from hypothesis import example, given
from hypothesis import strategies as st

from annotations.dom.css import MAX_SHEET_CHARS, filter_declarations, filter_sheet


def test_rules_media_queries_and_nesting_are_kept():
    sheet = "a > b:hover{color:red}@media (max-width:600px){a:hover{margin:0}}p{color:red;&:focus{top:0}}"
    assert filter_sheet(sheet).split("\n") == [
        "a > b:hover{color:red;}",
        "@media (max-width:600px){a:hover{margin:0;}}",
        "p{color:red;&:focus{top:0;}}",
    ]


def test_key_frames_are_kept():
    assert filter_sheet("@keyframes k{from{left:0}to{left:9px}}") == "@keyframes k{from{left:0;}\nto{left:9px;}}"


@pytest.mark.parametrize(
    "sheet",
    [
        '@import "//evil/x.css";',
        "@import url(//evil/x.css);",
        '@charset "x";',
        "@namespace url(//evil);",
        "@font-face{font-family:x;src:url(//evil/x.woff)}",
        "@supports (background:url(//evil)){a{color:red}}",
        "@document url(//evil){a{color:red}}",
        "a:foo(x){color:red}",
        "a{behavior:url(x.htc)}",
        "a{-moz-binding:url(x)}",
    ],
)
def test_what_fetches_or_binds_is_dropped(sheet):
    assert filter_sheet(sheet) in {"", "a{}"}


@pytest.mark.parametrize(
    "value",
    [
        "url(//evil)",
        'url("//evil")',
        "URL(//evil)",
        "u\\72l(//evil)",
        "\\75 rl(//evil)",
        "url(data:text/html,x)",
        'image-set("//evil" 1x)',
        '-webkit-image-set(url("//evil") 1x)',
        'src("//evil")',
        "cross-fade(url(//evil), red)",
        "expression(alert(1))",
        "attr(data-x url)",
        "element(#x)",
        "paint(x)",
    ],
)
def test_addresses_and_unknown_functions_become_none(value):
    assert filter_declarations(f"background:{value}") == "background:none;"


def test_the_rest_of_a_declaration_with_an_address_stays():
    assert filter_declarations("background:#fff url(x.png) no-repeat") == "background:#fff none no-repeat;"


def test_pictures_inside_the_sheet_are_kept():
    assert (
        filter_declarations("background:url(data:image/png;base64,AA)") == "background:url(data:image/png;base64,AA);"
    )


def test_a_style_attribute_cannot_open_a_rule():
    assert "}" not in filter_declarations("color:red}b{color:blue")


def test_a_value_that_is_not_css_is_dropped():
    assert filter_declarations("color:url(a b)") == ""


def test_a_selector_does_not_become_an_import_when_it_is_written():
    for dashes in (r"\-->", r"-\->", r"\2d\2d>", "-->", "<!--", "</**/!--", "</**/!---/**/->"):
        assert "import" not in filter_sheet(f'{dashes}@import "//evil";a{{color:red}}')


def test_deep_nesting_does_not_exhaust_the_stack():
    for bomb in ("a{b:" + "f(" * 2_000, "a{b:" + "(" * 20_000, "@media x{" * 1_000, "a{" * 1_000):
        assert "(((((" not in filter_sheet(bomb)


def test_huge_sheets_are_left_out():
    assert filter_sheet("a{color:red}" * (MAX_SHEET_CHARS // 12 + 1)) == ""


FRAGMENTS = st.sampled_from(
    [
        "url(",
        "u\\72 l(",
        ")",
        "//evil",
        '"',
        "'",
        "}",
        "{",
        ";",
        ":",
        "@import ",
        "@media x",
        "a",
        "/*",
        "*/",
        "\\",
        "\n",
        "-->",
        "<!--",
        "</style>",
        "!important",
        "image-set(",
        "expression(",
        "background",
        "--x",
        "var(",
        " ",
        "(",
    ]
)


@pytest.mark.slow
@given(st.lists(FRAGMENTS, max_size=14).map("".join))
@example("//evil@import {")
@example("\\-->{")
@example("</**/!--a{")
def test_no_address_survives_and_filtering_again_changes_nothing(text):
    once = filter_sheet(text)
    assert filter_sheet(once) == once
    pending = list(tinycss2.parse_component_value_list(once))
    while pending:
        token = pending.pop()
        assert token.type != "url"
        assert getattr(token, "lower_name", "") not in {"url", "image-set", "expression"}
        assert getattr(token, "lower_value", "") != "import" or token.type != "at-keyword"
        pending += getattr(token, "content", None) or getattr(token, "arguments", None) or []

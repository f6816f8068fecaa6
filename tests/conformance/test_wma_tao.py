"""Differences of pages against the published code's output, and against the published records where they lie beside."""

import pytest

from annotations.dom.differences import PageDifference, difference
from annotations.dom.differences.items import published_items
from annotations.dom.differences.published import published_lists, published_text
from tests.conformance.cases import params

LISTS = ("new_items", "deleted_items", "updated_items")
CASES = [*params("wma_tao", "weblinx_wma", "cases"), *params("wma_tao_published", "weblinx_wma", "cases")]
RECORDED = params("wma_tao_published", "weblinx_wma", "cases")


def compared(case: dict, mode: str) -> PageDifference:
    return difference(case["observation"], case["next_observation"], mode)


def lists(recorded: dict) -> tuple[str, ...]:
    return tuple(recorded[name] for name in LISTS)


def ours(case: dict, mode: str) -> tuple[str, ...]:
    """An action "None" is written as no change whatever differs."""
    return ("None",) * 3 if case["action"] == "None" else published_lists(compared(case, mode))


@pytest.mark.parametrize("case", CASES)
def test_pages_are_read_as_published(case):
    pages = case["observation"], case["next_observation"]
    assert [[int(item.node_id) for item in published_items(page)] for page in pages] == case["parsed_ids"]


@pytest.mark.parametrize("case", CASES)
def test_the_maximised_difference_is_the_published_one(case):
    assert published_text(compared(case, "maximised"), case["action"]) == case["torch"]["tao"]
    assert ours(case, "maximised") == lists(case["torch"])


@pytest.mark.parametrize("case", CASES)
def test_the_minimised_difference_is_the_published_one(case):
    if "skipped" in case["munkres"]:  # the recorder's solver was too slow for this page
        assert compared(case, "minimised")
    else:
        assert published_text(compared(case, "minimised"), case["action"]) == case["munkres"]["tao"]
        assert ours(case, "minimised") == lists(case["munkres"])


@pytest.mark.parametrize("case", CASES)
def test_the_maximised_difference_by_text_is_the_published_one(case):
    if case.get("m2w_published_variant") is None:  # nothing was recorded for a page without elements
        assert not all(case["parsed_ids"])
        return
    found = compared(case, "maximised_by_text")
    expected = case["m2w_published_variant"]
    assert [item.text for item in found.added] == expected["new"]
    assert [item.text for item in found.removed] == expected["deleted"]
    assert [change.after.text for change in found.changed] == expected["updated"]


@pytest.mark.parametrize("case", RECORDED)
def test_the_published_records_come_out_of_one_of_the_modes(case):
    mode = "maximised" if case["torch_equals_published"] else "maximised_by_text"
    assert case["torch_equals_published"] or case["m2w_variant_equals_published"]
    assert published_lists(compared(case, mode)) == tuple(case["published"][name].strip() for name in LISTS)

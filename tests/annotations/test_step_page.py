"""What the step page says of candidates that its page does not hold."""

import pytest

from annotations.corpus.browse.step_page import _attributes_text


@pytest.mark.parametrize("attributes", ["[1]", "3", '"text"', "null", "{", "[" * 100_000, "9" * 5_000])
def test_attributes_that_are_no_object_say_nothing(attributes) -> None:
    assert _attributes_text(attributes) == ""


def test_the_first_attribute_that_names_an_element_is_shown() -> None:
    assert _attributes_text('{"id": "x", "aria_label": "Search"}') == "Search"

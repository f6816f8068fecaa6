"""attribute_repr against the published code's output."""

import pytest
from lxml import etree

from annotations.dom.text import attribute_repr
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


@pytest.mark.parametrize("case", params("dom_attribute_repr"))
def test_attributes_left_agree_with_the_published_code(case):
    node = etree.Element("div")
    for name, value in case["attrs"].items():
        node.set(name, value)
    with crash_of(case) as crashes:
        attribute_repr(node, case["max_value_length"], case["max_length"])
    assert crashes or dict(node.attrib) == case["expected"]

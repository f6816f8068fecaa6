"""The flat tree of a page: what its rows say, and that a page of 400,000 tokens takes a fraction of a second."""

import json
import re
import time

import pytest

from annotations.dom.generated import list_page, random_page
from annotations.dom.tree import node_ids, parse
from annotations.dom.tree_rows import MAX_TEXT, page_rows
from tests.quick import first_is_quick

PAGE = """<html backend_node_id="1"><!-- said by nobody --><body backend_node_id="2" role="none">
<p backend_node_id="3"><text backend_node_id="4">Two</text><b backend_node_id="5">bold</b> words</p>
<input backend_node_id="6" type="text" name="query" value="query" class="wide"/><a backend_node_id="7"
title="http://x">{long}</a></body></html>"""


def test_every_element_is_a_row_and_texts_are_labels():
    rows = page_rows(parse(PAGE.format(long="x" * 100)), ["6"], ["6", "7"])
    assert rows == [
        [0, "1", "html", "", False, False],
        [1, "2", "body", "", False, False],
        [2, "3", "p", "Two", False, False],
        [3, "5", "b", "bold", False, False],
        [2, "6", "input", "text query", True, True],
        [2, "7", "a", "x" * (MAX_TEXT - 1) + "…", False, True],
    ]


def test_rows_come_in_document_order_with_the_depth_of_each():
    root = parse(random_page(800, seed=3)[0])
    rows = page_rows(root, [], [])
    texts = {element.get("backend_node_id") for element in root.iter("text")}
    assert [row[1] for row in rows] == [node_id for node_id in node_ids(root) if node_id not in texts]
    depths = {e.get("backend_node_id"): sum(1 for _ in e.iterancestors()) for e in root.iter("*")}
    assert [row[0] for row in rows] == [depths[row[1]] for row in rows]


@pytest.mark.slow
@pytest.mark.timed
@pytest.mark.full_size
@first_is_quick(("make", "nodes"), [(list_page, 25_000), (random_page, 17_500)])
def test_a_page_of_400_000_tokens_takes_less_than_300_milliseconds(make, nodes):
    page, candidates = make(nodes)
    assert len(re.findall(r"\w+|[^\w\s]", page)) > 400_000

    def seconds() -> float:
        begun = time.thread_time()
        json.dumps(page_rows(parse(page), candidates[:1], candidates), ensure_ascii=False, separators=(",", ":"))
        return time.thread_time() - begun

    assert min(seconds() for _ in range(3)) < 0.3

"""The element tree as rows: bounded, gold path open, flat stream."""

from annotations.dom import tree_rows
from annotations.dom.generated import random_page
from annotations.dom.tree import Element, parse


def page_of(items: int) -> Element:
    rows = "".join(
        f'<li backend_node_id="{i}"><a backend_node_id="a{i}"><text>Item {i}</text></a></li>' for i in range(items)
    )
    return parse(f'<html backend_node_id="h"><ul backend_node_id="u" aria_label="results">{rows}</ul></html>')


def test_every_open_row_is_closed_once() -> None:
    kinds = [row.kind for row in tree_rows.tree(page_of(10), {"a3"})]
    assert kinds.count("open") == kinds.count("close") > 0


def test_the_ancestors_of_gold_are_open_and_gold_is_marked() -> None:
    rows = list(tree_rows.tree(page_of(300), {"a200"}))
    assert [row.node_id for row in rows if row.gold] == ["a200"]
    assert "200" in [row.node_id for row in rows if row.kind == "open"]


def test_children_beyond_the_first_fifty_are_behind_rows_that_say_which() -> None:
    rows = list(tree_rows.tree(page_of(300), {"a200"}))
    gaps = [(row.first, row.last, row.children) for row in rows if row.kind == "more"]
    assert gaps == [(50, 200, 150), (201, 300, 99)]


def test_a_large_page_gives_a_bounded_number_of_rows() -> None:
    rows = [row for row in tree_rows.tree(page_of(5000), set()) if row.kind != "close"]
    assert len(rows) <= tree_rows.MAX_ROWS + 1


def test_a_page_deeper_than_the_stack_is_no_problem() -> None:
    depth = 1500
    html = "".join(f'<div backend_node_id="{i}">' for i in range(depth)) + "</div>" * depth
    rows = list(tree_rows.tree(parse(html), {str(depth - 1)}))
    assert sum(row.kind == "open" for row in rows) == depth - 1


def test_children_come_in_parts_that_join_without_gap_or_overlap() -> None:
    page, first, seen = page_of(120), 0, []
    while True:
        rows = list(tree_rows.children(page, "u", set(), first))
        seen += [row.node_id for row in rows if row.kind != "more"]
        if rows[-1].kind != "more":
            break
        first = rows[-1].first
    assert seen == [str(i) for i in range(120)]


def test_a_row_says_its_attributes_and_its_own_text_only() -> None:
    page = parse(
        '<p backend_node_id="1" aria_label="Price"><text>from</text><b backend_node_id="2"><text>9 €</text></b></p>'
    )
    rows = list(tree_rows.tree(page, set()))
    assert [(row.tag, row.text) for row in rows if row.tag] == [("p", "Price · from"), ("b", "9 €")]


def test_both_trees_say_the_same_of_an_element() -> None:
    page = parse(random_page(150, seed=5)[0])
    gold = tree_rows.page_rows(page, [], [])[-1][1]
    few = {row.node_id: (row.tag, row.text, row.gold) for row in tree_rows.tree(page, {gold}) if row.tag}
    whole = {row[1]: tuple(row[2:5]) for row in tree_rows.page_rows(page, {gold}, [])}
    assert few[gold][2]
    assert few.items() <= whole.items()


def test_a_node_that_is_not_on_the_page_has_no_children() -> None:
    assert list(tree_rows.children(page_of(3), "nowhere", set())) == []

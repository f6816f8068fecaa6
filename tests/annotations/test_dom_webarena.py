"""WebArena's pruning of accessibility trees."""

import json
import os
from pathlib import Path

import pytest

from annotations.dom.webarena import pruned

SAMPLES = Path(os.environ.get("SHARED_DATA", Path(__file__).parents[3] / "shared" / "data")) / "wma-samples"
PUBLISHED = ("observation", "next_state_acctree", "cleaned_accessibility_tree", "cleaned_next_accessibility_tree")


def tree(*lines: str) -> str:
    return "\n".join(lines)


def test_nodes_that_say_nothing_are_left_out_and_their_children_take_their_level():
    whole = tree(
        "[1] RootWebArea 'Cart' focused: True",
        "\t[2] navigation ''",
        "\t\t[3] list ''",
        "\t\t\t[4] listitem '' level: 1",
        "\t\t\t\t[5] link 'Home'",
        "\t[6] list 'Offers'",
        "\t\t[7] img '' busy: True",
    )
    assert pruned(whole) == tree(
        "[1] RootWebArea 'Cart' focused: True", "\t[5] link 'Home'", "\t[6] list 'Offers'", "\t\t[7] img '' busy: True"
    )


def test_a_list_item_without_a_name_is_left_out_whatever_its_properties():
    assert pruned("[1] main ''\n\t[2] listitem '' expanded: True\n\t\t[3] button 'More'") == (
        "[1] main ''\n\t[3] button 'More'"
    )


def test_properties_that_the_published_agents_do_not_show_are_left_out():
    assert pruned("[1] textbox 'City' focusable: True required: False settable: True") == (
        "[1] textbox 'City' required: False"
    )


@pytest.mark.parametrize("quote", ["'", '"'])
def test_a_text_that_one_of_the_three_lines_before_holds_is_hidden(quote):
    text = f"[9] StaticText {quote}Book now{quote}"
    near = ["[2] button 'Book now'", "[3] link 'a'", "[4] link 'b'"]
    assert pruned(tree(*near, text)) == tree(*near)
    far = [*near, "[5] link 'c'"]
    assert pruned(tree(*far, text)) == tree(*far, text)


def test_a_count_vanishes_behind_an_id_that_holds_it():
    """Why the whole tree is the default: what changed in a cart would not be seen."""
    assert pruned("[12] link 'Cart'\n[3] StaticText '1'") == "[12] link 'Cart'"
    assert pruned("[12] link 'Cart'\n[3] StaticText '7'") == "[12] link 'Cart'\n[3] StaticText '7'"


def test_what_is_no_node_stays():
    assert (
        pruned("Tab 0 (current): Cart\n\n[1] RootWebArea 'Cart'") == "Tab 0 (current): Cart\n\n[1] RootWebArea 'Cart'"
    )
    assert pruned("") == ""


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the published samples of WMA lie outside the repository")
def test_published_observations_are_pruned_already():
    """All but one page of Mind2Web, whose texts repeat a line right before them."""
    texts = [
        text
        for name in ("sample_webarena_acctree.json", "sample_mind2web_acctree.json")
        for record in json.loads((SAMPLES / name).read_text("utf-8"))
        for key, text in record.items()
        if key in PUBLISHED
    ]
    assert len(texts) == 20
    assert sum(pruned(text) != text for text in texts) == 1

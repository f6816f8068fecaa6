"""The ranker's text of every candidate of a page, in one pass (sources.md M3).

The published code copies and prunes the whole page once per candidate. Here the page is read once into nodes that
hold their rendered pieces (`fragments`); a candidate's text is put together from the pieces of its ancestors, its
siblings within reach and its near descendants. `format_candidate` is the straightforward version and stays as the
definition: both give the same text, character by character.
"""

import gc
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from annotations.dom.fragments import UNSURE, FragmentNode, join_pieces, read_nodes, render_tag
from annotations.dom.prune import prune_tree
from annotations.dom.text import tree_repr
from annotations.dom.tree import NODE_ID, Element

ANCESTOR_WORDS = 50
TARGET_WORDS = 100
MAX_LEVELS = 6  # levels shown below a candidate: prune_tree's max_depth=5
MAX_DESCENDANTS = 50
MAX_SIBLING = 3

_SHORT = 1500  # strings of fewer characters are not worth shortening
# Words kept where a string is shortened: a few more than are shown, because what was cut off may still
# join the first ones.
_SPARE_WORDS = ANCESTOR_WORDS + 6
_FIRST_TRY = 80  # words that are usually enough for it, as parentheses join words


def format_candidate(root: Element, node_id: str) -> str:
    """Text of one candidate, the straightforward way: one pruned copy of the page per call.

    Raises IndexError for a candidate that is not on the page, ValueError for a `<text>`, and EmptyTextError where a
    `<text/>` without text would be shown.
    """
    pruned = prune_tree(root, [node_id])
    candidate = next(node for node in pruned.iter("*") if NODE_ID in node.attrib)
    parent = candidate.getparent()
    ancestors = ""
    if parent is not None:
        parent.remove(candidate)
        ancestors = re.sub(" ?\\( ?", "/", tree_repr(pruned)[0])  # in which no two spaces stand together
        ancestors = re.sub(" ?\\) ?", "", ancestors)
    target, _ = tree_repr(candidate)
    return _compose(ancestors.split()[-ANCESTOR_WORDS:], target.split()[:TARGET_WORDS])


def format_candidates(root: Element, node_ids: Iterable[str]) -> dict[str, str]:
    """Text of each candidate by backend node id: exactly what `format_candidate` gives, errors included."""
    with _collector_paused():
        nodes = read_nodes(root) or {}
        try:
            return {node_id: _format(root, nodes.get(node_id), node_id) for node_id in node_ids}
        finally:
            for node in nodes.values():
                node.parent = None  # without cycles the nodes go at once, not when the collector finds them


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Switch the garbage collector off meanwhile: at tens of thousands of new nodes it would walk all objects of the
    process, and find nothing to collect."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _format(root: Element, node: FragmentNode | None, node_id: str) -> str:
    if node is not None:
        ancestors, target = join_pieces(_render_ancestors(node)), join_pieces(_render_target(node))
        if ancestors is not None and target is not None:
            ancestors = _as_path(_last_words(ancestors))
            return _compose(ancestors.split()[-ANCESTOR_WORDS:], target.split(None, TARGET_WORDS)[:TARGET_WORDS])
    return format_candidate(root, node_id)


def _compose(ancestor_words: list[str], target_words: list[str]) -> str:
    return f"ancestors: {' '.join(ancestor_words)}\ntarget: {' '.join(target_words)}"


def _render_target(node: FragmentNode) -> str:
    """The candidate with its descendants within reach and with its tail; it prints as id 0."""
    inner, count, _ = _render_below(node, MAX_LEVELS, MAX_DESCENDANTS)
    opening, empty = render_tag(node.tag, node.words, "0")
    if count == 0 and node.hollow:
        return f"{empty}{node.tail}"
    return f"{opening}{node.text}{inner}){node.tail}"


def _render_below(node: FragmentNode, levels: int, places: int) -> tuple[str, int, int]:
    """Children of a kept node: rendered, their number, and the places left.

    Elements and texts take places in document order down to `levels` below the node. Elements without a place are
    left out; texts always stay with their parent.
    """
    if node.size <= places and node.height <= levels:
        return *_render_all(node), places - node.size
    gaps, gap_sizes = node.gaps, node.gap_sizes
    count = sum(gap_sizes)
    pieces = [gaps[0]]
    if levels == 0:
        return "".join(gaps), count, places
    places -= gap_sizes[0]
    for index, child in enumerate(node.elements, 1):
        if places <= 0:
            return "".join((*pieces, *gaps[index:])), count, 0
        piece, kept, places = _render_kept(child, levels - 1, places - 1)
        count += kept
        pieces += (piece, gaps[index])
        places -= gap_sizes[index]
    return "".join(pieces), count, max(places, 0)


def _render_kept(node: FragmentNode, levels: int, places: int) -> tuple[str, int, int]:
    """A kept descendant: rendered, the number of nodes that stand for it (0 or 1), and the places left."""
    if node.size <= places and node.height <= levels:
        return *_render_whole(node), places - node.size
    inner, count, left = _render_below(node, levels, places)
    if node.plain and count <= 1:
        return inner, count, left
    return node.wrap(inner, count == 0), 1, left


def _render_all(node: FragmentNode) -> tuple[str, int]:
    """All children of a small subtree, rendered, and their number; kept on the node for the next call."""
    if node.content is None:
        pieces, count = [node.gaps[0]], sum(node.gap_sizes)
        for child, gap in zip(node.elements, node.gaps[1:], strict=True):
            piece, kept = child.whole or _render_whole(child)
            pieces += (piece, gap)
            count += kept
        node.content = "".join(pieces), count
    return node.content


def _render_whole(node: FragmentNode) -> tuple[str, int]:
    """A small subtree with its root, rendered, and the number of nodes that stand for it (0 or 1); kept on the node."""
    if node.whole is None:
        inner, count = _render_all(node)
        node.whole = (inner, count) if node.plain and count <= 1 else (node.wrap(inner, count == 0), 1)
    return node.whole


def _render_ancestors(node: FragmentNode) -> str:
    """The page without the candidate; only its last words are complete.

    The siblings within reach stay with their texts, the ancestors with theirs.
    """
    parent = node.parent
    if parent is None:
        return ""
    first = max(0, node.position - MAX_SIBLING)
    last = min(len(parent.elements), node.position + MAX_SIBLING + 1)
    siblings = [
        "" if index == node.position else _render_sibling(parent.elements[index]) for index in range(first, last)
    ]
    before, after, alone = _render_around(parent)
    if not any(siblings) and (parent.plain and parent.parent is not None):
        return alone
    if not any(siblings) and parent.hollow:
        return f"{before}{parent.wrap('', True)}{after}"
    texts_before, texts_after = _sum_texts(parent)
    gaps = parent.gaps[first + 1 : last]
    inner = "".join(piece for pair in zip(siblings, (*gaps, ""), strict=True) for piece in pair)
    return f"{before}{parent.wrap(f'{texts_before[first]}{inner}{texts_after[last]}', False)}{after}"


def _render_sibling(node: FragmentNode) -> str:
    """A sibling within reach, rendered with its texts and without its elements; "" for a plain one."""
    if node.shown is None:
        node.shown = "" if node.plain else _last_words(node.wrap("".join(node.gaps), not any(node.gap_sizes)))
    return node.shown


def _render_around(node: FragmentNode) -> tuple[str, str, str]:
    """The text in front of an element and behind it, without its siblings; and the page without the element."""
    chain = [node]
    while chain[-1].around is None and chain[-1].parent is not None:
        chain.append(chain[-1].parent)
    around = "", "", ""  # of the root
    for inner in reversed(chain):
        if inner.around is None:
            inner.around = around if inner.parent is None else _extend_around(around, inner.parent, inner.position)
        around = inner.around
    return around


def _extend_around(around: tuple[str, str, str], parent: FragmentNode, position: int) -> tuple[str, str, str]:
    before, after, alone = around
    if parent.plain and parent.parent is not None:
        return before, after, alone
    texts_before, texts_after = _sum_texts(parent)
    inner_before = _last_words(f"{before}{parent.opening}{parent.text}{texts_before[position]}")
    inner_after = _last_words(f"{texts_after[position + 1]}){parent.tail}{after}")
    if parent.hollow:
        return inner_before, inner_after, _last_words(f"{before}{parent.wrap('', True)}{after}")
    return inner_before, inner_after, _last_words(f"{inner_before}{inner_after}")


def _sum_texts(node: FragmentNode) -> tuple[Sequence[str], Sequence[str]]:
    """(texts before each child element, texts behind it): item i of the first list is all text in front of element i,
    item i of the second all text behind element i-1. Only the last words are complete."""
    if node.text_sums is None and not any(node.gaps):
        node.text_sums = node.gaps, node.gaps
    if node.text_sums is None:
        before, after = [node.gaps[0]], [node.gaps[-1]]
        for gap in node.gaps[1:]:
            before.append(_last_words(before[-1] + gap))
        for gap in node.gaps[-2::-1]:
            after.append(_last_words(gap + after[-1]))
        node.text_sums = before, after[::-1]
    return node.text_sums


def _last_words(rendered: str) -> str:
    """The end of a long string, enough for the last words of `_as_path` to be complete."""
    if len(rendered) < _SHORT or UNSURE in rendered:  # the mark must not get lost
        return rendered
    wanted = _FIRST_TRY
    while True:
        words = rendered.rsplit(None, wanted)
        if len(words) <= wanted:
            return rendered
        end = " ".join(words[1:])
        if _as_path(end).count(" ") >= _SPARE_WORDS - 1:
            return f"{end} " if rendered[-1].isspace() else end
        wanted *= 2


def _as_path(rendered: str) -> str:
    """Rendered text with "/" for an opening parenthesis and nothing for a closing one, whitespace beside them gone."""
    rendered = " ".join(rendered.split())
    rendered = rendered.replace(" (", "(").replace("( ", "(").replace(" )", ")").replace(") ", ")")
    return rendered.replace("(", "/").replace(")", "")

"""Generated pages of any size, the same for the same seed: for tests and the benchmark. Core.

Page (a) is a list of equal blocks, page (b) a random tree; the budgets of candidate formatting are stated on both.
"""

import random
from xml.sax.saxutils import escape, quoteattr  # writes, and parses nothing  # nosec B406

WORDS = (
    *("search", "hotel", "flight", "cart", "price", "menu", "sort", "date", "New", "York", "delivery", "pickup"),
    *("submit", "next", "previous", "book", "check-in", "rating", "results", "open", "close", "2023", "café"),
    *("filter", "details", "offers", "returns", "account", "guests", "rooms", "nearby", "total"),
)
TAGS = ("div", "span", "ul", "li", "a", "button", "input", "form", "label", "nav", "p", "h2", "img", "select", "option")
ATTRIBUTES = ("role", "aria_label", "title", "placeholder", "value", "type", "name", "alt")

LIST_BLOCK_NODES = 62  # div, ul and twelve times li, a, text, button, text


def list_page(nodes: int = 12_000, seed: int = 0) -> tuple[str, list[str]]:
    """Page (a): blocks of twelve `li > (a > text, button > text)` under `div > ul`; its XML and candidate ids.

    The nearest number of whole blocks is made: 12,000 nodes give 194 blocks, 12,030 nodes and 4,656 candidates
    (every `a` and `button`).
    """
    rng = random.Random(seed)
    page = _Writer()
    candidates: list[str] = []
    page.open("html")
    page.open("body")
    for block in range(round((nodes - 2) / LIST_BLOCK_NODES)):
        page.open("div", {"aria_label": f"section {block} {_words(rng, 2)}"})
        page.open("ul")
        for _ in range(12):
            page.open("li")
            candidates.append(page.open("a", {"title": _words(rng, 3)}))
            page.text(_words(rng, 6))
            page.close("a")
            candidates.append(page.open("button", {"type": "button"}))
            page.text(_words(rng, 2))
            page.close("button")
            page.close("li")
        page.close("ul")
        page.close("div")
    page.close("body")
    page.close("html")
    return page.xml(), candidates


def random_page(
    nodes: int = 12_000, seed: int = 0, max_depth: int = 25, wide_children: int = 500
) -> tuple[str, list[str]]:
    """Page (b): a random tree with one parent of `wide_children` children; its XML and candidate ids.

    All elements are candidates but the root and the texts, so there are more of them than on page (a).
    """
    rng = random.Random(seed)
    children: list[list[int]] = [[]]
    depth = [1]
    wide = -1
    open_nodes = [0]  # nodes that may get another child
    while len(children) < nodes:
        parent = _pick_parent(rng, open_nodes)
        if depth[parent] >= max_depth - 1:
            continue
        count = 1
        if wide == -1 and len(children) > nodes // 4 and depth[parent] < 12:
            wide, count = parent, wide_children
        for _ in range(count):
            children[parent].append(len(children))
            open_nodes.append(len(children))
            children.append([])
            depth.append(depth[parent] + 1)
    return _write_random(rng, children)


def _pick_parent(rng: random.Random, open_nodes: list[int]) -> int:
    """Half of the time one of the newest nodes, so that the tree becomes deep as well as wide."""
    if rng.random() < 0.5:
        return open_nodes[max(0, len(open_nodes) - 1 - rng.randrange(40))]
    return rng.choice(open_nodes)


def _write_random(rng: random.Random, children: list[list[int]]) -> tuple[str, list[str]]:
    """Give each node of the tree a tag, attributes and text; childless nodes are texts one time in two."""
    page = _Writer()
    candidates: list[str] = []
    pending: list[tuple[int, str]] = [(0, "html")]
    while pending:
        node, tag = pending.pop()
        if node < 0:
            page.close(tag)
        elif node > 0 and not children[node] and rng.random() < 0.5:
            page.text(_words(rng, rng.randint(1, 25)))
        else:
            names = rng.sample(ATTRIBUTES, rng.choice((0, 0, 1, 1, 2, 4)))
            node_id = page.open(tag, {name: _words(rng, rng.randint(1, 7)) for name in names})
            if node > 0:
                candidates.append(node_id)
            pending.append((-1, tag))
            pending.extend((child, rng.choice(TAGS)) for child in reversed(children[node]))
    return page.xml(), candidates


def _words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choices(WORDS, k=count))


class _Writer:
    """Collects the XML of a page, one line per tag, and numbers its nodes."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._depth = 0
        self._next_id = 1

    def open(self, tag: str, attributes: dict[str, str] | None = None) -> str:
        node_id = self._take_id()
        named = "".join(f" {name}={quoteattr(value)}" for name, value in (attributes or {}).items())
        self._line(f'<{tag} backend_node_id="{node_id}"{named}>')
        self._depth += 1
        return node_id

    def text(self, text: str) -> None:
        self._line(f'<text backend_node_id="{self._take_id()}">{escape(text)}</text>')

    def close(self, tag: str) -> None:
        self._depth -= 1
        self._line(f"</{tag}>")

    def xml(self) -> str:
        return "\n".join(self._parts)

    def _line(self, line: str) -> None:
        self._parts.append("  " * self._depth + line)

    def _take_id(self) -> str:
        self._next_id += 1
        return str(self._next_id - 1)


def changing_trees(nodes: int, rng: random.Random, share: float) -> tuple[str, str]:
    """Two accessibility trees of so many elements; of the first, `share` is gone, shows another text or has come."""
    before = [(number, _tree_text(rng)) for number in range(1, nodes + 1)]
    after = []
    for number, text in before:
        if rng.random() >= share:
            after.append((number, text))
        elif rng.random() < 0.6:
            after.append((rng.choice((number, nodes + number)), f"{text[:-1]} {rng.choice(_TREE_WORDS)}'"))
        elif rng.random() < 0.5:
            after.append((2 * nodes + number, _tree_text(rng)))
    first, second = ("\n".join(f"[{number}] {text}" for number, text in page) for page in (before, after))
    return first, second


_TREE_WORDS = tuple(f"{start}{end}" for start in ("ba", "de", "fo", "gu", "ki", "lo", "mu") for end in range(400))


def _tree_text(rng: random.Random) -> str:
    words = " ".join(rng.choice(_TREE_WORDS) for _ in range(rng.randint(1, 6)))
    return f"{rng.choice(('link', 'button', 'StaticText', 'gridcell', 'heading'))} '{words}'"

"""Elements of a page as people would name them: role, accessible name, text, value, box. Core.

Works on cleaned pages (salient attributes only), on recorded pages (sources.md M1.4) and on
the pages made from MiniWoB++ demonstrations, which have the same shape.
"""

from dataclasses import dataclass, field

from lxml import etree

from annotations.dom.naming import ElementDraft, Labels, labels_of, name_of, option_text, read_drafts, value_of

MAX_DESCRIPTION = 80

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class DescribedElement:
    """One element that has a backend node id. Texts are not elements; they are in `text` and `name`."""

    node_id: str
    tag: str
    role: str = ""  # "" for a generic element
    name: str = ""  # accessible name, "" where nothing names the element
    text: str = ""  # visible text of the element and its descendants, at most 300 characters
    value: str = ""  # of a field; "true" or "false" for something that can be checked
    attributes: dict[str, str] = field(default_factory=dict, hash=False)  # as on the page
    interactive: bool = False
    parent_id: str | None = None  # nearest ancestor with a backend node id
    depth: int = 0  # 0 for the root; counts ancestors without an id too
    order: int = 0  # place in document order among the elements
    bbox: Box | None = None  # x, y, width, height in CSS pixels of the page; None without layout
    options: tuple[tuple[str, str], ...] = ()  # (node id, text) of what a list of options offers


def elements(root: etree._Element) -> list[DescribedElement]:
    """All elements of a page with a backend node id, in document order; the head, scripts and styles are left out."""
    drafts = read_drafts(root)
    labels = labels_of(drafts)
    return [_element(draft, order, labels) for order, draft in enumerate(d for d in drafts if d.node_id)]


def describe(element: DescribedElement) -> str:
    """The element as action representations show it: `[button]  Search`; long names are cut with "..."."""
    name = element.name or element.text
    if len(name) > MAX_DESCRIPTION:
        name = name[: MAX_DESCRIPTION - 3] + "..."
    return f"[{element.role or element.tag}]  {name}"


def _element(draft: ElementDraft, order: int, labels: Labels) -> DescribedElement:
    parent = draft.parent
    while parent is not None and not parent.node_id:
        parent = parent.parent
    return DescribedElement(
        node_id=draft.node_id,
        tag=draft.tag,
        role=draft.role,
        name=name_of(draft, labels),
        text=draft.text,
        value=value_of(draft),
        attributes=draft.attributes,
        interactive=draft.interactive,
        parent_id=parent.node_id if parent is not None else None,
        depth=draft.depth,
        order=order,
        bbox=_box(draft.attributes.get("bounding_box_rect", "")),
        options=tuple((option.node_id, option_text(option)) for option in draft.options if option.node_id),
    )


def _box(rect: str) -> Box | None:
    """The box of "x,y,width,height"; None for an element without layout, and for anything else."""
    try:
        x, y, width, height = map(float, rect.split(","))
    except ValueError:
        return None
    return None if width < 0 or height < 0 else (x, y, width, height)

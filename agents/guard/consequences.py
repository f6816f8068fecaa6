"""What a page says around a control of what comes of it, whatever the control itself is called. Core."""

from agents.guard.beginnings import UNCONCERNED
from agents.guard.controls import NEAR, buttons_of, dialog_of, is_chosen, names_of, pieces_of, text_of
from agents.guard.page_words import ASKS_WHO_COMES, CONSEQUENCES, LASTING, PAYS_BY, PUBLIC, REASSURES
from agents.guard.vocabulary import OFFERED, PRICE, plain
from annotations.dom.tree import Element, tag_of

LONGEST_NEAR = 700  # characters: more of them are not about one button


def consequence(element: Element, name: str) -> tuple[str, str] | None:
    """The kind of risk that the text around a button tells of, and the words that tell it; None where it tells none, or
    where the button is one that leaves, looks or arranges."""
    near = told_near(element)
    passes = name and UNCONCERNED.match(name) and not OFFERED.search(name)
    if not near or (passes and not ASKS_WHO_COMES.search(near)):
        return None
    if PRICE.search(near) and (found := PAYS_BY.search(near)):
        return "pay", found[0]
    for kind, pattern in CONSEQUENCES.items():
        if found := pattern.search(near):
            return kind, found[0]
    if _is_for_everybody(element):
        return "publish", "chosen: for everybody"
    if found := LASTING.search(near):
        return "order", found[0]
    return None


def _is_for_everybody(element: Element) -> bool:
    """Whether what is chosen near a button is that everybody sees it."""
    blocks = (one for one in list(element.iterancestors())[:NEAR] if tag_of(one) not in ("body", "html"))
    block = list(blocks)[-1:]
    return any(is_chosen(one) and PUBLIC.match(text_of(one)) for near in block for one in near.iter("*"))


def is_reassuring(element: Element) -> bool:
    """Whether the text around a control says that nothing is done yet."""
    return REASSURES.search(told_near(element)) is not None


def told_near(element: Element) -> str:
    """What is written around a button beside other controls: in the nearest blocks, as long as they have no other
    button of its name and are no longer than a paragraph or two; of a dialog all."""
    if (dialog := dialog_of(element)) is not None:
        return text_of(dialog, without_controls=True)[:LONGEST_NEAR]
    told, own = "", names_of(element)[:1]
    for one in list(element.iterancestors())[: NEAR + 2]:
        text = _short_text(one)
        if text is None or tag_of(one) == "html" or _is_of_others(one, element, own):
            break
        told = text
    return told


def _short_text(block: Element) -> str | None:
    """What is written in a block beside its controls; None where it is longer than about one button. Of a large page no
    more than its beginning is read."""
    said: list[str] = []
    length = -1
    for piece in pieces_of(block, without_controls=True):
        if text := plain(piece):
            said.append(text)
            length += len(text) + 1
            if length > LONGEST_NEAR:
                return None
    return " ".join(said)


def _is_of_others(block: Element, element: Element, own: list[str]) -> bool:
    """Whether a block is not about one button alone: it holds another of its name, or a form that it is not in."""
    if any(one is not element and names_of(one)[:1] == own for one in buttons_of(block)):
        return True
    around = set(element.iterancestors())
    return any(one not in around for one in block.iter("form", "dialog"))

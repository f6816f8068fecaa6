"""Mail and posts of somebody."""

from agents.environments.oracles.solving import OraclePage, click, first, matched, submit, text_of, type_into, value_of
from agents.types import Action
from annotations.dom.tree import Element


def mail(page: OraclePage) -> Action | None:
    """Star, delete, answer or forward the message of the sender that the goal names."""
    sender = matched(page.goal, r"email by (\w{1,30})", r"by (\w{1,30})")
    if "star icon" in page.goal or "trash icon" in page.goal:
        thread = _thread(page, sender)
        icons = [] if thread is None else [one for one in thread.iter("span") if one.get("class") in ("star", "trash")]
        wanted = "star" if "star icon" in page.goal else "trash"
        return click(next((icon for icon in icons if icon.get("class") == wanted), None))
    to = matched(page.goal, r"to (\w{1,30})\.$")
    text = page.quoted()[0] if page.quoted() else ""
    return _answer(page, sender, to, text)


def forwarded(page: OraclePage) -> Action | None:
    """Forward the message of one person to another, in whatever words the goal names them."""
    name = r"([A-Z][\w-]{0,30})"
    sent = rf"{name} (?:sent|wrote)"
    sender = matched(page.goal, rf"(?:from|by) {name}", rf"{name}'s\b", sent, rf"^{name} wants (?:his|her)")
    asking = rf"\b(?:(?i:give|send|forward|email|let)|sure|want) {name}"
    to = matched(page.goal, rf"\bto {name}", rf"\bin {name}'s", asking, rf"^{name} (?:wants|is waiting)")
    return _answer(page, sender, to, "")


def _answer(page: OraclePage, sender: str, to: str, text: str) -> Action | None:
    field = first(page.one(id="reply-text"), page.one("input", css="forward-sender"))
    if field is not None:
        wanted = text or to
        return (
            type_into(field, wanted)
            if value_of(field) != wanted
            else click(first(page.one(id="send-reply"), page.one(id="send-forward")))
        )
    button = page.one(css="email-reply") if text else page.one(css="email-forward")
    return click(button if button is not None else _thread(page, sender))


def _thread(page: OraclePage, sender: str) -> Element | None:
    for thread in page.all(css="email-thread"):
        if any(text_of(name) == sender for name in thread.iter("div") if name.get("class") == "email-sender"):
            return thread
    return None


def posts(page: OraclePage) -> Action | None:
    """Click a button of posts by the user that the goal names: of one, of several or of all, then hand it in where that
    is asked."""
    user = matched(page.goal, r"(@\w{1,30})")
    asked = page.quoted()[0]
    item = next((one for one in page.all("li") if text_of(one).startswith(asked)), None)
    if item is not None:  # of the menu that was opened below the post
        return click(item)
    wanted = asked.lower() if asked.lower() in ("reply", "retweet", "like", "share") else "more"
    own = [post for post in page.all(css="media") if any(text_of(one) == user for one in post.iter("span"))]
    clicked = sum(action.operation == "CLICK" for action in page.done)
    if "Submit" in page.goal:
        most = int(matched(page.goal, r"on (\d{1,3}) posts?") or len(own))
        if clicked >= most:
            return click(submit(page))
        return click(_control(own[clicked], wanted))
    return click(_control(own[0], wanted)) if own else None


def _control(post: Element, wanted: str) -> Element | None:
    return next((one for one in post.iter("span") if one.get("class") == wanted), None)

"""The words and rules by which an action counts as risky or harmless. Core: data, and how a text meets it.

The words were chosen on the train split of the sample, those of `ALWAYS` and `ON_A_BUTTON` by what they mean; its test
splits measure them (`manage.py guard_report`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

KINDS = {
    "pay": "pays",
    "order": "orders or books",
    "send": "sends something to somebody",
    "delete": "deletes",
    "publish": "publishes",
    "personal": "hands in personal data",
}
OF = ("words", "role", "operation", "url", "price")
PRICE = re.compile(
    r"[€£$¥]\s?\d|\d\s?(?:[€£$¥]|(?:kr|eur|usd|gbp|sek|nok|dkk|chf|pln)\b)|\b(?:eur|usd|gbp)\s?\d", re.IGNORECASE
)
FINAL = re.compile(
    r"cannot be (?:undone|refunded|cancelled|changed)|non-?refundable|no refunds?|not be refunded|permanently|"
    r"can't be undone|final sale",
    re.IGNORECASE,
)


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b", re.IGNORECASE)


# Said on a button, each holds wherever the button stands.
ALWAYS: dict[str, re.Pattern[str]] = {
    "pay": _words(
        *("pay now", "and pay", "buy now", "donate", "(?:transfer|send) money", "confirm (?:the |my |your )?payment"),
        *("complete (?:the |my |your )?(?:purchase|payment)", "^pay$"),
    ),
    "order": _words(
        *("(?:place|submit|complete) (?:the |my |your )?order", "order now", "book now", "place (?:a |my |your )?bid"),
        *("complete (?:the |my |your )?booking", "confirm (?:and|booking|order|purchase)", "sign (?:the )?contract"),
    ),
    "delete": _words(
        *("delete", "erase", "unsubscribe", "close (?:my |your )?account"),
        "cancel (?:my |your |the )?(?:order|booking|trip)",
    ),
    "publish": _words("publish", "post (?:now|comment|reply|review)", "tweet"),
}
# Said on a button, not on a link, these hold wherever it stands: nothing is left to be said or chosen after them.
ON_A_BUTTON: dict[str, re.Pattern[str]] = {
    "pay": _words("^(?:pay|buy|purchase)$", "^(?:buy|purchase) (?:this|these|it)"),
    "order": _words("^confirm", "^(?:book|reserve|order|rent|hire) (?:this|these|it)", "^(?:book|reserve|order)$"),
    "send": _words("^(?:send|submit)(?: (?:it|now))?$"),
    "delete": _words("^remove(?! (?:all )?(?:filters?|sorting|highlights?)\\b)"),
    "publish": _words("^post$"),
}
# Said on the button of a form; elsewhere such a button only opens one ("Ask the host", "Book a room" in a list).
IN_A_FORM: dict[str, re.Pattern[str]] = {
    "pay": _words("pay", "buy", "purchase", "checkout now"),
    "order": _words("order", "book", "reserve", "confirm", "move", "reschedule", "hire", "rent", "save changes"),
    "send": _words("send", "email", "mail", "text me", "submit", "reply", "share", "invite", "report", "claim", "ask"),
    "delete": _words("remove", "cancel", "unsubscribe"),
    "publish": _words("post", "comment", "publish"),
    "personal": _words("save", "set", "register", "sign up", "subscribe", "join", "apply (?:for|now)", "notify me"),
}
OF_A_PRICE = _words("pay", "buy", "purchase", "order", "book", "reserve", "rent", "hire", "subscribe", "transfer")
"""Said on a button together with a price, they hold wherever it stands."""
GOES_ON = re.compile(  # begins a name that only shows, narrows or leads to the next page
    r"(?:continue|next|back|find|search|show|see|view|check|choose|add|go to|sort|filter|apply filters?)\b",
    re.IGNORECASE,
)
HANDS_ON = re.compile(r"(?:continue|next|proceed)\b", re.IGNORECASE)  # begins a name that leads on with what was typed
OF_A_PERSON = _words(  # says that a field is about somebody
    *("name", "surname", "e-?mail", "phone", "mobile", "address", "street", "post[- ]?code", "zip", "born", "birth"),
    *("birthday", "passport", "account", "card", "plate"),
)
HAPPENED = {  # what a page says when it has happened
    "pay": _words("paid", "payment (?:received|complete|successful)", "charged"),
    "order": _words(
        "ordered", "booked", "reserved", "order confirmed", "booking confirmed", "thank you for your order"
    ),
    "send": _words("sent", "received", "submitted", "reported", "on its way to"),
    "delete": _words("deleted", "cancelled", "erased"),
    "publish": _words("published", "posted"),
    "personal": _words("registered", "reminder set", "subscribed", "saved"),
}


@dataclass(frozen=True)
class Risk:
    """What lasting thing an action would do, and why the guard thinks so. `by`: policy, page or prediction; `sure`: how
    sure a prediction is of it."""

    kind: str
    why: str
    by: str
    sure: float | None = None

    @property
    def words(self) -> str:
        return KINDS[self.kind]


@dataclass(frozen=True)
class PolicyRule:
    """One rule of a website's policy. `website`: "" for every website. `of` says what `pattern` is compared with: the
    words on the element, its role, the operation or the address; `*` in it stands for any text. A rule of a price needs
    no pattern. `kind`: the kind of risk, "" for harmless."""

    of: str
    pattern: str = ""
    kind: str = ""
    website: str = ""

    def __str__(self) -> str:
        what = "a price on the element" if self.of == "price" else f"{self.of} {self.pattern!r}"
        return f"{what} on {self.website or 'every website'}"

    def holds(self, website: str, name: str, role: str, operation: str, url: str) -> bool:
        """Whether the rule matches an action, by its website, the name and role of its element, its operation and the
        address of the page."""
        if self.website not in ("", website):
            return False
        if self.of == "price":
            return PRICE.search(name) is not None
        if not self.pattern:
            return False
        told = {"words": name, "role": role, "operation": operation, "url": url}[self.of].lower()
        pattern = self.pattern.lower()
        if self.of == "words" and "*" not in pattern:
            return re.search(rf"(?<!\w){re.escape(pattern)}(?!\w)", told) is not None
        return fnmatchcase(told.replace("[", "("), pattern.replace("[", "(").replace("?", "\x00"))


def first_that_holds(
    rules: Sequence[PolicyRule], website: str, name: str, role: str, operation: str, url: str
) -> PolicyRule | None:
    """The rule that decides about an action: among those that match it a website's own before one of every website,
    then one that calls it harmless before one that calls it risky."""
    found = [rule for rule in rules if rule.holds(website, name, role, operation, url)]
    return min(found, key=lambda rule: (not rule.website, bool(rule.kind)), default=None)

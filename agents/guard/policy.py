"""The kinds of risk, and the rules by which a project calls actions risky or harmless. Core."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from agents.guard.vocabulary import PRICE, plain

KINDS = {
    "pay": "pays",
    "order": "orders or books",
    "send": "sends something to somebody",
    "delete": "deletes",
    "publish": "publishes",
    "personal": "hands in personal data",
}
OF = ("words", "role", "operation", "url", "price")
USING = ("CLICK", "PRESS", "SUBMIT", "ENTER")
CAN_COMMIT = (*USING, "TYPE", "SELECT", "DRAG")  # what only looks around is risky by no rule but one of operations
# (role, operation, address) of clicks: a rule that holds on all of a row holds on nearly every click there is.
_SOME = ("button", "CLICK", "http://shop.example/")
CLICKS = {
    "role": (_SOME,),
    "operation": (_SOME,),
    "url": (_SOME, ("link", "CLICK", "https://www.bank.example/pay?id=1"), ("button", "CLICK", "https://x.test/a/b")),
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

    @property
    def passes_every_click(self) -> bool:
        """Whether it calls harmless all or nearly all of what an agent clicks: the guard then holds hardly any."""
        if self.kind or not self.pattern:
            return False
        is_wide = "*" in self.pattern and len(self.pattern.replace("*", "").strip()) < 2
        clicks = CLICKS.get(self.of, ())
        return is_wide or (bool(clicks) and all(self.holds(self.website, "", *click) for click in clicks))

    def holds(self, website: str, name: str, role: str, operation: str, url: str) -> bool:
        """Whether the rule matches an action, by its website, the name and role of its element, its operation and the
        address of the page."""
        if self.website and self.website.casefold() != website.casefold():
            return False
        if self.of == "price":
            return PRICE.search(name) is not None
        if not self.pattern or (self.of != "operation" and operation not in CAN_COMMIT):
            return False
        told = {"words": name, "role": role, "operation": operation, "url": url}[self.of].lower()
        pattern = plain(self.pattern).lower()
        if self.of == "words" and "*" not in pattern:
            return re.search(rf"(?<!\w){re.escape(pattern)}(?!\w)", told) is not None
        return fnmatchcase(_plainly(told), _plainly(pattern))


def _plainly(text: str) -> str:
    """A text or a pattern in which nothing but `*` stands for anything else."""
    return text.replace("[", "(").replace("?", "\x00")


def first_that_holds(
    rules: Sequence[PolicyRule], website: str, name: str, role: str, operation: str, url: str
) -> PolicyRule | None:
    """The rule that decides about an action: among those that match it a website's own before one of every website,
    then one that calls it harmless before one that calls it risky."""
    found = [rule for rule in rules if rule.holds(website, name, role, operation, url)]
    return min(found, key=lambda rule: (not rule.website, bool(rule.kind)), default=None)

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
        """Whether it calls harmless whatever an agent clicks: the guard then holds none."""
        if self.kind or self.of == "price":
            return False
        every = self.pattern != "" and not self.pattern.strip("* ")
        return every or (self.of == "operation" and fnmatchcase("click", self.pattern.lower()))

    def holds(self, website: str, name: str, role: str, operation: str, url: str) -> bool:
        """Whether the rule matches an action, by its website, the name and role of its element, its operation and the
        address of the page."""
        if self.website and self.website.casefold() != website.casefold():
            return False
        if self.of == "price":
            return PRICE.search(name) is not None
        if not self.pattern:
            return False
        told = {"words": name, "role": role, "operation": operation, "url": url}[self.of].lower()
        pattern = plain(self.pattern).lower()
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

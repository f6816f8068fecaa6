"""Lets a visitor use an invented website: clicks, typed text, the back button, forms that refuse what is missing.

Pages are those of the recorded sample (`sites/`), a pure function of the visitor's state. What only a working site has
is added here: required fields, signing in, links that lead somewhere, and disturbances that a seed decides.
"""

import random
import re
from dataclasses import dataclass, field
from types import ModuleType

from annotations.sample.nodes import SampleNode, VisitState, el
from annotations.sample.snapshot import NodeIds
from annotations.sample.widgets import button, dialog, entry

REQUIRED = {
    "brightrail": {
        "find": "from to",
        "to-review": "first-name last-name email",
        "text-me": "mobile",
        "send-claim": "reference email honest",
        "apply-voucher": "voucher",
        "pay-now": "terms",
        "send-copy": "copy-to",
    },
    "casaverde": {
        "confirm": "name email",
        "send-list": "list-email",
        "send-question": "question ask-email",
        "share": "friend",
    },
    "fernandfell": {
        "add": "size",
        "apply": "voucher",
        "book-fit": "fit-date fit-name fit-phone",
        "find-order": "order order-email",
        "send-return": "reason how",
        "send-label": "label-email",
    },
    "harbourcity": {
        "find-address": "postcode",
        "to-vehicle": "address zone",
        "to-declare": "plate",
        "apply": "name email true",
        "send-report": "problem street",
        "set-reminder": "remind-to",
        "report-missed": "missed-email",
        "book-room": "group card",
        "send-copy": "copy",
    },
    "nordline": {"show": "from to", "to-summary": "first last email", "find": "code last", "pay": "terms"},
    "willowclinic": {"book": "reason", "save-mobile": "mobile", "send": "subject text", "send-details": "share"},
}
"""Site -> button -> the fields it wants filled in, where they are on the page. They are what forms hand over, too."""
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
PASSWORD = "sample"  # of every account of these sites
SIGN_IN = frozenset({"Log in", "Sign in", "My account"})
# What a page shows, as against what the visitor has done: going back shows it as it was.
SHOWN = "page item category house doctor train room slot about own-elsewhere found".split()
# Variables that say how the page stands, not what the visitor has done.
OWN = "own-problem own-problem-at own-elsewhere own-notice own-email own-password"  # of this file, not of the site
PASSING = frozenset(f"page popup picker {OWN}".split())
FAULT = "Something went wrong on our side. Please try again."


@dataclass
class Disturbance:
    """What goes wrong in a visit, once each: a window that nobody asked for, and a form that fails. 0: it does not
    happen."""

    notice_after: int = 0  # actions
    fault_at: int = 0  # which form that is handed over

    @classmethod
    def of(cls, name: str, seed: int) -> "Disturbance":
        """The disturbance that a seed draws for the conversation `name`. Seed 0 has none, like the recorded visit."""
        if seed == 0:
            return cls()
        chance = random.Random(f"{name}:{seed}")
        return cls(notice_after=chance.randint(2, 8), fault_at=chance.randint(1, 2))


@dataclass
class SiteVisit:
    """One visitor of one site."""

    site: ModuleType
    state: VisitState
    disturbance: Disturbance = field(default_factory=Disturbance)
    ids: NodeIds = field(default_factory=NodeIds)
    places: list[dict[str, str]] = field(default_factory=list)  # what was shown, for the back button
    place: int = 0
    actions: int = 0
    handed_over: int = 0
    problems: int = 0  # that the site has told

    def __post_init__(self) -> None:
        self.places = [self._state_shown()]

    def page(self) -> SampleNode:
        """The page that the visitor sees, with node ids; an element seen again keeps its id."""
        root = self._rendered()
        body = next(node for node in root.walk() if node.tag == "body")
        if self.state["popup"] == "own-sign-in":
            body.children.append(self._sign_in())
        if self.state["own-notice"] == "open":
            body.children.append(_notice())
        if self.state["own-problem"]:
            _say(root, self.state["own-problem-at"], self.state["own-problem"])
        self.ids.assign(root)
        return root

    def _rendered(self) -> SampleNode:
        if self.state["page"] != "elsewhere":
            return self.site.render(self.state)  # type: ignore[no-any-return]
        root: SampleNode = self.site.render(VisitState(self.state, page="home"))
        main = next(node for node in root.walk() if node.tag == "main")
        main.key = "main-elsewhere"
        main.children = [el("section.page.part", el("h1", self.state["own-elsewhere"]), el("p", "Nothing here today."))]
        return root

    def _sign_in(self) -> SampleNode:
        fields = (
            entry(self.state, "own-email", "Email", kind="email"),
            entry(self.state, "own-password", "Password", kind="password"),
        )
        face = button("Sign in", "own-sign-in", {"own-signed-in": "yes", "popup": ""})
        return dialog("Sign in", *fields, face, key="own-account")

    def press(self, node_id: str) -> None:
        """Click an element, or press enter in it. An element without effect changes nothing. KeyError: it is not on the
        page."""
        root = self.page()
        node = _of(root, node_id)
        effect = self._effect(node)
        self._begin()
        if effect is None:
            return
        if node.key == "own-notice-close":
            self.state["own-notice"] = "closed"
            return
        problem = self._problem(root, node)
        if problem:
            self.problems += 1
            self.state.update({"own-problem": problem, "own-problem-at": node.key})
            return
        self._do(effect)

    def put(self, node_id: str, value: str) -> None:
        """Type a text into a field, or choose an option of a list. KeyError: it is not on the page."""
        node = _of(self.page(), node_id)
        if not node.field:
            raise KeyError(node_id)
        self._begin()
        self.state[node.field] = value
        self._do(node.then or {})

    def escape(self) -> None:
        """Press the escape key, which closes what is open above the page."""
        self.state.update({"popup": "", "picker": ""})
        if self.state["own-notice"] == "open":
            self.state["own-notice"] = "closed"

    def show(self, place: int) -> None:
        """Go to this place of the history, as the back button or the forward button does: the page is as it was, but
        what was done stays done."""
        if 0 <= place < len(self.places):
            self.places[self.place] = self._state_shown()
            self.place = place
            self.state.update(self.places[place] | {"popup": "", "picker": "", "own-problem": ""})

    @property
    def path(self) -> str:
        """The address of the page within its site."""
        return f"/{self.state['page']}"

    def _effect(self, node: SampleNode) -> dict[str, str] | None:
        if node.on is not None:
            return node.on
        if node.tag != "a":
            return None
        if node.text() in SIGN_IN:
            return {"popup": "own-sign-in"}
        return {"page": "elsewhere", "own-elsewhere": node.text(), "popup": "", "picker": ""}

    def _begin(self) -> None:
        self.state["own-problem"] = ""
        self.actions += 1
        if self.actions == self.disturbance.notice_after:
            self.state["own-notice"] = "open"

    def _problem(self, root: SampleNode, node: SampleNode) -> str:
        """Why the site refuses what this element does, as a sentence; "" where it does it."""
        if node.key == "own-sign-in":
            right = EMAIL.fullmatch(self.state["own-email"]) and self.state["own-password"] == PASSWORD
            return "" if right else "We do not know this email and password."
        wanted = REQUIRED[self.site.NAME].get(node.key)
        if wanted is None or node.tag != "button":
            return ""
        there = {found.key for found in root.walk() if found.key}
        names = [name for name in wanted.split() if name in there or any(key.startswith(f"{name}-") for key in there)]
        if missing := [name for name in names if not self.state[name]]:
            return f"Please fill in: {', '.join(name.replace('-', ' ') for name in missing)}."
        if wrong := [name for name in names if "email" in name and not EMAIL.fullmatch(self.state[name])]:
            return f"This is no email address: {self.state[wrong[0]]}."
        self.handed_over += 1
        return FAULT if self.handed_over == self.disturbance.fault_at else ""

    def _do(self, effect: dict[str, str]) -> None:
        before = self._state_shown()
        self.state.update(effect)
        if self.state["page"] != before["page"] or "page" in effect:
            self.places[self.place] = before
            del self.places[self.place + 1 :]
            self.places.append(self._state_shown())
            self.place += 1

    def _state_shown(self) -> dict[str, str]:
        return {name: self.state[name] for name in SHOWN}


def _of(root: SampleNode, node_id: str) -> SampleNode:
    for node in root.walk():
        if node.node_id == node_id:
            return node
    raise KeyError(node_id)


def _notice() -> SampleNode:
    return dialog("Before you go on", el("p", "Would you like our letter, once a month?"), key="own-notice")


def _say(root: SampleNode, key: str, words: str) -> None:
    """Put a line of warning behind the element that was pressed, or at the top of the page."""
    line = el("p.problem", words, role="alert", key="own-problem")
    for node in root.walk():
        for at, child in enumerate(node.children):
            if isinstance(child, SampleNode) and child.key == key:
                node.children.insert(at + 1, line)
                return
    main = next(node for node in root.walk() if node.tag == "main")
    main.children.insert(0, line)

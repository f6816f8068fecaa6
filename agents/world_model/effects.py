"""What an action does to a page, told relative to the action, so that it can be said of another page. Core.

"The acted-on field gets the typed value" is the same effect wherever it happens: names and values that the action
itself gives stand in brackets, and other elements are found by role and name, by role and state, or as all of a role.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from agents.types import Action
from agents.world_model.lines import PageLine, PageLines, line_of, unquoted
from annotations.dom.differences.items import Change, PageDifference

What = Literal["added", "removed", "changed"]
Of = Literal["target", "within", "around", "named", "all"]

RULES = 2  # goes up when the same difference is told otherwise: transitions that are kept are told anew then
VALUE, TARGET = "⟨value⟩", "⟨element⟩"
QUOTES = "'\""
SHORTEST = 3  # characters of a value that is looked for inside of names
TURNED = ("checked", "expanded")  # states that each click turns into the other one
OTHER_STATE = {"true": "false", "false": "true", "True": "False", "False": "True"}
STAYS_SET = ("radio", "menuitemradio")  # a click on one that is set changes nothing
GONE = ""  # what a property becomes that is not written any more
MOST = 400  # effects of one action that are kept: a page that was replaced has changed in every line


@dataclass(frozen=True)
class Effect:
    """One thing that an action changes. `of`: on which elements. within: inside of the one acted on, such as the option
    that was chosen before; around: what that is inside of, such as a dialog that it closes, which goes with all in it.
    `before` are the values of properties that change, `after` the new ones; `renamed` is the new name."""

    what: What
    role: str
    name: str = ""
    of: Of = "named"
    before: Mapping[str, str] = field(default_factory=dict, hash=False)
    after: Mapping[str, str] = field(default_factory=dict, hash=False)
    renamed: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The effect as it is stored, without empty fields."""
        return {key: value for key, value in asdict(self).items() if value not in ("", {}, None)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Effect":
        return cls(**stored)

    def facts(self) -> list[str]:
        """What changes, in words: a line for each property. Numbers of elements are left out."""
        said = f"{self.role} {self.name!r}"
        if self.what != "changed":
            return [f"{self.what} {said}"]
        changes = [f"{key}: {value or 'none'}" for key, value in self.after.items()]
        if self.renamed is not None:
            changes.append(f"is {self.renamed!r}")
        return [f"changed {said} {change}" for change in changes]


@dataclass(frozen=True)
class Happening:
    """An effect on one page: the element before and after it."""

    effect: Effect
    before: PageLine | None = None
    after: PageLine | None = None


class Words:
    """Replaces the value and the target's name of one action by marks in texts, and marks by these texts."""

    def __init__(self, action: Action, target: PageLine | None) -> None:
        self.pairs = [(VALUE, action.value), (TARGET, target.name if target else "")]

    def marked(self, text: str) -> str:
        for mark, said in self.pairs:
            if said and text == said:
                return mark
        (value, typed), (element, name) = self.pairs
        if len(typed) >= SHORTEST and typed in text:
            return text.replace(typed, value)
        if len(name) >= SHORTEST:  # "From suggestions" beside the field "From", but not "Fromage" beside it
            return re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", element, text)
        return text

    def filled(self, text: str) -> str:
        for mark, said in self.pairs:
            text = text.replace(mark, said)
        return text


def happenings(difference: PageDifference) -> list[Happening]:
    """The happenings of a difference between two pages, element by element."""
    found = [Happening(Effect("added", line.role, line.name), None, line) for line in map(line_of, difference.added)]
    for line in map(line_of, difference.removed):
        found.append(Happening(Effect("removed", line.role, line.name), line))
    for change in difference.changed:
        found += _changed(line_of(change.before), line_of(change.after))
    return found


def _changed(before: PageLine, after: PageLine) -> list[Happening]:
    if before.role != after.role:
        gone, come = Effect("removed", before.role, before.name), Effect("added", after.role, after.name)
        return [Happening(gone, before), Happening(come, None, after)]
    names = [name for name in {**before.properties, **after.properties} if _differ(name, before, after)]
    effect = Effect(
        "changed",
        before.role,
        before.name,
        before={name: before.properties.get(name, GONE) for name in names},
        after={name: after.properties.get(name, GONE) for name in names},
        renamed=after.name if after.name != before.name else None,
    )
    return [Happening(effect, before, after)] if names or effect.renamed is not None else []


def _differ(name: str, before: PageLine, after: PageLine) -> bool:
    return before.properties.get(name) != after.properties.get(name)


def effects_of(difference: PageDifference, page: PageLines, action: Action) -> list[Effect]:
    """The effects of an action that changed a page so. Where all of several elements of a role were removed, that is
    one effect."""
    words, target = Words(action, page.at(action.node_id)), page.at(action.node_id)
    found, told = happenings(difference), []
    if (closed := _closed(found, page, target)) is not None:
        told.append(Effect("removed", closed.role, of="around"))
        going = Counter(_told(line) for line in (closed, *page.inside(closed)))
        found = [one for one in found if not _counts_off(one, going)]
    gone = Counter(one.effect.role for one in found if one.effect.what == "removed")
    cleared = {role for role, count in gone.items() if count > 1 and count == len(page.of_role(role))}
    told += [Effect("removed", role, of="all") for role in sorted(cleared)]
    places = _places(page, target)
    for one in found:
        if one.effect.what != "removed" or one.effect.role not in cleared:
            told.append(
                _effect_in_words(one, words, places.get(one.before.node_id, "named") if one.before else "named")
            )
    return told[:MOST]


def _places(page: PageLines, target: PageLine | None) -> dict[str, Of]:
    """Where elements are that stand near the one acted on: id -> that."""
    if target is None:
        return {}
    around: dict[str, Of] = dict.fromkeys((line.node_id for line in page.around(target)), "around")
    return around | dict.fromkeys((line.node_id for line in page.inside(target)), "within") | {target.node_id: "target"}


def _closed(found: Sequence[Happening], page: PageLines, target: PageLine | None) -> PageLine | None:
    """The outermost element around the one acted on that went with all that is inside of it: a dialog, a list of
    suggestions."""
    gone = Counter(_told(one.before) for one in found if one.before and one.effect.what == "removed")
    around = page.around(target) if target is not None else ()
    whole = [line for line in around if not Counter(map(_told, (line, *page.inside(line)))) - gone]
    return whole[-1] if whole else None


def _told(line: PageLine) -> tuple[str, str, str]:
    return line.node_id, line.role, line.name


def _counts_off(one: Happening, going: Counter[tuple[str, str, str]]) -> bool:
    """Whether a happening is one of those that are going, each of which is counted once."""
    is_going = one.effect.what == "removed" and one.before is not None and going[_told(one.before)] > 0
    if is_going and one.before is not None:
        going[_told(one.before)] -= 1
    return is_going


def _effect_in_words(one: Happening, words: Words, of: Of) -> Effect:
    effect = one.effect
    if of == "around" and effect.what == "removed":  # not with all that is in it
        of = "named"
    return replace(
        effect,
        of=of,
        name="" if of == "target" else words.marked(effect.name),
        before={key: words.marked(value) for key, value in effect.before.items()} if of != "target" else {},
        after={key: _marked(value, words) for key, value in effect.after.items()},
        renamed=None if effect.renamed is None else words.marked(effect.renamed),
    )


def _marked(value: str, words: Words) -> str:
    """The value of a property, with marks inside of its quotes."""
    return repr(words.marked(unquoted(value))) if value[:1] in QUOTES and len(value) > 1 else value


def applied(effects: Iterable[Effect], page: PageLines, action: Action) -> list[Happening]:
    """The effects on this page. An effect whose element is not on the page does not happen."""
    words, target = Words(action, page.at(action.node_id)), page.at(action.node_id)
    found: list[Happening] = []
    gone: set[int] = set()  # lines that are removed already: of two alike, each effect takes one
    for effect in effects:
        filled = replace(
            effect,
            name=words.filled(effect.name),
            before={key: words.filled(value) for key, value in effect.before.items()},
            after={key: _filled(value, words) for key, value in effect.after.items()},
            renamed=None if effect.renamed is None else words.filled(effect.renamed),
        )
        here = _here(filled, page, target, gone)
        by_action = effect.of == "within" and VALUE in effect.name  # it is about no other element than that
        found += [one for one in here if not by_action or one.before is None or one.before.name == filled.name]
    # what is chosen anew is no other one that had been chosen before
    return [one for one in found if not (action.value and _lets_go(one, action.value))]


def _lets_go(one: Happening, chosen: str) -> bool:
    """Whether the option that the action itself chooses would not be chosen any more."""
    is_it = one.before is not None and one.before.name == chosen
    return is_it and one.effect.after.get("selected", "").lower() == "false"


def _filled(value: str, words: Words) -> str:
    return repr(words.filled(unquoted(value))) if value[:1] in QUOTES and len(value) > 1 else value


def _here(effect: Effect, page: PageLines, target: PageLine | None, gone: set[int]) -> Iterator[Happening]:
    if effect.what == "added":
        yield Happening(effect, None, PageLine("", effect.role, effect.name))
        return
    for line in _meant(effect, page, target, gone):
        own = replace(_turned(effect, line), name=line.name, role=line.role, of="named")
        if effect.what == "removed":
            gone.add(id(line))
            yield Happening(own, line)
        elif differs(line, own):
            yield Happening(own, line, _after(line, own))


def _turned(effect: Effect, line: PageLine) -> Effect:
    """The effect on the element that was acted on, as the state of this one is: what checks a box that is not checked
    takes that back where it is."""
    turns = effect.of == "target" and effect.role not in STAYS_SET and line.role == effect.role
    kept = {key: value for key, value in effect.after.items() if not (turns and key in TURNED)}
    turned = {
        key: OTHER_STATE[line.properties[key]]
        for key in effect.after
        if key not in kept and line.properties.get(key) in OTHER_STATE
    }
    return replace(effect, after={**kept, **turned}) if turned else effect


def differs(line: PageLine, effect: Effect) -> bool:
    """Whether the effect would change anything of this element."""
    properties = any(line.properties.get(key, GONE) != value for key, value in effect.after.items())
    return properties or effect.renamed not in (None, line.name)


def _after(line: PageLine, effect: Effect) -> PageLine:
    properties = {key: value for key, value in {**line.properties, **effect.after}.items() if value != GONE}
    return replace(line, name=line.name if effect.renamed is None else effect.renamed, properties=properties)


def _meant(effect: Effect, page: PageLines, target: PageLine | None, gone: set[int]) -> Sequence[PageLine]:
    """The elements of this page that an effect is on: the one that is acted on, all of a role, one of that name (inside
    of the one acted on, where it was inside of it before), or else the only one in the state of `before`."""
    if effect.of == "target":
        return [target] if target is not None else []
    if effect.of == "all":
        return page.of_role(effect.role)
    if effect.of == "around":
        outer = next((line for line in page.around(target) if line.role == effect.role), None) if target else None
        inside = page.inside(outer) if outer and effect.what == "removed" else ()
        return [line for line in (outer, *inside) if line and id(line) not in gone]
    if effect.of == "within" and target is not None:
        inside = [line for line in page.inside(target) if line.role == effect.role and _is_in(line, effect.before)]
        same = [line for line in inside if line.name == effect.name and id(line) not in gone]
        return same[:1] or (inside if effect.what == "changed" and len(inside) == 1 else [])
    # what an action did to another element it does not do to the one acted on, nor to one in another state
    others = [line for line in page.named(effect.role, effect.name) if line is not target and id(line) not in gone]
    if others or effect.what == "removed":
        return [line for line in others if _is_in(line, effect.before)][:1]
    others = [line for line in page.of_role(effect.role) if line is not target and _is_in(line, effect.before)]
    if target is not None and len(others) > 1 and effect.role == target.role and effect.before:
        return [page.nearest(target, others)]  # of several groups of radio buttons, one of its own
    return others if len(others) == 1 else []


def _is_in(line: PageLine, state: Mapping[str, str]) -> bool:
    return all(line.properties.get(key, GONE) == value for key, value in state.items())


def difference_of(found: Sequence[Happening]) -> PageDifference:
    """The happenings as a difference of two pages. Added elements have no number yet."""
    added = [one.after.item() for one in found if one.before is None and one.after]
    removed = [one.before.item() for one in found if one.after is None and one.before]
    changed = [Change(one.before.item(), one.after.item()) for one in found if one.before and one.after]
    return PageDifference(tuple(added), tuple(removed), tuple(changed))


def facts(found: Iterable[Happening]) -> Counter[str]:
    """The facts of these happenings, each with the number of times it holds."""
    return Counter(fact for one in found for fact in one.effect.facts())


def agreement(one: Counter[str], other: Counter[str]) -> float:
    """F1 of two sets of facts; 1 where both are empty."""
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0

"""Settings that declare themselves: type, default, choices, bounds and one sentence each. Core.

A group of settings is a frozen dataclass, a `SettingGroup`, whose fields are made by `setting`. What checks, asks for,
shows, describes or compares settings reads the declarations here, so that a new one is a line in its group.
"""

import dataclasses
import math
import re
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from annotations.extensions import SETTINGS, added

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


class OutOfBounds(ValueError):
    """A value that its declaration does not allow; one that was stored before is read all the same (`as_stored`)."""


JSON_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}


@dataclass(frozen=True)
class Declared:
    """The declaration of a setting; `kind` (bool, int, float, str) and `default` come from its field."""

    words: str
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    above: float | None = None  # the value must exceed it
    zero_or: float | None = None  # the value is 0, or at least this
    pattern: str = ""  # of a text: the regular expression that it fulfils
    written: str = ""  # that in words
    kind: type = str
    default: Any = None
    added: bool = False  # by another package, or when recipes had been hashed without it
    set_by: str = ""  # what to change instead, of one that no stage reads
    repeats: str = ""  # of a training: the setting of a recipe, by its dotted name, that says the same

    def check(self, name: str, value: Any) -> None:
        """ValueError naming what is allowed, unless `value` is: OutOfBounds where it is no choice of several."""
        if self.choices:
            one_of(name, value, self.choices)
        elif isinstance(value, str):
            self._check_text(name, value)
        elif not self._holds(value):
            verb = "be" if self.most is None or self.above is not None else "lie in"
            raise OutOfBounds(f"{name} must {verb} {self.bounds}, got {value}")

    def _check_text(self, name: str, value: str) -> None:
        if self.pattern and not re.fullmatch(self.pattern, value):
            raise OutOfBounds(f"{name} must be {self.written}, got {value!r}")
        if value != value.strip():
            raise OutOfBounds(f"{name} must begin and end without a space, got {value!r}")

    def parse(self, name: str, text: str) -> Any:
        """The value that a text stands for; it is checked where it is set."""
        return parsed(name, self.kind, text)

    @property
    def bounds(self) -> str:
        """The bounds in words, "" without any."""
        if self.pattern:
            return self.written
        if self.zero_or is not None:
            return f"0, or at least {self.zero_or:g}"
        if self.most is not None and self.above is not None:
            return f"above {self.above:g}, at most {self.most:g}"
        if self.most is not None:
            return f"{self.least or 0:g}..{self.most:g}"
        if self.above is not None:
            return f"above {self.above:g}"
        return "" if self.least is None else f"at least {self.least:g}"

    @property
    def allowed(self) -> str:
        """Choices or bounds in words, "" where anything goes."""
        return ", ".join(self.choices) or self.bounds

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the setting, as OpenAPI 3.0 writes it."""
        found = {"type": JSON_TYPES[self.kind], "default": self.default, "description": self.words}
        if self.choices:
            found["enum"] = list(self.choices)
        if self.pattern:
            found["pattern"] = f"^({self.pattern})$"
        if self.least is not None:
            found["minimum"] = self.least
        if self.above is not None:
            found |= {"minimum": self.above, "exclusiveMinimum": True}
        if self.most is not None:
            found["maximum"] = self.most
        return found

    def text_schema(self) -> dict[str, Any]:
        """The JSON schema of its value written as text."""
        choices = self.choices or (("true", "false") if self.kind is bool else ())
        found = {"type": "string", "description": f"{self.words}; {self.bounds}" if self.bounds else self.words}
        return found | ({"enum": list(choices)} if choices else {})

    def _holds(self, value: Any) -> bool:
        """Whether a number lies within the bounds. nan lies within none."""
        return (
            (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (self.above is None or value > self.above)
            and (self.zero_or is None or value == 0 or value >= self.zero_or)
        )


def setting(
    default: Any,
    words: str,
    *,
    choices: tuple[str, ...] = (),
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    zero_or: float | None = None,
    pattern: str = "",
    written: str = "",
    added: bool = False,
    set_by: str = "",
    repeats: str = "",
) -> Any:
    """A field of a `SettingGroup`. The choices of a `Literal` need not be repeated. A setting that is `added` later
    does not change the hash of recipes until somebody sets another value."""
    declared = Declared(
        words, choices, least, most, above, zero_or, pattern, written, added=added, set_by=set_by, repeats=repeats
    )
    return dataclasses.field(default=default, metadata={"declared": declared})


def same(group: type, name: str, default: Any = dataclasses.MISSING, **changes: Any) -> Any:
    """A field that repeats the setting of another group, such as a recipe's setting in a training; `changes` of its
    declaration, such as other bounds."""
    stage = getattr(group, "stage", "")
    own = {"repeats": f"{stage}.{name}"} if stage else {}
    declared = dataclasses.replace(declarations(group)[name], **own | changes)
    default = declared.default if default is dataclasses.MISSING else default
    return dataclasses.field(default=default, metadata={"declared": declared})


def extended(group: type[T]) -> type[T]:
    """The group with settings that other packages add to its stage by entry point: name `plan.mine`, value a `setting`.
    ValueError names one that is no setting, or not new."""
    fields = [_added(group, point) for point in added(SETTINGS).values() if point.name.startswith(f"{group.stage}.")]  # type: ignore[attr-defined]
    if not fields:
        return group
    namespace = {"__doc__": group.__doc__, "__module__": group.__module__}
    made: type[T] = dataclasses.make_dataclass(group.__name__, fields, bases=(group,), namespace=namespace, frozen=True)
    return made


def _added(group: type, point: EntryPoint) -> tuple[str, type, Any]:
    name, found = point.name.partition(".")[2], point.load()
    known = {field.name for field in dataclasses.fields(group)}
    if name in known or not isinstance(found, dataclasses.Field) or "declared" not in found.metadata:
        raise ValueError(f"the entry point {point.name!r} of {SETTINGS} is no new setting of {group.__name__}")
    declared = dataclasses.replace(found.metadata["declared"], added=True)
    return name, type(found.default), dataclasses.field(default=found.default, metadata={"declared": declared})


class SettingGroup:
    """The base of a group of settings. Values are checked when an instance is made, but for those that `as_stored`
    reads."""

    stage: ClassVar[str] = ""  # the first part of its settings' dotted names

    def __post_init__(self) -> None:
        prefix = f"{self.stage}." if self.stage else ""
        for name, declared in declarations(type(self)).items():
            declared.check(prefix + name, getattr(self, name))


def as_stored(group: type[T], values: Mapping[str, Any]) -> T:
    """A group with the values that somebody stored, also those that bounds of today do not allow. ValueError and
    TypeError where they are none of this group for another reason."""
    try:
        return group(**values)
    except OutOfBounds:
        made = object.__new__(group)
    for each in dataclasses.fields(group):
        given = each.default_factory() if callable(each.default_factory) else each.default
        object.__setattr__(made, each.name, values.get(each.name, given))
    for name, declared in declarations(group).items():
        with suppress(OutOfBounds):
            declared.check(name, getattr(made, name))
    return made


def with_values(settings: T, **values: Any) -> T:
    """A group with some other values; those that were stored in it stay, whatever bounds say today."""
    own = {each.name: getattr(settings, each.name) for each in dataclasses.fields(settings)}
    return as_stored(type(settings), own | values)


def out_of_bounds(settings: "DataclassInstance") -> dict[str, str]:
    """Dotted name -> what is wrong with it, of each value that was stored and that bounds of today do not allow."""
    found = {}
    for name, declared in settings_of(type(settings)).items():
        try:
            declared.check(name, value_of(settings, name))
        except OutOfBounds as error:
            found[name] = str(error)
    return found


def declarations(group: type) -> dict[str, Declared]:
    """Name -> declaration of each setting of the group itself."""
    return _declarations(group)


@cache  # every group is checked where it is made
def _declarations(group: type) -> dict[str, Declared]:
    return {field.name: _of_field(field) for field in dataclasses.fields(group) if "declared" in field.metadata}


def groups(group: type) -> dict[str, type]:
    """Name -> group, of each field that holds a group of its own."""
    fields = dataclasses.fields(group)
    return {f.name: f.type for f in fields if isinstance(f.type, type) and dataclasses.is_dataclass(f.type)}


def settings_of(group: type) -> dict[str, Declared]:
    """Dotted name -> declaration of each setting of a group and of the groups within, in order."""
    return dict(_settings_of(group))


def values_of(settings: "DataclassInstance") -> dict[str, Any]:
    """Dotted name -> value of every declared setting, in order."""
    return {name: read(settings) for name, read in _readers(type(settings)).items()}


def value_of(settings: "DataclassInstance", name: str) -> Any:
    """The value of one setting, by its dotted name."""
    return _readers(type(settings))[name](settings)


def replaced(settings: T, name: str, text: str) -> T:
    """A group with one setting changed by dotted name, its value given as text. ValueError names what is wrong."""
    changed = replaced_by_stored(settings, name, text)
    settings_of(type(changed))[name].check(name, value_of(changed, name))
    return changed


def replaced_by_stored(settings: T, name: str, text: str) -> T:
    """`replaced` with a value that was stored, which bounds of today need not allow."""
    changed: T = _replaced(settings, name, name.split("."), text)
    return changed


def schema(group: type) -> dict[str, Any]:
    """The JSON schema of a group with those within; fields that are no settings are left to the caller."""
    inner = {name: schema(kind) for name, kind in groups(group).items()}
    own = {name: declared.schema() for name, declared in declarations(group).items()}
    ordered = [field.name for field in dataclasses.fields(group)]
    properties = {name: (inner | own)[name] for name in ordered if name in inner or name in own}
    required = [name for name in properties if name in inner or not declarations(group)[name].added]
    return {"type": "object", "properties": properties, "required": required}


def one_of(name: str, value: str, choices: tuple[str, ...]) -> None:
    """ValueError naming the choices unless `value` is one of them."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}")


def parsed(name: str, kind: type, text: str) -> Any:
    """A text as bool, int, float or str. ValueError for one that is none, and for what is no finite number."""
    try:
        value = {"true": True, "false": False}[text.lower()] if kind is bool else kind(text)
    except (ValueError, KeyError) as error:
        raise ValueError(f"{name} must be {kind.__name__}, got {text!r}") from error
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {text!r}")
    return value


def _of_field(field: dataclasses.Field[Any]) -> Declared:
    declared: Declared = field.metadata["declared"]
    is_literal = typing.get_origin(field.type) is Literal
    choices = typing.get_args(field.type) if is_literal else declared.choices
    kind: Any = str if is_literal else field.type
    return dataclasses.replace(declared, choices=choices, kind=kind, default=field.default)


@cache  # pages and forms ask for the settings of a recipe hundreds of times
def _settings_of(group: type) -> dict[str, Declared]:
    return dict(_named(group, ""))


def _named(group: type, prefix: str) -> Iterator[tuple[str, Declared]]:
    inner, own = groups(group), declarations(group)
    for field in dataclasses.fields(group):
        if field.name in inner:
            yield from _named(inner[field.name], f"{prefix}{field.name}.")
        elif field.name in own:
            yield prefix + field.name, own[field.name]


@cache  # what checks a recipe asks for its values a hundred times
def _readers(group: type) -> dict[str, Callable[[Any], Any]]:
    return {name: attrgetter(name) for name in _settings_of(group)}


def _replaced(settings: Any, name: str, parts: list[str], text: str) -> Any:
    own, inner, first = declarations(type(settings)), groups(type(settings)), parts[0]
    if first not in own and first not in inner:
        raise ValueError(f"there is no setting {name!r}; here one may set: {', '.join(sorted([*own, *inner]))}")
    if first in own and len(parts) > 1:
        above = name.removesuffix("." + ".".join(parts[1:]))
        raise ValueError(f"there is no setting {name!r}: {above} is a plain value")
    if first in inner and len(parts) == 1:
        listed = ", ".join(f"{name}.{within}" for within in settings_of(inner[first]))
        raise ValueError(f"{name} is a group of settings: {listed}")
    if first in inner:
        value = _replaced(getattr(settings, first), name, parts[1:], text)
    else:
        value = own[first].parse(name, text)
    return with_values(settings, **{first: value})

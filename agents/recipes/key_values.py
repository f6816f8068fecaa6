"""Settings as people write them, in a command or a form: key=value, one after the other."""

from collections.abc import Iterable


def settings_given(written: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Dotted name -> value as text, of texts "key=value", each with where it is written. ValueError, which begins with
    that, for another text, and for a key that comes twice."""
    found: dict[str, str] = {}
    for where, text in written:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not key:
            raise ValueError(f"{where} takes key=value, got {text!r}")
        if key in found:
            raise ValueError(f"{where} gives {key} twice: {found[key]} and {value}")
        found[key] = value
    return found

"""Prompt files with `{{name}}` placeholders, filled strictly and literally. Core.

Pages and instructions are full of braces, dollar signs and percent signs: a value is inserted as it is and never read
again, so a page that contains `{{instruction}}` shows just that.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
_PLACEHOLDER = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")


@dataclass(frozen=True)
class Prompt:
    """A prompt's text without its last line break; `sha256` is that of the file, in hexadecimal."""

    name: str
    text: str
    sha256: str

    def placeholders(self) -> frozenset[str]:
        return frozenset(_PLACEHOLDER.findall(self.text))

    def pairs(self) -> list[tuple[str, str]]:
        """(question, answer) of worked examples, which the file parts by lines of "=====" and each by "-----"."""
        found = []
        for example in self.text.split("\n=====\n"):
            question, answer = example.split("\n-----\n")
            found.append((question, answer))
        return found

    def fill(self, **values: object) -> str:
        """The text with each `{{name}}` replaced by `str(value)`. ValueError names what is missing or unknown."""
        wanted = self.placeholders()
        wrong = [
            f"{label} {', '.join(sorted(names))}"
            for label, names in (("has no value for", wanted - values.keys()), ("does not use", values.keys() - wanted))
            if names
        ]
        if wrong:
            raise ValueError(f"the prompt {self.name!r} {' and '.join(wrong)}")
        return _PLACEHOLDER.sub(lambda match: str(values[match[1]]), self.text)


@cache
def load(name: str) -> Prompt:
    """The prompt in `agents/prompts/<name>.txt`; ValueError lists the choices."""
    if name not in names():
        raise ValueError(f"there is no prompt {name!r}; choose one of {', '.join(names())}")
    source = (FOLDER / f"{name}.txt").read_bytes()
    text = source.decode("utf-8")
    return Prompt(name, text.removesuffix("\n"), hashlib.sha256(source).hexdigest())


def names() -> list[str]:
    """Every prompt there is, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.txt"))

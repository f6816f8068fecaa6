"""Packs: the texts of one author in one version, and the packaged pack `webnav`. Core."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from agents.prompts.catalogue import TEXTS, check_text
from agents.prompts.marks import BadText
from agents.prompts.render import Prompt

FOLDER = Path(__file__).parent / "webnav"
PACKAGED = "webnav"
REFERENCE = re.compile(r"([a-z0-9][a-z0-9_-]*)(?:@([1-9][0-9]{0,8}))?")
# A text of the packaged pack that changes gets the pack a new version here: its number -> what `Pack.sha256` was.
VERSIONS = {
    1: "61ab532bbf48157f6cdb4690c903efc0a5986d81df2b433e2fa1c7a6e5268255",
    2: "40442a13731535412dacf91902203399b7675ef60f35a57d2bb65b34186c4cc3",
    3: "98938abed8580debc99923613d6c0b6a5ba466602bd25e65b9b568474f889c18",
    4: "2c7b9f7019768fe9cd9abdb4c45c59878ba1fe0ca0f4a8636e324679f3c8367d",
    5: "36f86a1da6b49bc08bd3007708bf417a83eecf37778c3644d765a5505b81fda4",
    6: "b538e5456112166c1b6ea75b21ab4d62d8d9d1d4f4780d094fba6b617aafb269",
    7: "5a74bc5a51e821dba170dc2deb101152d1e75744b0a0452ba04dfa1660786268",
    8: "9d480b5c875d3003f5a5a457e64a462c7d431e65b70b2bac53d1492f38d89ba1",
    9: "c8d05b34559169a22f8d30809bf19979e03042e057d7d6eb155b41af50d59668",
    10: "c4374d693e37c9c1e39e5290a2b21f568f495c6ec0a32a66b98fa099137882ec",
    11: "52a2eafd2cad6a1c0cf6d56cb1d4fc19fb6b8b6e51b64f1e985f5ee6368ec19f",
}


class NoSuchText(ValueError):
    """A pack lacks a text, or there is no such pack; the message names it."""


@dataclass(frozen=True, eq=False)
class Pack:
    """Texts by name. Two packs with the same texts have the same `sha256`, whatever they are called."""

    name: str
    version: int
    texts: Mapping[str, str]

    @property
    def reference(self) -> str:
        """The name, with the version, by which a recipe refers to the pack (`prompts.pack`)."""
        return PACKAGED if self.name == PACKAGED else f"{self.name}@{self.version}"

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(json.dumps(dict(self.texts), sort_keys=True).encode()).hexdigest()

    def prompt(self, name: str) -> Prompt:
        """The text of that name. Raises NoSuchText."""
        if name not in self.texts:
            raise NoSuchText(f"the prompt pack {self.reference} has no text {name!r}")
        return Prompt(name, self.texts[name])

    def words(self, name: str) -> str:
        """The text as it is, "" where the pack has none: for texts of which a recipe uses some only."""
        return self.texts.get(name, "")


@cache
def webnav() -> Pack:
    """The texts that come with WebNav, each without the last line break of its file."""
    files = sorted(FOLDER.glob("*.txt"))
    texts = {path.stem: path.read_bytes().decode().removesuffix("\n") for path in files}
    return checked(Pack(PACKAGED, max(VERSIONS), texts))


def packaged_pack(reference: str) -> Pack | None:
    """The packaged pack, where a `prompts.pack` names it: there is one version of it. Raises NoSuchText."""
    name, version = parted(reference)
    if name == PACKAGED and version not in (None, webnav().version):
        raise NoSuchText(f"there is no {reference}: {PACKAGED} has version {webnav().version} here")
    return webnav() if name == PACKAGED else None


def checked(pack: Pack) -> Pack:
    """The pack itself. BadText names the text that is not valid, and why."""
    if not pack.texts:
        raise BadText("a pack has at least one text")
    for name, text in pack.texts.items():
        try:
            check_text(name, text)
        except BadText as error:
            raise BadText(f"{name}: {error}" if name in TEXTS else str(error)) from error
    return pack


def parted(reference: str) -> tuple[str, int | None]:
    """Name and version of a `prompts.pack`; no version: the newest. Raises NoSuchText."""
    found = REFERENCE.fullmatch(reference)
    if found is None or len(reference) > 100:
        raise NoSuchText(f"prompts.pack={reference[:40]!r} names no pack: write {PACKAGED}, NAME or NAME@VERSION")
    return found[1], int(found[2]) if found[2] else None

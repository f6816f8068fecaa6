"""The lock files of all dependencies: every version with its hashes, for each Python we support. `make lock` writes
them.

`common.lock` is installed everywhere; `torch.lock` has the registry's build of torch with its CUDA libraries. Where pip
is set up to find another build (2.13.0+cpu, say), that one is taken by its version alone, as its hash is not known
here. `weights.lock` is kept by hand: packages of which only files are used (weights, pages) and that need what nothing
here uses. Imports no other room.
"""

import importlib.metadata
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.requirements import Requirement

FOLDER = Path(__file__).parent
REQUIREMENTS = FOLDER.parent.parent / "requirements.txt"
OF_TORCH = re.compile(r"(torch|triton|cuda-\w+|nvidia-(?!ml-py).+)==")
COMPILE = ("uv", "pip", "compile", "--no-config", "--quiet", "--universal", "--python-version", "3.11")
STYLE = ("--generate-hashes", "--no-annotate", "--no-header")


def write() -> None:
    """Resolve the dependencies again, keeping every version that is installed here where the requirements allow it."""
    with TemporaryDirectory() as folder:
        lock = Path(folder) / "all.lock"
        installed = {found.name: found.version.partition("+")[0] for found in importlib.metadata.distributions()}
        lock.write_text("".join(f"{name}=={version}\n" for name, version in sorted(installed.items())))
        command = [sys.executable, "-m", *COMPILE, *STYLE, str(REQUIREMENTS), "--output-file", str(lock)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        found = list(blocks(lock.read_text()))
    for name, belongs in (("torch", True), ("common", False)):
        text = "".join(block for block in found if bool(OF_TORCH.match(block)) is belongs)
        (FOLDER / f"{name}.lock").write_text(text)


def blocks(text: str) -> Iterator[str]:
    """The requirements of a lock file, each with its hashes."""
    yield from re.findall(r"^\S.*\n(?:[ ].*\n)*", text, re.MULTILINE)


def locked() -> dict[str, str]:
    """Package name -> locked version, of both files."""
    found = {}
    for path in FOLDER.glob("*.lock"):
        for block in blocks(path.read_text()):
            name, _, version = block.split()[0].partition("==")
            found[name] = version
    return found


def required() -> list[Requirement]:
    """The requirements in requirements.txt."""
    lines = (line.partition(" #")[0].strip() for line in REQUIREMENTS.read_text().splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def problems(requirements: Iterable[Requirement], lock: dict[str, str]) -> Iterator[str]:
    """Sentences on where the lock differs from the requirements, or lacks what they need on this Python."""
    waiting = list(requirements)
    for requirement in waiting:
        version = lock.get(key(requirement.name))
        if version is None or not requirement.specifier.contains(version):
            yield f"{requirement} is required, and {version or 'nothing'} is locked"
    seen = set()
    while waiting:
        requirement = waiting.pop()
        if str(requirement) not in seen:
            seen.add(str(requirement))
            waiting += needs(requirement)
    for name in sorted({key(Requirement(text).name) for text in seen} - lock.keys()):
        yield f"{name} is needed by what is required, and is not locked"


def needs(requirement: Requirement) -> list[Requirement]:
    """The requirements of an installed package here; [] where it is not for this Python."""
    if requirement.marker and not requirement.marker.evaluate():
        return []
    found = map(Requirement, importlib.metadata.requires(requirement.name) or [])
    extras = requirement.extras or {""}
    return [need for need in found if not need.marker or any(need.marker.evaluate({"extra": name}) for name in extras)]


def key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()

"""Ask for known vulnerabilities of everything that is installed; says so where nobody could be asked."""

import importlib.metadata
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

KNOWN = "django"  # on every list of vulnerabilities: when nobody knows it, there is nobody to ask


def audited(packages: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """What pip-audit found about each of the packages; empty where it cannot ask at all."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "installed.txt"
        file.write_text("".join(f"{name}=={version}\n" for name, version in packages))
        options = ("--disable-pip", "--no-deps", "--progress-spinner", "off", "--format", "json", "--timeout", "10")
        command = [sys.executable, "-m", "pip_audit", *options, "--requirement", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    try:
        return json.loads(done.stdout)["dependencies"]
    except ValueError:
        return []


def report(packages: list[tuple[str, str]]) -> int:
    """Print what is known; 1 when something is vulnerable."""
    probe = [found for found in audited((name, version) for name, version in packages if name == KNOWN)]
    if not [found for found in probe if "skip_reason" not in found]:
        sys.stdout.write("webnav: pip-audit could NOT ask for known vulnerabilities from here: nothing was audited\n")
        return 0
    results = audited(packages)
    asked = [found for found in results if "skip_reason" not in found]
    vulnerable = [(found["name"], found["version"], item["id"]) for found in asked for item in found["vulns"]]
    sys.stdout.write(f"webnav: pip-audit asked about {len(asked)} of {len(packages)} packages\n")
    for name, version, identifier in vulnerable:
        sys.stdout.write(f"webnav: {name} {version} is vulnerable: {identifier}\n")
    return bool(vulnerable)


if __name__ == "__main__":
    installed = {found.name.lower(): found.version.partition("+")[0] for found in importlib.metadata.distributions()}
    sys.exit(report(sorted(installed.items())))

"""Ways of putting text into pages that have made other tools vulnerable do not occur in the sources."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
APPS = ("annotations", "agents", "evaluation", "webnav_site")
# What, where, and why not.
BANNED = [
    (r"\|\s*safe\b|\bmark_safe\b|\bSafeString\(|{%\s*autoescape off", "html py", "writes text as markup"),
    (r"\b(inner|outer)HTML\b|insertAdjacentHTML|document\.write|\bsetHTMLUnsafe\b", "js html", "writes text as markup"),
    (r"allow-same-origin|allow-top-navigation|allow-popups", "html js py", "lets a page out of its sandbox"),
    (r"\beval\(|new Function\(|javascript:", "js html", "runs text"),
    (r"\|\s*truncate(chars|words)_html", "html", "is slow on hostile markup"),
    (r"lxml\.html\.clean|lxml_html_clean", "py", "is no security boundary"),
    (r"resolve_entities\s*=\s*True|no_network\s*=\s*False", "py", "reads entities or fetches"),
    (r"\bon[a-z]+\s*=\s*[\"']", "html", "is a handler that the policy forbids"),
    (r"<script(?![^>]*\bsrc=)(?![^>]*json)[^>]*>", "html", "is an inline script that the policy forbids"),
    (r"\sstyle=\"", "html", "is an inline style that the policy forbids"),
]


def sources(suffix: str) -> list[Path]:
    folders = [ROOT / name for name in (*APPS, "templates", "static")]
    # The sample's websites are recorded pages: what they say is data.
    found = (path for folder in folders for path in folder.rglob(f"*.{suffix}"))
    return [path for path in found if "sample" not in path.parts]


@pytest.mark.parametrize(("pattern", "suffixes", "reason"), BANNED, ids=[reason for _, _, reason in BANNED])
def test_sources_do_not_hold_what(pattern, suffixes, reason):
    lines = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for suffix in suffixes.split()
        for path in sources(suffix)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if re.search(pattern, line)
    ]
    assert lines == [], f"this {reason}"


def test_the_sources_are_found():
    assert {path.suffix for suffix in ("py", "html", "js") for path in sources(suffix)} == {".py", ".html", ".js"}

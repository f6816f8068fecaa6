"""What the product defines, the product uses: a public function or class that only tests call is none of its.

Read by words, without comments, docstrings and imports, as that takes half a second where syntax trees take five.
"""

import re
from collections import Counter
from collections.abc import Iterator

from tests.test_imports import ROOT, modules

# Published texts and decisions as their authors ran them, which the conformance cases hold. Of some the product does
# the same in batches, over rows or by another model, and these say that it is the same; trajectories of WebArena, a
# target's lines and a shortened history are here for who compares with the published code, and nothing makes them.
PUBLISHED = {
    "agents.memory.workflow_text": {"abstract_trajectory", "webarena_actions", "webarena_trajectory"},
    "agents.stages.recall.select": {"select_multifaceted"},
    "agents.words.trajectory_page": {"target_observation"},
    "agents.world_model.records": {"read_published"},
    "agents.weblinx.prompt": {"best_candidates", "turn_candidates"},
    "agents.weblinx.truncation": {"truncate_history_text"},
    "annotations.dom.differences.published": {"published_text"},
    "evaluation.metrics.aggregate": {"aggregate_corrected", "aggregate_faithful"},
}
# The address of a page for who asks by the page alone, with the check that this needs: what the product shows it has
# found by a row that may be seen. Tests of the second origin ask by it.
BY_PAGE = {"annotations.pages.snapshot_host": {"snapshot_url"}}
# Called by Django, Celery, REST and others by their names, or by the commands of operators.
CALLED_BY_NAME = {"Command"}
REGISTERS = r"@[\w.]*\b(?:register|connect|receiver|shared_task|task|action|simple_tag|inclusion_tag|filter)\b"
DEFINITION = re.compile(r"^((?:@.*\n(?:[ )].*\n)*)*)(?:async )?(?:def|class) ([A-Za-z]\w*)", re.M)
METHOD = re.compile(r"^((?: {4}@.*\n)*) {4}(?:async )?def ([a-z]\w*)\(", re.M)
NO_USE = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""'  # docstrings
    r"|#[^\n\"']*$"
    r"|^ *from [\w.]+ import (?:\([^)]*\)|.*)$"
    r"|^__all__ = \[[^\]]*\]"
    r"|\b(?:def|class) \w+",
    re.M,
)
OTHER_TEXTS = ("Procfile", "Makefile", "pyproject.toml", "requirements.txt", "manage.py")


def words_of(source: str) -> Counter[str]:
    return Counter(re.findall(r"[A-Za-z_]\w*", NO_USE.sub("", source)))


def defined_in(module: str, source: str) -> Iterator[str]:
    """Public functions and classes of a module, and methods of models, that nothing registers."""
    pattern = [DEFINITION, METHOD] if ".models" in module else [DEFINITION]
    for found in (found for one in pattern for found in one.finditer(source)):
        if not re.search(REGISTERS, found[1]) and not found[2].endswith("Config"):
            yield found[2]


SETTINGS = "webnav_site.settings"  # and those of accounts, API and Celery beside it: Django reads them by name


def unused(sources: dict[str, str], texts: str = "") -> dict[str, set[str]]:
    """Module -> what it defines and nobody names."""
    used = words_of(texts)
    for source in sources.values():
        used += words_of(source)
    defined = {module: list(defined_in(module, source)) for module, source in sources.items()}
    found = {module: {name for name in names if not used[name]} for module, names in defined.items()}
    return {module: names for module, names in found.items() if names}


def test_what_the_product_defines_the_product_uses() -> None:
    all_of_them = {name: path.read_text("utf-8") for name, path in modules().items()}
    settings = [text for name, text in all_of_them.items() if name.startswith(SETTINGS)]
    sources = {name: text for name, text in all_of_them.items() if not name.startswith(SETTINGS)}
    templates = [path.read_text("utf-8") for path in (ROOT / "templates").rglob("*.html")]
    texts = "\n".join([*settings, *templates, *((ROOT / name).read_text("utf-8") for name in OTHER_TEXTS)])
    found = {module: names - CALLED_BY_NAME for module, names in unused(sources, texts).items()}
    assert {module: names for module, names in found.items() if names} == PUBLISHED | BY_PAGE


def test_what_only_its_own_docstring_an_import_or_all_names_is_unused() -> None:
    sources = {
        "a": 'def left():\n    """As `left` does."""\n\n\nclass Used: pass\n\n\n@register.filter\ndef shown(): pass\n',
        "b": 'from a import (\n    Used,\n    left,\n)\n\n__all__ = ["left"]\nUsed()  # not left\n',
        "c.models": "class Row(Used):\n    def gone(self): ...\n\n    def kept(self): ...\n",
    }
    assert unused(sources, "{{ row.kept }} Row") == {"a": {"left"}, "c.models": {"gone"}}

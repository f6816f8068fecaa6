"""What the product defines, the product uses: a public function, class or constant that only tests call is none of its,
and a private one is used by its own module.

Read by words, without comments, docstrings and imports, as that takes half a second where syntax trees take five.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from tests.test_imports import ROOT, imports, modules

# Published texts and decisions as their authors ran them, which the conformance cases hold. Of some the product does
# the same in batches, over rows or by another model, and these say that it is the same; trajectories of WebArena, a
# target's lines and a shortened history are here for who compares with the published code, and nothing makes them.
PUBLISHED = {
    "agents.memory.workflows.text": {"abstract_trajectory", "webarena_actions", "webarena_trajectory"},
    "agents.stages.recall.select": {"select_multifaceted"},
    "agents.words.trajectory_page": {"target_observation"},
    "agents.world_model.records": {"read_published"},
    "agents.weblinx.prompt": {"best_candidates", "turn_candidates"},
    "agents.weblinx.quirks": {"CRASHING"},
    "agents.weblinx.truncation": {"truncate_history_text"},
    "annotations.dom.differences.published": {"published_text"},
    "evaluation.metrics.aggregate": {"aggregate_corrected", "aggregate_faithful"},
}
# The address of a page for who asks by the page alone, with the check that this needs: what the product shows it has
# found by a row that may be seen. Tests of the second origin ask by it.
BY_PAGE = {"annotations.pages.snapshot_host": {"snapshot_url"}}
# Every name that a rendered page may have, for tests that parse one again; and modules that are only to be loaded.
SAID = {"annotations.dom.allowed": {"ALLOWED_TAGS", "ALLOWED_ATTRIBUTES"}, "agents.programs.inside": {"LOADED"}}
# Methods of other libraries' classes that ours override.
OVERRIDDEN = {
    "agents.connections.forms": {"_post_clean"},
    "annotations.access.backends": {"_validate_session_key"},
    "annotations.access.sign_in.identities": {"_decode_id_token"},
    "annotations.storage.folder": {"_save"},
}
# Called by Django, Celery, REST and others by their names, or by the commands of operators.
CALLED_BY_NAME = {"Command"}
REGISTERS = r"@[\w.]*\b(?:register|connect|receiver|shared_task|task|action|simple_tag|inclusion_tag|filter)\b"
DEFINITION = re.compile(r"^((?:@.*\n(?:[ )].*\n)*)*)(?:async )?(?:def|class) ([A-Za-z]\w*)", re.M)
CONSTANT = re.compile(r"^()([A-Z]\w*)(?:: [^=\n]+)? = ", re.M)
_IS_PRIVATE = r"(?:(?:async )?def |class |(?=\w+(?:: [^=\n]+)? = ))(_[A-Za-z]\w*)"
PRIVATE = re.compile(rf"^((?:@.*\n(?:[ )].*\n)*)*){_IS_PRIVATE}", re.M)
PRIVATE_INSIDE = re.compile(rf"^((?: {{4}}@.*\n)*) {{4}}{_IS_PRIVATE}", re.M)
METHOD = re.compile(r"^((?: {4}@.*\n)*) {4}(?:async )?def ([a-z]\w*)\(", re.M)
NO_USE = re.compile(
    r'"""(?:[^"\\]|\\[\s\S]|"(?!""))*"""'  # docstrings
    r"|#[^\n\"']*$"
    r"|^ *from [\w.]+ import (?:\([^)]*\)|.*)$"
    r"|^__all__ = \[[^\]]*\]"
    r"|^[A-Z]\w*(?=(?:: [^=\n]+)? = )"
    r"|\b(?:def|class) \w+",
    re.M,
)
OTHER_TEXTS = ("Procfile", "Makefile", "pyproject.toml", "requirements.txt", "manage.py")


def words_of(source: str) -> Counter[str]:
    return Counter(re.findall(r"[A-Za-z_]\w*", NO_USE.sub("", source)))


def defined_in(module: str, source: str) -> Iterator[str]:
    """Public functions, classes and constants of a module, and methods of models, that nothing registers."""
    pattern = [DEFINITION, CONSTANT, METHOD] if ".models" in module else [DEFINITION, CONSTANT]
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


def private_unused(
    sources: dict[str, str], known: Callable[[str], Iterable[tuple[str, int]]] = imports
) -> dict[str, set[str]]:
    """Module -> its private functions, classes and constants, and those of its classes, that nothing in it names beside
    themselves: but for what is registered, and methods that a module has too which it imports."""
    found: dict[str, set[str]] = {}
    for module, source in sources.items():
        used = words_of(source)
        for pattern, end in ((PRIVATE, r"\n(?=[^\s)\]}])"), (PRIVATE_INSIDE, r"\n(?= {0,4}[^\s)\]}])")):
            for one in pattern.finditer(source):
                own = words_of(re.split(end, source[one.end(1) :], maxsplit=1)[0])
                if used[one[2]] > own[one[2]] or re.search(REGISTERS, one[1]):
                    continue
                bases = [sources.get(base, "") for base, _ in known(module)] if pattern is PRIVATE_INSIDE else []
                if not any(re.search(rf"\b{one[2]}\b", base) for base in bases):
                    found.setdefault(module, set()).add(one[2])
    return found


def test_what_is_private_is_used_by_its_module() -> None:
    assert private_unused({name: path.read_text("utf-8") for name, path in modules().items()}) == OVERRIDDEN


def test_what_is_private_and_unused_is_found() -> None:
    source = """
_USED, _GONE = 1, 2
_LEFT: int = 3


@dataclass
class _Row:
    _width = _USED
    _height = 2

    def _walk(self, deeper: int) -> "_Row":
        return self._walk(
            self._width,
        )


def _again(
    deeper: int,
) -> int:
    return _again(deeper)


@receiver(post_save)
def _saved(**_: object) -> None: ...


def shown() -> int:
    return _called()


def _called() -> int: ...
"""
    gone = {"_LEFT", "_Row", "_height", "_walk", "_again"}
    base = "class Rows:\n    def _walk(self): ..."
    assert private_unused({"a": source}, lambda _: ()) == {"a": gone}
    assert private_unused({"a": source, "b": f"{base}\n\n    made = _walk"}, lambda _: [("b", 1)]) == {
        "a": gone - {"_walk"}
    }


def test_what_the_product_defines_the_product_uses() -> None:
    all_of_them = {name: path.read_text("utf-8") for name, path in modules().items()}
    settings = [text for name, text in all_of_them.items() if name.startswith(SETTINGS)]
    sources = {name: text for name, text in all_of_them.items() if not name.startswith(SETTINGS)}
    templates = [path.read_text("utf-8") for path in (ROOT / "templates").rglob("*.html")]
    texts = "\n".join([*settings, *templates, *((ROOT / name).read_text("utf-8") for name in OTHER_TEXTS)])
    found = {module: names - CALLED_BY_NAME for module, names in unused(sources, texts).items()}
    assert {module: names for module, names in found.items() if names} == PUBLISHED | BY_PAGE | SAID


def test_what_only_its_own_docstring_an_import_or_all_names_is_unused() -> None:
    sources = {
        "a": 'def left():\n    """As `left` does."""\n\n\nclass Used: pass\n\n\n@register.filter\ndef shown(): pass\n',
        "b": 'from a import (\n    Used,\n    left,\n)\n\n__all__ = ["left"]\nUsed()  # not left\n',
        "c.models": "class Row(Used):\n    def gone(self): ...\n\n    def kept(self): ...\n",
    }
    assert unused(sources, "{{ row.kept }} Row") == {"a": {"left"}, "c.models": {"gone"}}

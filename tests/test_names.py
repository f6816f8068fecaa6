"""No two classes of the product share a name: a name that is read in one room means the same in every other."""

import ast
from collections import defaultdict

from annotations.text.stop_words import NO_TOPIC
from tests.test_imports import modules

EVERYWHERE = {"Command"}  # Django asks for this name in every management command


def top_level_classes(source: str) -> list[str]:
    """The classes that a module offers. Those inside another, like `Run.State`, go by both names."""
    return [node.name for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]


def shared_names(sources: dict[str, str]) -> dict[str, list[str]]:
    """Class name -> the modules that have it, for names that more than one module has."""
    homes = defaultdict(list)
    for module, source in sources.items():
        for name in top_level_classes(source):
            homes[name].append(module)
    return {name: found for name, found in homes.items() if len(found) > 1 and name not in EVERYWHERE}


def test_no_class_name_is_there_twice() -> None:
    assert shared_names({module: path.read_text("utf-8") for module, path in modules().items()}) == {}


def test_a_shared_name_is_found() -> None:
    nested = "class Run:\n    class State: pass"
    assert shared_names({"a": "class Row: pass", "b": "class Row: pass", "c": nested, "d": nested}) == {
        "Row": ["a", "b"],
        "Run": ["c", "d"],
    }


def word_lists(source: str) -> list[str]:
    """Texts of a module that list stop words: many words, half of them such that every purpose passes over."""
    strings = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    found = (set(text.split()) for text in strings if isinstance(text, str))
    return [" ".join(words) for words in found if len(words & NO_TOPIC) > 15 and len(words & NO_TOPIC) * 2 > len(words)]


def test_stop_words_are_listed_in_one_module() -> None:
    sources = {module: path.read_text("utf-8") for module, path in modules().items()}
    assert [module for module, source in sources.items() if word_lists(source)] == ["annotations.text.stop_words"]

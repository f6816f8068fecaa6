"""An app knows nothing of the apps above it by the names that their rows have lent to its own: a field of theirs that
points at one of ours gives ours a related name. What a lower app needs of a higher one is handed over (`ready()`).
SQL of its own knows none of their tables either."""

import ast
import re
from collections.abc import Iterator

from tests.finding_views import relations_told
from tests.test_imports import APPS, ROOT, is_core, modules, owner, templates

ORDER = APPS[:3]
# Modules in which such a word is something else: whole words of requests and reports, and attributes of other things.
MEANS_OTHERWISE = {
    "agents.management.commands.convert_scores": {"scores"},  # of a file of rankings
    "agents.management.commands.measure_world_model": {"scores"},  # of how well it foresaw
    "annotations.models.corpus.conversations": {"models"},  # who wrote rationales: people or models
    "annotations.models.jobs.jobs": {"transitions"},  # a kind of job
    "annotations.releases.checking": {"scanned"},  # how many texts were
    "annotations.releases.datasheet": {"scanned"},
    "annotations.releases.scanning": {"scanned"},
    "annotations.tell.audit_views": {"models"},  # a field of its form
    "annotations.work.verify.curation_page": {"runs"},  # of words in a difference
    "annotations.work.verify.gold": {"runs"},  # of words in a difference
    "annotations.work.verify.page": {"runs"},
}
TEMPLATES_MEAN_OTHERWISE = {"templates/releases/new.html": {"scanned"}}


def lent() -> dict[str, set[str]]:
    """App -> the names by which its rows, and those of apps below it, reach rows of the apps above it."""
    told: dict[str, set[str]] = {app: set() for app in ORDER}
    for name, path in modules().items():
        if ".models" in name and name.partition(".")[0] in told:
            told[name.partition(".")[0]] |= relations_told(path.read_text("utf-8"))
    below = {app: set().union(*(told[one] for one in ORDER[: place + 1])) for place, app in enumerate(ORDER)}
    return {app: set().union(*told.values()) - below[app] for app in ORDER}


def used(source: str, names: set[str]) -> Iterator[tuple[str, int]]:
    """(name, line) of attributes, look-ups and texts that are such a name or a path through one."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            words = {node.attr}
        elif isinstance(node, ast.keyword) and node.arg:
            words = set(node.arg.split("__"))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"-?\w+", node.value):
            words = set(node.value.removeprefix("-").split("__"))
        else:
            continue
        line = node.value.lineno if isinstance(node, ast.keyword) else node.lineno
        yield from ((word, line) for word in words & names)


def used_in_template(text: str, names: set[str]) -> set[str]:
    tags = " ".join(re.findall(r"{[{%].*?[%}]}", text, re.DOTALL))
    return names & set(re.findall(r"\.(\w+)", tags))


def test_no_app_reaches_up_by_a_related_name() -> None:
    names, found = lent(), []
    for module, path in modules().items():
        app = module.partition(".")[0]
        if app in names and not is_core(module):
            left = names[app] - MEANS_OTHERWISE.get(module, set())
            found += [f"{module}:{line} uses {name}" for name, line in used(path.read_text("utf-8"), left)]
    assert found == []


def test_no_template_reaches_up_by_a_related_name() -> None:
    names, found = lent(), {}
    for name, text in templates().items():
        if (app := owner(name)) in names:
            found[f"templates/{name}"] = used_in_template(text, names[app])
    assert len(found) > 30
    assert {name: words for name, words in found.items() if words - TEMPLATES_MEAN_OTHERWISE.get(name, set())} == {}


def tables_above(app: str, source: str) -> set[str]:
    """Tables of apps above this one that its SQL names: what begins with such an app, in texts of any kind."""
    above = "|".join(ORDER[ORDER.index(app) + 1 :])
    texts = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    named = re.compile(rf"\b(?:{above})_[a-z]\w+") if above else None
    return {name for text in texts if named and isinstance(text, str) for name in named.findall(text)}


def test_no_sql_of_an_app_names_tables_of_apps_above() -> None:
    paths = [*modules().values(), *(path for app in ORDER for path in (ROOT / app / "migrations").glob("*.py"))]
    by_app = [(path.relative_to(ROOT).parts[0], path) for path in paths]
    found = {str(path): tables_above(app, path.read_text("utf-8")) for app, path in by_app if app in ORDER}
    assert len(found) > 700
    assert {name: tables for name, tables in found.items() if tables} == {}


def test_a_table_of_an_app_above_is_found() -> None:
    source = (
        'cursor.execute("select 1 from agents_run r join evaluation_shard s on true")\nrows.raw(f"{one} agents_run")'
    )
    assert tables_above("annotations", source) == {"agents_run", "evaluation_shard"}
    assert tables_above("agents", source) == {"evaluation_shard"}
    assert tables_above("evaluation", source) == set()


def test_what_means_something_else_is_there() -> None:
    names = lent()
    for module, words in MEANS_OTHERWISE.items():
        there = {name for name, _ in used(modules()[module].read_text("utf-8"), names[module.partition(".")[0]])}
        assert there >= words, module


def test_what_is_lent_is_found() -> None:
    assert {"trajectories", "trained_models", "studies"} <= lent()["annotations"]
    assert "studies" in lent()["agents"] - lent()["evaluation"]
    assert "trajectories" not in lent()["agents"]
    assert lent()["evaluation"] == set()


def test_a_way_up_is_found() -> None:
    source = """
found.studies.first()
Job.objects.filter(trained_models__isnull=False)
rows.prefetch_related("studies__runs").order_by("-studies")
rows.exclude(studies=None)
NumberFilter(field_name="studies")
"told of studies"
getattr(row, "guardrule_set")
"""
    names = {"studies", "trained_models", "guardrule_set"}
    assert sorted(set(used(source, names)), key=lambda one: one[::-1]) == [
        ("studies", 2),
        ("trained_models", 3),
        ("studies", 4),
        ("studies", 5),
        ("studies", 6),
        ("guardrule_set", 8),
    ]
    assert used_in_template("{% for one in run.studies.all %}run.trained_models{% endfor %}", names) == {"studies"}

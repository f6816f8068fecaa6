"""Who may import whom: the two tables of the import rule, read from the syntax trees, and a start without torch."""

import ast
import gc
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

import pytest


@pytest.fixture(scope="module", autouse=True)
def _nothing_to_collect() -> None:
    """Python 3.11 ends `ast.parse` with a SystemError when an object that is collected meanwhile raises."""
    gc.collect()


ROOT = Path(__file__).resolve().parent.parent
APPS = ("annotations", "agents", "evaluation", "webnav_site")
MAY_IMPORT = {
    "annotations": {"annotations"},
    "agents": {"agents", "annotations"},
    "evaluation": {"evaluation", "agents", "annotations"},
    "webnav_site": set(APPS),
}
# Whose the templates of a folder are: they include and extend those of apps that theirs may import. What lies beside
# the folders is the frame of every page (`base.html`, what begins with an underscore, and errors by their number),
# or a page of the site; below `admin/` Django looks for those of an app in a folder of its name.
TEMPLATES = {
    "annotations": "account annotate annotations mfa releases socialaccount".split(),
    "agents": ["agents"],
    "evaluation": "evaluation home".split(),
    "webnav_site": "api operations".split(),
}
FRAME = "the frame"
# What a page is handed by a higher app comes with the template that shows it.
HANDED_OVER = {("agents/recipe.html", "scored.template")}
# The wings of each app, lowest first: a wing may import those before it in its list, never one after it; where a module
# of a wing has a place of its own, that is its place. What an app has beside its wings (admin, urls, tasks, commands)
# wires them together, and no wing imports it. There are no exceptions.
WINGS = {
    "annotations": """
        environment extensions public_addresses forms paging admin_base shown_progress dom sandbox datasets text
        agreement hosts monitor storage models
        access tell pages corpus jobs retention
        edits work.decompose work.rewrite campaigns.propose campaigns.queue campaigns work.release
        desk.put_right desk.moving_on desk.write desk.keys desk.discuss work.organise work.verify
        work.api releases sample
    """.split(),
    "agents": """
        prompts encoders weblinx types world_model guard models llm environments programs
        recipes trace observations words learned generators
        stages.state stages.kind stages.known stages.models stages.answering
        stages.observe stages.rank stages.recall stages.simplify stages.compose stages.plan stages.imagine stages.act
        stages cookbook memory pipeline replay runs live holding training recipe_pages proposals packs connections
        retention
    """.split(),
    "evaluation": """
        metrics asking.definition scanners models asking scores folds reviews judges explaining guard probes reports
        external comparing studies teaching bench
    """.split(),
}
# What lies at the top of an app beside its wings, and may import all of them: nothing else does, so that no hall grows
# there. Django looks for `management` and `templatetags`, and `migrations`, which are not read here.
TOP = {
    "annotations": "admin apps management tasks templatetags urls".split(),
    "agents": "admin apps management urls".split(),
    "evaluation": "admin apps management tasks urls".split(),
    "webnav_site": """
        admin api apps asgi backups celery chromium edge embedded frame health locks management monitor rest serve
        settings settings_accounts settings_api settings_jobs settings_origins shared_cache sharing snapshot_urls
        supervision urls workers
    """.split(),
}
# What lies beside commands and beside the wings, where Django looks for it.
WIRED = {
    "annotations": {"management.named", "templatetags.shown"},
    "agents": {"management.changes", "management.memory_jobs"},
    "evaluation": {"management.acting"},
    "webnav_site": set(),
}
# Of the eight stages, which rooms of others each may import; what more than one needs lies below them all.
STAGES: dict[str, set[str]] = {
    "observe": set(),
    "rank": set(),
    "recall": set(),
    "simplify": set(),
    "compose": {"simplify"},
    "plan": {"rank", "simplify", "compose"},
    "imagine": set(),
    "act": set(),
}
# Modules that work without a database: ranking, planning, DOM code, dataset formats, metrics.
CORE = """
    annotations.environment annotations.extensions annotations.datasets annotations.datasets.* annotations.dom
    annotations.dom.* annotations.sandbox
    annotations.sandbox.* annotations.text annotations.text.* annotations.monitor.spans annotations.sample
    annotations.sample.* annotations.releases.leakage annotations.releases.privacy
    annotations.work.decompose annotations.work.decompose.* annotations.work.rewrite annotations.work.rewrite.*
    annotations.work.organise.grouping annotations.agreement
    annotations.public_addresses annotations.edits.mentions
    annotations.edits.edit_ops annotations.edits.warned agents.types agents.pipeline
    agents.trace agents.encoders
    agents.encoders.* agents.recipes agents.recipes.* agents.cookbook.checking agents.cookbook.sentences
    agents.cookbook.drawing agents.cookbook.lacking agents.cookbook.learnt_from agents.stages agents.stages.*
    agents.words agents.words.* agents.generators agents.generators.* agents.learned agents.learned.*
    agents.memory.workflows.text agents.llm agents.llm.*
    agents.prompts agents.prompts.*
    agents.weblinx agents.weblinx.* agents.environments agents.environments.* agents.programs agents.programs.*
    agents.world_model agents.world_model.*
    agents.guard agents.guard.*
    agents.training agents.training.settings agents.training.fit.loop agents.training.fit.checkpoint
    agents.training.fit.weights agents.training.samples.examples agents.training.samples.pairs
    agents.training.samples.tokens agents.training.samples.history agents.training.samples.left_out
    agents.training.kinds.ranking agents.training.kinds.language agents.training.trained.card agents.training.unpacking
    evaluation.scores.judging evaluation.asking.definition evaluation.metrics evaluation.metrics.*
    evaluation.scanners evaluation.scanners.* evaluation.folds.dividing evaluation.folds.plotting
    evaluation.folds.results evaluation.folds.kept evaluation.folds.sources evaluation.folds.telling
""".split()
SHELL = {
    "annotations.sample.campaigns",
    "annotations.sample.project",
    "agents.llm.stored_endpoints",
    "agents.llm.stored",
    "agents.llm.vectors",
}  # in a core's room, and the only ones there that store
SHELL_PACKAGES = {
    "django",
    "celery",
    "channels",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "django_filters",
    "pgvector",
    "psycopg",
    "redis",
    "asgiref",
}
# Modules that the web process loads, by their last word: job_views, account_api, page_admin and the like too.
WEB = {"models", "views", "api", "admin", "urls", "forms", "serializers", "consumers", "routing", "filters", "apps"}
MODEL_PACKAGES = {"torch", "transformers", "playwright"}
# Functions that load a module, or a name in it, by a text.
LOADING = {"import_module", "__import__", "import_string", "find_spec", "resolve_name", "run_module", "locate"}
GETTING = {"get_model", "get_app_config"}  # functions of Django that find an app's models by its name
# Modules that load what a table or the settings name.
BY_TABLE = {
    "annotations.datasets",
    "webnav_site.asgi",
    "webnav_site.edge.accounts",
    "agents.llm.embedded",
    "agents.environments.harnesses.browsergym_side",
}
# Core modules that are nothing without torch, and those that load them.
NETWORKS = tuple(f"agents.learned.{name}" for name in ("network", "flat", "fit", "measure", "model", "train"))


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    """Every module of the apps, migrations left out."""
    files = [path for app in APPS for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts]
    return {module_name(path): path for path in sorted(files)}


@cache
def imports(module: str) -> tuple[tuple[str, int], ...]:
    """(imported module, line) of a module, those inside functions, under TYPE_CHECKING and by a string included."""
    path = modules()[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    return tuple(_imports(ast.parse(path.read_text("utf-8")), package))


def _imports(tree: ast.AST, package: str) -> Iterator[tuple[str, int]]:
    for call in calls_that_load(tree):
        if name := _loaded(call, package):
            yield name, call.lineno
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            name = ".".join(part for part in (base, node.module or "") if part)
            for (
                alias
            ) in node.names:  # `from agents.runs import events` names a module, `from agents.runs.events import x` not
                inner = f"{name}.{alias.name}"
                yield (inner if inner in modules() else name), node.lineno


def calls_that_load(tree: ast.AST) -> list[ast.Call]:
    """Calls of functions that load a module or find models by a name, whatever they are called here."""
    nodes = list(ast.walk(tree))
    aliases = [alias for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names if alias.asname]
    known = LOADING | GETTING | {alias.asname for alias in aliases if alias.name in LOADING}
    calls = [node for node in nodes if isinstance(node, ast.Call) and (node.args or node.keywords)]
    return [call for call in calls if ast.unparse(call.func).rpartition(".")[2] in known]


def name_given(call: ast.Call) -> str | None:
    """The text by which a call names what it loads, where it stands there."""
    first = call.args[0] if call.args else call.keywords[0].value
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


def _loaded(call: ast.Call, package: str) -> str:
    """The module that a call loads by a string which stands there: as a whole, or for a name in it."""
    if (named := name_given(call)) is None:
        return ""
    if ast.unparse(call.func).rpartition(".")[2] in GETTING:
        return f"{named.partition('.')[0]}.models" if named.partition(".")[0] in APPS else ""
    name = resolve_name(named, package) if named.startswith(".") else named.replace(":", ".")
    while name not in modules() and name.partition(".")[0] in APPS and "." in name:
        name = name.rpartition(".")[0]
    return name


def is_core(module: str) -> bool:
    return module not in SHELL and any(fnmatch(module, pattern) for pattern in CORE)


def wing_of(module: str) -> int | None:
    """Its wing's place in the order of its app, None for what wires an app together."""
    app, _, inner = module.partition(".")
    homes = [(len(wing), place) for place, wing in enumerate(WINGS.get(app, ())) if f"{inner}.".startswith(f"{wing}.")]
    return max(homes)[1] if homes else None


def is_against_the_order(module: str, imported: str) -> bool:
    """Whether a module of a wing imports from a later wing of its app, or from what wires the app together."""
    own, other = wing_of(module), wing_of(imported)
    if own is None or module.partition(".")[0] != imported.partition(".")[0] or is_package_of_wings(imported):
        return False
    return other is None or other > own


def is_package_of_wings(module: str) -> bool:
    return any(f"{app}.{wing}".startswith(f"{module}.") for app, wings in WINGS.items() for wing in wings)


def is_web(module: str) -> bool:
    words = {part.rpartition("_")[2] for part in module.split(".")[1:]}
    return bool(words & WEB)


def where(module: str, line: int) -> str:
    return f"{modules()[module].relative_to(ROOT)}:{line}"


def test_the_apps_are_found() -> None:
    assert {name.partition(".")[0] for name in modules()} == set(APPS)
    assert ("agents.recipes.literature", "agents.pipeline") in {
        (imported, module) for module in modules() for imported, _ in imports(module)
    }
    assert any(is_core(name) for name in modules())
    assert sum(is_web(name) for name in modules()) > 20


@pytest.mark.parametrize("app", APPS)
def test_apps_import_in_one_direction_only(app) -> None:
    """`annotations <- agents <- evaluation`; webnav_site wires them and nobody imports it."""
    wrong = [
        f"{where(module, line)} imports {imported}"
        for module in modules()
        if module.split(".")[0] == app
        for imported, line in imports(module)
        if imported.split(".")[0] in of_the_root() - MAY_IMPORT[app]
    ]
    assert wrong == []


def named_from_above(app: str, source: str) -> list[tuple[str, int]]:
    """(text, line) of texts that are the name of an app which this one may not import, or a place in it: rows that a
    field points to ("evaluation.Study"), messages to workers, what registries and loaders are asked for."""
    texts = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    named = [(node.value, node.lineno) for node in texts if isinstance(node.value, str)]
    above = set(APPS) - MAY_IMPORT[app]
    return [(text, line) for text, line in named if re.split("[.:]", text)[0] in above and PLACE.fullmatch(text)]


PLACE = re.compile(r"\w+(?:[.:]\w+)*")


def test_no_text_names_an_app_above() -> None:
    wrong = {
        where(module, line): text
        for module, path in modules().items()
        for text, line in named_from_above(module.partition(".")[0], path.read_text("utf-8"))
    }
    assert wrong == {}


def test_a_text_that_names_an_app_above_is_found() -> None:
    source = """
study = models.ForeignKey("evaluation.Study", models.CASCADE, related_name="+")
current_app.send_task("evaluation.tasks.work_on_shard")
load = importlib.import_module
load("agents.runs.runner")
apps.all_models["agents"]
sys.modules["evaluation.bench"]
ContentType.objects.get_by_natural_key("evaluation", "study")
said = "evaluation of agents", "annotations.Step"
"""
    assert [line for _, line in named_from_above("annotations", source)] == [2, 3, 5, 6, 7, 8]
    assert [line for _, line in named_from_above("agents", source)] == [2, 3, 7, 8]
    assert named_from_above("evaluation", source) == []


@cache
def templates() -> dict[str, str]:
    """Name -> text of every template."""
    folder = ROOT / "templates"
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in sorted(folder.rglob("*.html"))}


def owner(template: str) -> str:
    """The app whose template this is, or the frame that pages of all apps share."""
    folder, slash, inner = template.partition("/")
    if folder == "admin":
        return inner.partition("/")[0]
    if slash:
        return next(app for app, folders in TEMPLATES.items() if folder in folders)
    return FRAME if template[0] == "_" or template[0].isdigit() or template == "base.html" else "webnav_site"


TAKES_IN = re.compile(r"{%-?\s*(?:include|extends)\s+(\S+)")
NAMES_TEMPLATE = re.compile(r"(?:\w+/)*\w+\.html")


def templates_above(own: str, named: Iterable[str]) -> list[str]:
    """Those of them that belong to no app that this one may import; Django's own are nobody's."""
    below = MAY_IMPORT.get(own, set()) | {FRAME}
    return [name for name in named if name in templates() and owner(name) not in below]


def test_templates_take_in_those_of_their_app_and_of_apps_below() -> None:
    wrong, handed_over = [], set()
    for name, text in templates().items():
        given = TAKES_IN.findall(text)
        handed_over |= {(name, one) for one in given if one[0] not in "\"'"}
        wrong += [(name, one) for one in templates_above(owner(name), (one.strip("\"'") for one in given))]
    assert wrong == []
    assert handed_over == HANDED_OVER


def test_modules_name_templates_of_their_app_and_of_apps_below() -> None:
    wrong = []
    for module, path in modules().items():
        texts = (node.value for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Constant))
        named = [text for text in texts if isinstance(text, str) and NAMES_TEMPLATE.fullmatch(text)]
        wrong += [(module, name) for name in templates_above(module.partition(".")[0], named)]
    assert wrong == []


def test_a_template_that_takes_in_one_from_above_is_found() -> None:
    assert templates_above("annotations", ["evaluation/_interval.html", "_pages.html", "admin/change_list.html"]) == [
        "evaluation/_interval.html"
    ]
    assert templates_above("agents", ["evaluation/home.html", "annotate/_to_do.html"]) == ["evaluation/home.html"]
    assert templates_above("evaluation", ["annotate/_to_do.html", "operations.html"]) == ["operations.html"]
    assert templates_above(FRAME, ["annotate/_to_do.html", "base.html"]) == ["annotate/_to_do.html"]
    assert TAKES_IN.findall("{% include 'a/_b.html' with c=d %}{%- extends one.template %}") == [
        "'a/_b.html'",
        "one.template",
    ]


@cache
def of_the_root() -> frozenset[str]:
    """What lies beside the apps and can be imported: tests, and whatever folder or file somebody adds."""
    return frozenset(path.stem for path in ROOT.iterdir() if path.is_dir() or path.suffix == ".py")


def test_what_lies_beside_the_apps_is_imported_by_none() -> None:
    assert set(APPS) | {"tests", "manage"} <= of_the_root()
    assert {"tests", "manage"} & set.union(*MAY_IMPORT.values()) == set()


@pytest.mark.parametrize("app", WINGS)
def test_wings_import_in_one_direction_only(app) -> None:
    against = [
        f"{where(module, line)} imports {imported}"
        for module in modules()
        if module.split(".")[0] == app
        for imported, line in imports(module)
        if is_against_the_order(module, imported)
    ]
    assert against == []


CIRCLES = {  # files, or rooms, that know each other, and why
    (
        "annotations.models.work.assignments",
        "annotations.models.work.items",
        "annotations.models.work.queue",
    ): "an item has assignments, and an assignment an item: imported for types alone, as a set that needs the other "
    "row while it runs asks Django's relation for its model (`related_model`)",
    ("agents.memory.fitting", "agents.memory.transitions"): "what is remembered is fitted once it is asked for",
}


SHELVES = {  # folders that hold rooms for the eye alone, each with a place of its own in the order, and why
    "annotations.work": "the five steps lie together, so that the folders name them: decompose, rewrite and release "
    "know nothing of the desk on which people write, and organise and verify are pages above it",
}


def circles(imported: dict[str, set[str]]) -> set[tuple[str, ...]]:
    """Those of which each leads to each other by its imports."""
    reached: dict[str, set[str]] = {}
    for module in imported:
        found, waiting = set[str](), [module]
        while waiting:
            new = imported.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        reached[module] = found
    rings = (sorted(one for one in reached[module] if module in reached.get(one, ())) for module in imported)
    return {tuple(ring) for ring in rings if len(ring) > 1}


def rooms_on_the_way(module: str, shelves: Iterable[str]) -> list[str]:
    """The rooms in which a module lies, from its app down, and itself; a room's own file is `__init__` in it."""
    parts = (f"{module}.__init__" if module in rooms() else module).split(".")
    homes = [".".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
    return [home for home in homes if home not in shelves]


def neighbours(module: str, imported: str, shelves: Iterable[str] = SHELVES) -> tuple[str, str]:
    """The two rooms or files, side by side in one folder, of which one knows the other by an import."""
    ways = zip(rooms_on_the_way(module, shelves), rooms_on_the_way(imported, shelves), strict=False)
    return next((own, other) for own, other in ways if own != other)


def circles_of_neighbours(
    found: Callable[[str], Iterable[tuple[str, int]]] = imports, shelves: Iterable[str] = SHELVES
) -> set[tuple[str, ...]]:
    """Rooms and files of one folder that know each other. Imports inside functions and under TYPE_CHECKING count."""
    known: dict[str, set[str]] = {}
    for module in modules():
        for imported in {one for one, _ in found(module)} & modules().keys() - {module}:
            own, other = neighbours(module, imported, shelves)
            known.setdefault(own, set()).add(other)
    return circles(known)


def test_rooms_and_files_import_in_no_circle() -> None:
    """Files in a circle lie in one room, or their rooms are in one: so no circle of files is missed."""
    assert circles_of_neighbours() == set(CIRCLES)


def test_rooms_that_know_each_other_are_found() -> None:
    def one_more(importer: str, imported: str) -> set[tuple[str, ...]]:
        found = circles_of_neighbours(lambda name: (*imports(name), *([(imported, 1)] if name == importer else [])))
        return found - set(CIRCLES)

    assert one_more("agents.cookbook.saved", "agents.training.prepare.preparing") == {
        ("agents.cookbook", "agents.memory", "agents.runs", "agents.training")
    }
    assert one_more("webnav_site.edge.door", "webnav_site.health") == set()
    assert one_more("annotations.desk.write.document", "annotations.work.verify.page") == {
        ("annotations.desk", "annotations.work.verify")
    }
    assert one_more("agents.stages.kind", "agents.stages.plan.kinds") != set()


def test_no_shelf_is_a_room_in_truth() -> None:
    """Its rooms would be in a circle with what lies beside it, and each of them has a place in the order."""
    assert circles_of_neighbours(shelves=()) - set(CIRCLES) == {
        ("annotations.campaigns", "annotations.desk", "annotations.work")
    }
    for shelf in SHELVES:
        assert holds_no_code(modules()[shelf])
        assert all(wing_of(f"{shelf}.{room}") is not None for room in folders_of(shelf))


def stages_known_to(stage: str, found: Callable[[str], Iterable[tuple[str, int]]] = imports) -> set[str]:
    """The other stages that the files of one import from."""
    own = f"agents.stages.{stage}"
    of = {
        imported.split(".")[2]
        for name in modules()
        if f"{name}.".startswith(f"{own}.")
        for imported, _ in found(name)
        if imported.startswith("agents.stages.")
    }
    return of & STAGES.keys() - {stage}


def test_stages_know_only_the_stages_of_the_table() -> None:
    rooms_there = {name.split(".")[2] for name in rooms() if name.startswith("agents.stages.")}
    assert rooms_there == STAGES.keys()
    assert {stage: stages_known_to(stage) for stage in STAGES} == STAGES
    order = list(STAGES)
    assert all(order.index(other) < order.index(stage) for stage, others in STAGES.items() for other in others)


def test_a_stage_that_looks_ahead_is_found() -> None:
    assert stages_known_to("rank", lambda name: [("agents.stages.plan.kinds", 1), ("agents.types", 2)]) == {"plan"}
    assert is_against_the_order("agents.stages.rank.kinds", "agents.stages.plan.kinds")
    assert is_against_the_order("agents.stages.kind", "agents.stages.simplify.groups")
    assert is_against_the_order("agents.words.generator", "agents.stages.compose.pages")
    assert not is_against_the_order("agents.stages.plan.kinds", "agents.words.generator")


def test_a_circle_is_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == {("a", "b", "c")}


def test_every_wing_of_the_table_is_there_and_every_folder_is_in_the_table() -> None:
    named = {f"{app}.{wing}" for app, wings in WINGS.items() for wing in wings}
    assert named <= set(modules())
    wiring = {"management", "migrations", "templatetags"}
    folders = {
        name
        for name, path in modules().items()
        if path.name == "__init__.py" and name.count(".") == 1 and name.partition(".")[0] in WINGS
    }
    assert {name for name in folders if name.partition(".")[2] not in wiring} <= named | {
        "annotations.desk",
        "annotations.work",
    }


def at_the_top(app: str, names: Iterable[str]) -> set[str]:
    """Modules and folders that lie directly in an app and are no wing of it."""
    found = {name.split(".")[1] for name in names if name.startswith(f"{app}.")}
    return found - {wing.partition(".")[0] for wing in WINGS.get(app, ())}


@pytest.mark.parametrize("app", APPS)
def test_what_lies_at_the_top_of_an_app_is_named(app) -> None:
    assert at_the_top(app, modules()) == set(TOP[app])


def beside_the_wings(names: Iterable[str]) -> set[str]:
    """Modules of apps with wings that belong to none of them and lie deeper than at the top."""
    deeper = {name for name in names if name.partition(".")[0] in WINGS and name.count(".")}
    return {name for name in deeper if wing_of(name) is None and name.split(".")[1] not in TOP[name.split(".")[0]]}


def wired(app: str, names: Iterable[str]) -> set[str]:
    """What lies in the folders that Django looks for, beside commands."""
    inner = (name.removeprefix(f"{app}.") for name in names if name.startswith(f"{app}."))
    return {
        name
        for name in inner
        if name.startswith(("management.", "templatetags.")) and not name.startswith("management.commands")
    }


def test_every_module_has_a_wing_or_is_named() -> None:
    """But for the folders that hold wings, and no code."""
    assert beside_the_wings(modules()) == {"annotations.desk", "annotations.work"}
    assert all(holds_no_code(modules()[name]) for name in ("annotations.desk", "annotations.work"))
    assert {app: wired(app, modules()) for app in APPS} == WIRED


def test_a_module_without_a_wing_is_found() -> None:
    more = {"annotations.desk.hall.all", "annotations.work.everything", "annotations.desk.write.new"}
    assert beside_the_wings(more) == {"annotations.desk.hall.all", "annotations.work.everything"}
    assert wired("annotations", ["annotations.management.hall", "annotations.management.commands.one"]) == {
        "management.hall"
    }


def test_only_tables_and_settings_say_what_is_loaded_by_a_text_put_together() -> None:
    loading = {name: calls_that_load(ast.parse(path.read_text("utf-8"))) for name, path in modules().items()}
    assert {name for name, calls in loading.items() if any(name_given(call) is None for call in calls)} == BY_TABLE


def test_a_new_file_at_the_top_of_an_app_is_found() -> None:
    more = [*modules(), "annotations.everything", "agents.halls.wide"]
    assert at_the_top("annotations", more) - set(TOP["annotations"]) == {"everything"}
    assert at_the_top("agents", more) - set(TOP["agents"]) == {"halls"}


def test_a_module_that_is_loaded_by_its_name_is_imported() -> None:
    source = """
def run(app):
    importlib.import_module("evaluation.studies.running").work()
    __import__("torch")
    import_string("agents.runs.runner.run_conversations")
    import_module(".exporting", "annotations.corpus")
    import_module(READERS[name])
    import_module(name="agents.runs.runner")
    apps.get_model("evaluation", "Study")
    apps.get_model(app_label="agents", model_name="Run")
    load("evaluation.bench")


from importlib import import_module as load
pkgutil.resolve_name("evaluation.models:Study")
runpy.run_module("evaluation.tasks")
pydoc.locate("agents.runs.runner.run_conversations")
"""
    assert set(_imports(ast.parse(source), "annotations.corpus")) == {
        ("evaluation.studies.running", 3),
        ("torch", 4),
        ("agents.runs.runner", 5),
        ("annotations.corpus.exporting", 6),
        ("agents.runs.runner", 8),
        ("evaluation.models", 9),
        ("agents.models", 10),
        ("evaluation.bench", 11),
        ("importlib", 14),
        ("evaluation.models", 15),
        ("evaluation.tasks", 16),
        ("agents.runs.runner", 17),
    }


def folders_of(room: str) -> set[str]:
    """The rooms that lie in a folder."""
    return {name.removeprefix(f"{room}.") for name in rooms() if name.rpartition(".")[0] == room}


def test_the_list_of_folders_names_the_stages_and_the_steps() -> None:
    """And nothing else, so that who opens the repository finds them without being told."""
    assert folders_of("agents.stages") == set(STAGES)
    assert folders_of("annotations.work") == {"organise", "decompose", "rewrite", "verify", "release"}


def test_an_arrow_back_is_found() -> None:
    assert is_against_the_order("annotations.dom.tree", "annotations.models")
    assert is_against_the_order("annotations.corpus.store", "annotations.campaigns.queue.claiming")
    assert is_against_the_order("annotations.models.jobs.jobs", "annotations.tasks")
    assert is_against_the_order("agents.recipes.literature", "agents.stages.registry")
    assert is_against_the_order("agents.cookbook.saved", "agents.training.prepare.preparing")
    assert not is_against_the_order("annotations.campaigns.queue.claiming", "annotations.models")
    assert not is_against_the_order("annotations.urls", "annotations.corpus.browse.views")


def test_every_room_says_what_it_is_for() -> None:
    silent = [
        name
        for name, path in modules().items()
        if path.name == "__init__.py" and not (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").strip()
    ]
    assert silent == []


@cache
def rooms() -> frozenset[str]:
    return frozenset(name for name, path in modules().items() if path.name == "__init__.py")


def room_of(name: str) -> str:
    """The room that a module or a name in it belongs to."""
    while name not in rooms():
        name = name.rpartition(".")[0]
    return name


def imports_of_room(room: str) -> set[str]:
    """What a room may import, as its docstring should say it: its own app's rooms without the app, those of apps below
    by name where the room is core, and else the whole app."""
    app, found = room.partition(".")[0], set()
    for module in modules():
        if room_of(module) != room:
            continue
        for imported, _ in imports(module):
            of = imported.partition(".")[0]
            if of not in APPS or (there := room_of(imported)) in (room, app):
                continue
            found.add(there.removeprefix(f"{app}.") if of == app else there if is_core(room) else f"all of {of}")
    return found - set(APPS)


WIRING = re.compile(r"annotations|agents|evaluation|.*\.(management(\.commands)?|templatetags)")


@pytest.mark.parametrize("room", sorted(name for name in rooms() if not WIRING.fullmatch(name)))
def test_every_room_says_what_it_may_import(room: str) -> None:
    text = " ".join((ast.get_docstring(ast.parse(modules()[room].read_text("utf-8"))) or "").split())
    said = text.partition("May import ")[2]
    named = {name.replace("/", ".") for name in re.findall(r"`([\w/]+)`", said.partition("all of ")[0])}
    named |= {f"all of {app}" for app in re.findall(r"`(\w+)`", said.partition("all of ")[2])}
    assert named == imports_of_room(room), "after the words “May import”"
    assert said or "Imports no other room." in text


def test_annotations_never_import_torch() -> None:
    wrong = [
        f"{where(module, line)} imports {imported}"
        for module in modules()
        if module.split(".")[0] == "annotations"
        for imported, line in imports(module)
        if imported.split(".")[0] in {"torch", "transformers"}
    ]
    assert wrong == []


def test_core_modules_never_import_django_or_its_shell() -> None:
    wrong = [
        f"{where(module, line)} imports {imported}"
        for module in modules()
        if is_core(module)
        for imported, line in imports(module)
        if imported.split(".")[0] in SHELL_PACKAGES
    ]
    assert wrong == []


def test_the_type_checker_reads_every_app_and_the_core_strictly() -> None:
    checked = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]
    assert checked["files"] == [*APPS, "manage.py"]
    assert [sorted(part["module"]) for part in checked["overrides"] if part.get("disallow_untyped_defs")] == [
        sorted(CORE)
    ]
    let_off = [name for part in checked["overrides"] if part.get("ignore_errors") for name in part["module"]]
    assert [name for name in let_off if name.partition(".")[0] in APPS] == []


def test_core_modules_import_only_core_modules_of_the_project() -> None:
    """So that they meet no model and no Django on a detour either."""
    packages = {name for name, path in modules().items() if path.name == "__init__.py" and holds_no_code(path)}
    wrong = [
        f"{where(module, line)} imports {imported}"
        for module in modules()
        if is_core(module)
        for imported, line in imports(module)
        if imported.split(".")[0] in APPS and imported not in packages and not is_core(imported)
    ]
    assert wrong == []


def holds_no_code(path: Path) -> bool:
    """A room's docstring at most."""
    body = ast.parse(path.read_text("utf-8")).body
    return all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in body)


def test_modules_of_the_web_process_name_no_model_library() -> None:
    wrong = [
        f"{where(module, line)} imports {imported}"
        for module in modules()
        if is_web(module)
        for imported, line in imports(module)
        if imported.split(".")[0] in MODEL_PACKAGES
    ]
    assert wrong == []


CORE_ALONE = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print(",".join(sorted({name.partition(".")[0] for name in sys.modules} & {"django", "celery", "channels", "torch"})))
"""
WEB_ALONE = """
import django
django.setup()
from django.urls import get_resolver
import importlib, sys
importlib.import_module("webnav_site.asgi")
importlib.import_module("webnav_site.snapshot_urls")
get_resolver().url_patterns
from django.contrib import admin
admin.site.urls
from webnav_site.celery import app
app.loader.import_default_modules()
print(",".join(sorted({name.partition(".")[0] for name in sys.modules} & {"torch", "transformers", "playwright"})))
"""


def run_alone(script: str, *arguments: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=ROOT,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


def test_core_modules_load_without_django_and_without_torch() -> None:
    names = [name for name in modules() if is_core(name) and name not in NETWORKS]
    assert len(names) > 40
    assert run_alone(CORE_ALONE, *names) == ""


def test_the_web_process_and_the_task_modules_start_without_model_libraries() -> None:
    """URLs, ASGI, admin and Celery's tasks are loaded; torch comes in inside a task only."""
    databases = {"DATABASE_URL": "postgresql:///unused", "REDIS_URL": "redis://unused"}  # nothing is started
    assert run_alone(WEB_ALONE, DJANGO_SETTINGS_MODULE="tests.settings", **databases) == ""

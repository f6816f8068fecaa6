"""What a row can do is a method of its model; few functions of modules take one first, and no new ones come."""

import ast
import re
from collections import Counter

import pytest
from django.apps import apps

from tests.test_imports import APPS, modules

OURS = {model.__name__ for model in apps.get_models() if model._meta.app_label in APPS}
# Model -> how many functions of modules may take a row of it first, or several: what crosses models, reads files or
# needs a higher wing than the models'. Lower a number when one goes; before one is added, look whether it is a verb of
# the row, or of the QuerySet where it takes several. A model that is not named here has FEW at most.
# Of a Job those are the runners, one for each kind, in the wing that does the work; of a Dataset imports, exports,
# releases, memory and benchmarks; of an Assignment edits and proposals, whose operations are a core of their own; of a
# Run what decides, scores and reports, and tables and plots of several; of a Step what pages, agents and WebLINX's
# files make of it; of a Project the sample and what is told of it.
FEW = 2
MOST = {
    "Assignment": 22,
    "Campaign": 20,
    "Comment": 3,
    "Connection": 5,
    "Conversation": 10,
    "Dataset": 37,
    "Invite": 4,
    "Job": 28,
    "Membership": 3,
    "Project": 14,
    "Release": 8,
    "Review": 4,
    "Run": 37,
    "Session": 5,
    "Shard": 6,
    "Step": 23,
    "Study": 7,
    "Trajectory": 11,
    "TrajectoryStep": 3,
    "Turn": 5,
    "Workflow": 5,
}


def taking_first(tree: ast.Module) -> list[str]:
    """The type of the first argument of each function of a module that says it."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    firsts = [node.args.args[0].annotation for node in functions if node.args.args]
    return [ast.unparse(annotation) for annotation in firsts if annotation is not None]


def named_in(annotation: str) -> set[str]:
    """The names in a type: `Run` in `Run`, `Run | None`, `list[Run]`, "Run" in quotes, `QuerySet[Run]`; not `Run` in
    `Run.State`. Rows of `RunQuerySet` are those of `Run`."""
    return {name.removesuffix("QuerySet") for name in re.findall(r"(?<![\w.])\w+(?![\w.])", annotation)}


@pytest.fixture(scope="module")
def counts() -> Counter[str]:
    """By model; the sample sites have items of their own, which are data of a shop."""
    found: Counter[str] = Counter()
    for name, path in modules().items():
        if name.partition(".")[0] in APPS and not name.startswith("annotations.sample.sites"):
            for annotation in taking_first(ast.parse(path.read_text("utf-8"))):
                found.update(named_in(annotation))
    return found


@pytest.mark.parametrize("model", sorted(OURS))
def test_what_a_row_can_do_is_a_method_of_its_model(model, counts) -> None:
    assert counts[model] <= MOST.get(model, FEW)


def test_the_ceilings_are_of_models() -> None:
    assert set(MOST) <= OURS
    assert min(MOST.values()) > FEW


def test_a_function_that_takes_a_row_first_is_found() -> None:
    tree = ast.parse("def take(assignment: Assignment, user) -> None: ...\ndef other(user, item: Item) -> None: ...")
    assert taking_first(tree) == ["Assignment"]
    assert named_in("Sequence[Run] | None") == {"Sequence", "Run", "None"}
    assert named_in("RunQuerySet") == {"Run"}
    assert named_in("Run.State") == set()


def writers_of(names: set[str], source: str) -> set[str]:
    """Models of `names` of which a module stores rows."""
    calls = (node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    stored = (ast.unparse(call).split(".") for call in calls)
    made = {"create", "bulk_create", "get_or_create", "update_or_create"}
    return {parts[0] for parts in stored if parts[0] in names and parts[1:2] == ["objects"] and parts[-1] in made}


def test_conversations_are_written_by_one_module() -> None:
    """Imported or published; a benchmark makes rows of its own, which nobody keeps."""
    names = {"Conversation", "Turn", "Step", "Target"}
    found = {module for module, path in modules().items() if writers_of(names, path.read_text("utf-8"))}
    assert {module for module in found if not module.startswith("evaluation.bench")} == {"annotations.corpus.store"}


def test_a_module_that_writes_rows_is_found() -> None:
    assert writers_of({"Turn"}, "Turn.objects.create(index=1)\nTurn.objects.filter(index=1).get()") == {"Turn"}
    assert writers_of({"Turn"}, "Turn.objects.filter(index=1).update(index=2)\nStep.objects.create()") == set()


VIEWS = re.compile(r"(?:^|\.|_)(?:views|api|page|forms)$")
STORING = {"save", "create", "bulk_create", "bulk_update", "get_or_create", "update_or_create", "select_for_update"}
COUNTING = {"annotate", "aggregate", "alias", "raw", "extra"}  # what a set of rows says about itself
# Django's and REST's, which store their own row; a module of edits
OF_OTHERS = {"form", "serializer", "saving", "super()"}
DJANGOS = {"annotations.access.sign_in_views"}  # an account is a row of Django


def stores(source: str) -> list[int]:
    """Lines that store, lock or count what they have put together themselves, instead of asking rows for it."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    found = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in STORING | COUNTING]
    return [call.lineno for call in found if not OF_OTHERS & set(ast.unparse(call.func).split("."))]


def test_views_ask_rows_and_store_nothing_themselves() -> None:
    views = {name: path.read_text("utf-8") for name, path in modules().items() if VIEWS.search(name)}
    assert len(views) > 50
    assert {name: lines for name, text in views.items() if name not in DJANGOS and (lines := stores(text))} == {}


def test_a_view_that_stores_is_found() -> None:
    assert stores("hook.is_active = False\nhook.save()\nform.save()\nRow.objects.get_or_create(name=1)") == [2, 4]
    assert stores("Row.objects.create(name=1)\nsuper().create(request)\nrows.annotate(n=Count('x'))") == [1, 3]
    assert stores("rows.filter(pk=1)\nrows.select_for_update()\nsuper().save()") == [2]

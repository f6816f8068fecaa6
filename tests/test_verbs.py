"""What a row can do is a method of its model; few functions of modules take one first, and no new ones come."""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator
from functools import cache

import pytest

from tests.finding_views import bound_to, functions_of, relations_told, routed_modules, stores_by_itself, views_of
from tests.parsed_sources import parsed
from tests.test_imports import APPS, modules


def models_of(sources: Collection[str]) -> set[str]:
    """Classes that are models, by their bases; those that are abstract are none."""
    trees = (ast.parse(source) for source in sources)
    found = {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}
    named = {name: {ast.unparse(base) for base in node.bases} for name, node in found.items()}
    rows = {name for name, bases in named.items() if "models.Model" in bases}
    while more := {name for name, bases in named.items() if bases & rows} - rows:
        rows |= more
    return {name for name in rows if "abstract = True" not in ast.unparse(found[name])}


OURS = models_of([path.read_text("utf-8") for name, path in modules().items() if ".models" in name])
# Model -> how many functions of modules take a row of it, or several, in any argument: what crosses models, reads files
# or needs a higher wing than the models'. Lower a number when one goes; before one is added, look whether it is a verb
# of the row, or of the QuerySet where it takes several. A model that is not named here has none.
# Of a Job those are the runners, one for each kind, in the wing that does the work; of a Dataset imports, exports,
# releases, memory and benchmarks; of an Assignment edits and proposals, whose operations are a core of their own; of a
# Run what decides and reports, and tables of several; of a Step what pages, agents and WebLINX's
# files make of it; of a Project the sample and what is told of it.
MOST: dict[str, int] = {
    "AccessEvent": 1,
    "Assignment": 31,
    "BulkAccept": 3,
    "Campaign": 22,
    "Comment": 4,
    "Connection": 5,
    "Conversation": 17,
    "Dataset": 89,
    "Defect": 1,
    "Delivery": 2,
    "Dispute": 2,
    "Drive": 2,
    "Edit": 2,
    "Invite": 5,
    "Item": 8,
    "Job": 34,
    "JudgeVerdict": 2,
    "Membership": 3,
    "MemorySnippet": 1,
    "PageDictionary": 1,
    "Part": 5,
    "Project": 44,
    "PromptPack": 1,
    "Proposal": 3,
    "Rationale": 1,
    "Release": 9,
    "ReleasedConversation": 2,
    "Review": 3,
    "ReviewQueue": 6,
    "ReviewReason": 2,
    "RiskForecast": 1,
    "Run": 39,
    "SavedRecipe": 1,
    "Score": 3,
    "Session": 11,
    "Shard": 8,
    "Snapshot": 12,
    "Step": 42,
    "Study": 11,
    "Target": 1,
    "TokenGrant": 2,
    "TrainedModel": 11,
    "Trajectory": 24,
    "TrajectoryStep": 9,
    "Transition": 3,
    "TransitionVector": 1,
    "Turn": 7,
    "Verdict": 1,
    "Website": 3,
    "Workflow": 8,
}


@pytest.fixture(scope="module", autouse=True)
def _forget_trees() -> Iterator[None]:
    """They take 170 MB."""
    yield
    parsed.cache_clear()


def taking(tree: ast.Module) -> Iterator[set[str]]:
    """Of each function of a module, and of each method that is told no row of its own, the models of which it takes
    rows in any argument: by its type, or where it has none, by its name."""
    for node in [*tree.body, *statics(tree)]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            of = node.args
            given = [*of.posonlyargs, *of.args, of.vararg, *of.kwonlyargs]
            yield {name for one in given if one is not None for name in rows_in(one)}


def statics(tree: ast.Module) -> Iterator[ast.stmt]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from (
                one
                for one in node.body
                if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
                and "staticmethod" in {ast.unparse(decorator) for decorator in one.decorator_list}
            )


def rows_in(argument: ast.arg) -> set[str]:
    """`Run` in `run`, `run: Run | None`, `rows: list[Run]`, `"Run"` in quotes, `models.Run`, `QuerySet[Run]`,
    `RunQuerySet`; not in `Run.State`."""
    if argument.annotation is None:
        named = "".join(word.capitalize() for word in argument.arg.split("_"))
        return {named} & OURS
    return {name.removesuffix("QuerySet") for name in named_in(argument.annotation)} & OURS


def named_in(annotation: ast.AST) -> Iterator[str]:
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value).split(".")[-1] == "Literal":
        return  # its texts are values, not types in quotes
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        yield from named_in(ast.parse(annotation.value, mode="eval"))
    elif isinstance(annotation, ast.Name | ast.Attribute):
        words = ast.unparse(annotation).split(".")
        if not any(word[0].isupper() for word in words[:-1]):
            yield words[-1]
    else:
        for part in ast.iter_child_nodes(annotation):
            yield from named_in(part)


@pytest.fixture(scope="module")
def counts() -> Counter[str]:
    """By model; the sample sites have items of their own, which are data of a shop."""
    found: Counter[str] = Counter()
    for name, path in modules().items():
        if name.partition(".")[0] in APPS and not name.startswith("annotations.sample.sites"):
            for models in taking(parsed(path.read_text("utf-8"))):
                found.update(models)
    return found


@pytest.mark.parametrize("model", sorted(OURS))
def test_what_a_row_can_do_is_a_method_of_its_model(model, counts) -> None:
    assert counts[model] == MOST.get(model, 0)


def test_the_counts_are_of_models() -> None:
    assert set(MOST) <= OURS
    assert min(MOST.values()) > 0


def test_models_are_found() -> None:
    lease = "class Lease(models.Model):\n    class Meta:\n        abstract = True\n"
    assert models_of([f"class Job(Lease): ...\n{lease}", "class Row(models.Model): ...\nclass Set(QuerySet): ..."]) == {
        "Job",
        "Row",
    }
    assert {"Assignment", "Drive", "Run", "Shard", "Webhook"} <= OURS


def test_a_function_that_takes_a_row_is_found() -> None:
    def found(source: str) -> list[list[str]]:
        return [sorted(models) for models in taking(ast.parse(source))]

    assert found("def hand(user, item: Item): ...\ndef hand_back(item, user): ...") == [["Item"], ["Item"]]
    assert found("async def of(*runs: Run, item: models.Item, state: Run.State): ...") == [["Item", "Run"]]
    assert found("def of(rows: 'Sequence[Run] | None', /, steps: StepQuerySet): ...") == [["Run", "Step"]]
    assert found("class Desk:\n    @staticmethod\n    def of(run: Run): ...\n    def met(self, run: Run): ...") == [
        ["Run"]
    ]
    assert found("def of(sign: Literal['<=', 'Run'], other: typing.Literal['>'], run: Run): ...") == [["Run"]]
    assert found("def of(step: int, step_row: StepRecord, items: list[str]): ...") == [[]]


def writers_of(names: set[str], source: str) -> set[str]:
    """Models of `names` of which a module stores rows."""
    calls = (node.func for node in ast.walk(parsed(source)) if isinstance(node, ast.Call))
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


# Columns by which a row says how far it is, and who sees or does it.
STATES = set(
    "state review round outcome has_passed decided_at submitted_at finished_at released deleted_at overlap resolved_at "
    "is_watched published_at cancel_requested lease_token lease_until sent_at seen_at is_counted file "
    "checkpoint".split()
)
WRITING = {"update", "write", "bulk_update"}


def moves(source: str) -> list[int]:
    """Lines that move a row on by writing its columns, or those of a set, instead of saying what happens to it."""
    found = []
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            written = [one for target in targets for one in getattr(target, "elts", [target])]
            names = {one.attr for one in written if isinstance(one, ast.Attribute) and ast.unparse(one.value) != "self"}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WRITING:
            constants = [one for part in node.args[1:] for one in ast.walk(part) if isinstance(one, ast.Constant)]
            names = {keyword.arg for keyword in node.keywords} | {one.value for one in constants}
        else:
            continue
        if names & STATES:
            found.append(node.lineno)
    return sorted(found)


def test_rows_are_moved_on_by_their_models_alone() -> None:
    """By a verb of the row or of its QuerySet, which says what happens, in one place for pages, API and commands."""
    outside = {name: path for name, path in modules().items() if ".models" not in name}
    found = {name: lines for name, path in outside.items() if (lines := moves(path.read_text("utf-8")))}
    assert found == {}


def test_a_row_that_is_moved_on_from_outside_is_found() -> None:
    assert moves("item.state = State.OPEN\nself.state = 1\nrow.name = 2\nitem.state, item.round = 1, 2") == [1, 4]
    assert moves("rows.filter(pk=1).update(state=2)\nrows.update(name=1)\nwords.update({'state': 1})") == [1]
    assert moves("rows.bulk_update(made, ['outcome', 'distance'])\nrows.bulk_update(made, ['name'])") == [1]


# Locks, indexes and settings of a session, for which Django has no words: nothing to measure them against.
ONLY_SQL = {
    "agents.runs.finding._in_time",
    "agents.models.searching.create",
    "agents.models.searching.exists",
    "agents.models.searching.nearest",
    "annotations.models.work.campaigns.take_turns",
    "annotations.retention.forgetting.forget",
}
SECONDS = re.compile(r"\d m?s\b")


def sql_without_figures(source: str) -> list[str]:
    """Functions that run SQL, and whose docstring does not say how long it takes."""
    functions = [node for node in ast.walk(parsed(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    unsaid = [function for function in functions if not SECONDS.search(ast.get_docstring(function) or "")]
    return [function.name for function in unsaid if any(map(runs_sql, ast.walk(function)))]


def runs_sql(node: ast.AST) -> bool:
    """Whatever the cursor is called: a pipeline of Redis is executed without arguments."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr in ("raw", "executemany") or (node.func.attr == "execute" and bool(node.args))


def test_raw_sql_says_what_it_is_faster_than() -> None:
    """Of the apps; benchmarks measure themselves, and the wiring looks after the database."""
    ours = {name: path for name, path in modules().items() if name.partition(".")[0] in APPS[:3]}
    read = {name: path.read_text("utf-8") for name, path in ours.items() if not name.startswith("evaluation.bench.")}
    found = {f"{name}.{function}" for name, text in read.items() for function in sql_without_figures(text)}
    assert found == ONLY_SQL


def test_raw_sql_without_a_figure_is_found() -> None:
    said = 'def count(cursor):\n    """0.1 ms where Django takes 3 ms."""\n    cursor.execute("SELECT 1")'
    assert sql_without_figures(said) == []
    assert sql_without_figures(said.replace("0.1 ms where Django takes 3 ms", "Fast")) == ["count"]
    assert sql_without_figures("def rows(self):\n    return self.raw('SELECT 1')") == ["rows"]
    assert sql_without_figures("async def gone():\n    connection.cursor().execute('DELETE FROM row')") == ["gone"]
    assert sql_without_figures("def two(c):\n    c.executemany(SQL, rows)\n\n\ndef no(pipe):\n    pipe.execute()") == [
        "two"
    ]


VIEWS = re.compile(r"(?:^|\.|_)(?:views|api|page|forms)$")
BESIDE_VIEWS = re.compile(r"(?:^|\.|_)(?:admin|consumers|filters|serializers)$|\.commands\.")
STORING = {"save", "create", "bulk_create", "bulk_update", "get_or_create", "update_or_create", "select_for_update"}
STORING |= {f"a{name}" for name in STORING}
COUNTING = {"annotate", "aggregate", "aaggregate", "alias", "raw", "extra"}  # what a set of rows says about itself
CHANGING = {"update", "aupdate", "write", "awrite"}  # by names of columns alone
RELATING = {"add", "set", "clear", "remove", "aadd", "aset", "aclear", "aremove"}
DJANGOS = {"annotations.access.sign_in.views"}  # an account is a row of Django
# No views, and each the only place that stores its rows, by what a request says of who asks.
# Views, and what they count is how much there is to do, which is what they are for.
MONITORING = {"webnav_site.health", "webnav_site.monitor.metrics"}
KEEPERS = {
    "annotations.access.trail.events": "the trail of who came in and was let in",
    "annotations.access.idempotency": "answers by the key that a request brings",
    "annotations.access.tokens.granting": "secrets that are made once, and when they were last used",
    "annotations.desk.keys.keymaps": "keys that a person chose, who may have done so before they had an account",
}
REQUESTS = {"HttpRequest", "Request"}
REQUESTS_OF = ("django", "rest_framework")
WRITING_SQL = re.compile(r"\b(?:DELETE\s+FROM|INSERT\s+INTO|UPDATE\s+(?:\S+\s+SET\b|$)|TRUNCATE\s)", re.I)


def takes_requests(source: str) -> bool:
    """Whether a function of a module takes a request of a browser or a program; one of a language model is none."""
    tree = parsed(source)
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    ours = {
        alias.asname or alias.name
        for node in imported
        if (node.module or "").startswith(REQUESTS_OF)
        for alias in node.names
        if alias.name in REQUESTS
    }
    arguments = (node for node in ast.walk(tree) if isinstance(node, ast.arg) and node.annotation)
    return any(ours & set(re.findall(r"\w+", ast.unparse(one.annotation))) for one in arguments)


def stores(source: str, calling: Collection[str] = STORING | COUNTING, module: str = "") -> list[int]:
    """Lines that store, lock or count what they have put together themselves, instead of asking rows for it."""
    calls = [(call, around) for call, around in functions_of(parsed(source)) if isinstance(call.func, ast.Attribute)]
    found = [(call, around) for call, around in calls if ast.unparse(call.func).rpartition(".")[2] in calling]
    return sorted(call.lineno for call, around in found if not stores_by_itself(call, around, source, module))


def changes(source: str) -> list[int]:
    """Lines that change or delete rows, one or many, or what they are related to, instead of saying what happens to
    them. A dictionary's `update`, a cache's `delete` and the `write` of a file name what they take by its place, a
    row's and a set's never do."""
    return sorted(
        call.lineno
        for call, around in functions_of(parsed(source))
        if isinstance(call.func, ast.Attribute)
        and (
            call.func.attr == "_raw_delete"
            or (not call.args and call.func.attr in ("delete", "adelete"))
            or (not call.args and call.func.attr in CHANGING and call.keywords)
            or (call.func.attr in RELATING and is_relation(call.func.value, around))
        )
    )


def is_relation(owner: ast.expr, around: list[ast.AST]) -> bool:
    """Whether an expression is the other rows of a row, by the name of the relation, which a name may stand for."""
    if isinstance(owner, ast.Name):
        values = [value for scope in around for value in bound_to(owner.id, scope)]
        return any(value is not None and is_relation(value, []) for value in values if isinstance(value, ast.Attribute))
    return isinstance(owner, ast.Attribute) and (owner.attr in relations() or owner.attr.endswith("_set"))


@cache
def relations() -> frozenset[str]:
    """Names by which rows of models reach several others: related names, and fields of many to many."""
    found = set()
    for name, path in modules().items():
        if ".models" in name:
            found |= relations_of(path.read_text("utf-8"))
    return frozenset(found)


def relations_of(source: str) -> set[str]:
    fields = [node for node in ast.walk(parsed(source)) if isinstance(node, ast.Assign | ast.AnnAssign)]
    calls = [(node, node.value) for node in fields if isinstance(node.value, ast.Call)]
    many = {
        ast.unparse(target)
        for node, call in calls
        if ast.unparse(call.func).endswith("ManyToManyField")
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    }
    return many | relations_told(source)


def writing_sql(source: str) -> list[int]:
    """Lines with SQL that changes rows."""
    texts = (node for node in ast.walk(parsed(source)) if isinstance(node, ast.Constant))
    return [text.lineno for text in texts if isinstance(text.value, str) and WRITING_SQL.search(text.value)]


@cache
def views() -> dict[str, str]:
    """What answers people and programs: what the URLs and the router of the API name, with what that is made of, what
    is called so, and what takes a request; and commands."""
    sources = {name: path.read_text("utf-8") for name, path in modules().items()}
    return {
        name: text
        for name, text in sources.items()
        if VIEWS.search(name)
        or BESIDE_VIEWS.search(name)
        or name in routed_modules()
        or ("equest" in text and takes_requests(text))
    }


def test_views_ask_rows_and_store_nothing_themselves() -> None:
    """Nor do commands. What lies beside views may count: the tables of the admin, and what monitoring reads."""
    asked = {name for name in views() if VIEWS.search(name) or name in routed_modules()}
    counting = {name: text for name, text in views().items() if name in asked - MONITORING - KEEPERS.keys()}
    counting |= {name: text for name, text in views().items() if ".commands." in name}
    assert len(counting) > 50
    found = {name: lines for name, text in counting.items() if (lines := stores(text, module=name))}
    assert {name: lines for name, lines in found.items() if name not in DJANGOS} == {}
    beside = {name: text for name, text in views().items() if name not in KEEPERS}
    assert {name for name, text in beside.items() if stores(text, STORING, name)} == DJANGOS
    changing = {name: changes(text) for name, text in beside.items()}
    assert {name: lines for name, lines in changing.items() if lines} == {}


def test_what_stores_by_a_request_is_named() -> None:
    assert {name for name in KEEPERS if stores(views()[name], STORING, name) and not VIEWS.search(name)} == set(KEEPERS)


def test_views_run_no_sql() -> None:
    """But for the estimate of a table's rows in lists of the admin, and whether the database answers."""
    running = {name for name, text in views().items() if any(map(runs_sql, ast.walk(parsed(text))))}
    assert running == {"annotations.admin_base", "webnav_site.health"}
    assert {name: lines for name, text in views().items() if (lines := writing_sql(text))} == {}


def test_a_view_that_stores_is_found() -> None:
    assert stores("hook.is_active = False\nhook.save()\nform.save()\nRow.objects.get_or_create(name=1)") == [2, 3, 4]
    assert stores("Row.objects.create(name=1)\nsuper().create(request)\nrows.annotate(n=Count('x'))") == [1, 3]
    assert stores("rows.filter(pk=1)\nrows.select_for_update()\nsuper().save()") == [2]


def test_a_view_that_changes_rows_is_found() -> None:
    assert changes("Row.objects.filter(pk=1).delete()\nrow.delete()") == [1, 2]
    assert changes("get_object_or_404(Row, pk=1).delete()\nfound = owner.rows.all()\nfound.update(a=1)") == [1, 3]
    assert changes("cache.delete('key')\nwords.update({'a': 1})\ndigest.update(part)") == []
    assert changes("await Row.objects.filter(pk=1).adelete()\nrows._raw_delete(using)\nrows.aupdate(a=1)") == [1, 2, 3]


def test_a_row_under_the_name_of_a_form_is_found() -> None:
    assert stores("form = Row.objects.filter(pk=1).first()\nform.save()") == [2]
    assert stores("if saving := get_object_or_404(Row, pk=1):\n    saving.asave()") == [2]
    assert stores("form = RowForm(request.POST)\nform.save()\nawait Row.objects.acreate(name=1)") == [3]
    assert stores("for form in Row.objects.filter(a=1):\n    form.save()") == [2]
    assert stores("[form.save() for form in rows]\nwith locked() as form:\n    form.save()") == [1, 3]
    assert stores("def kept(self, serializer: BaseSerializer):\n    serializer.save()") == []
    assert stores("def kept(self, serializer, form: Row):\n    serializer.save()\n    form.save()") == [2, 3]
    assert stores("form = RowForm(data)\nform.instance.name = 1\nform.save()") == []
    assert stores("form = RowForm(data)\nform = Row()\nform.save()") == [3]
    assert stores("from annotations.edits import saving\ndef view():\n    saving.save(1)") == []
    assert stores("saving = rows.get(pk=1)\ndef view():\n    saving.save()") == [3]


def test_other_rows_that_a_view_relates_to_a_row_are_found() -> None:
    fields = "    a = models.ForeignKey(B, related_name='as_of')\n    c = models.ManyToManyField(D)"
    assert relations_of(f"class Row(models.Model):\n{fields}") == {"as_of", "c", "row_set"}
    assert {"sources", "studies", "drives"} <= relations()
    assert changes("study.runs.add(run)\nstudy.runs.set([run])\nseen.add(run)") == [1, 2]
    assert changes("others = study.runs\nothers.clear()\nitem.comment_set.remove(row)\nnames.clear()") == [
        2,
        3,
    ]
    assert changes("row.write(name=1)\nself.stdout.write('said')\nrow.awrite(name=2)") == [1, 3]


ROUTED = {
    "app.urls": """
from django.urls import include, path
from app import pages
from app.quick import QuickEnd, done as ended
from app.shown import Shown
quick, other = QuickEnd.as_view, Shown
router.register("shown", other)
urlpatterns = [path("a", quick()), path("b", view=ended), path("c", pages.first), path("d", include("app.more"))]
handler404 = "app.failing.not_found"
""",
    "app.quick": "from app.base import Base\nfrom app.ending import done\nclass QuickEnd(Base): ...",
    "app.base": "class Base(View): ...",
    "app.ending": "def done(asked): ...",
    "app.pages": "def first(request): ...\nclass Unused: ...",
    "app.shown": "from app.kept import RowSerializer\nclass Shown:\n    serializer_class = RowSerializer",
    "app.kept": "class RowSerializer: ...",
    "app.failing": "def not_found(request, exception): ...",
    "app.aside": "def first(request): ...",
}


def test_what_the_urls_name_is_a_view_whatever_it_is_called() -> None:
    assert views_of(list(ROUTED), ROUTED.get) == ROUTED.keys() - {"app.urls", "app.aside"}
    assert {"annotations.urls", "annotations.access.trail.reading", "webnav_site.edge.sockets"} <= routed_modules()
    assert {name for name in views() if VIEWS.search(name) and name.endswith("views")} <= routed_modules()


def test_a_module_that_takes_requests_is_found() -> None:
    assert takes_requests("from django.http import HttpRequest\ndef seen(request: HttpRequest | None): ...")
    assert takes_requests("from rest_framework.request import Request as Asked\ndef seen(of: Asked): ...")
    assert not takes_requests("from agents.llm.protocol import Request\ndef complete(request: Request): ...")
    assert {"agents.runs.consumers", "agents.admin", "annotations.access.idempotency"} <= views().keys()


def test_sql_in_a_view_that_changes_rows_is_found() -> None:
    assert writing_sql('c.execute("DELETE FROM row")\nc.execute(f"update {table} set a = 1")') == [1, 2]
    assert writing_sql('"Delete or update what is there."') == []

"""The views of the product, as its URL configuration names them, and what they call; read from the code alone."""

import ast
from collections.abc import Callable, Iterator
from functools import cache

from tests.parsed_sources import parsed
from tests.test_imports import modules

ROUTING = {"path", "re_path"}
PARTS_OF_VIEWS = {"serializer_class", "filterset_class", "form_class", "permission_classes", "throttle_classes"}
FORMS = ("Form", "FormSet", "Serializer", "form", "formset", "serializer")
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Sources = Callable[[str], str | None]  # the text of a module, None where it is none of ours


@cache
def our_source(module: str) -> str | None:
    return modules()[module].read_text("utf-8") if module in modules() else None


def names_in(module: str, source: str) -> dict[str, str]:
    """What a module has imported, by its name here: a module, or `module.name`."""
    found = {}
    package = module if module in modules() and modules()[module].name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            found |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            home = ".".join([*above, *([node.module] if node.module else [])])
            found |= {alias.asname or alias.name: f"{home}.{alias.name}" for alias in node.names}
    return found


def assigned_in(source: str) -> dict[str, ast.expr]:
    """What names of a module stand for; of `a, b = x, y`, too."""
    found = {}
    for node in parsed(source).body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                several = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                pairs = zip(target.elts, node.value.elts, strict=True) if several else [(target, node.value)]
                found |= {one.id: value for one, value in pairs if isinstance(one, ast.Name)}
    return found


def routed(source: str) -> Iterator[ast.expr]:
    """What a module names as views, where it routes addresses or registers with a router of the API."""
    for call in ast.walk(parsed(source)):
        if not isinstance(call, ast.Call):
            continue
        name = ast.unparse(call.func).rpartition(".")[2]
        is_router = name == "register" and "router" in ast.unparse(call.func).lower()
        if name in ROUTING or is_router:
            yield from call.args[1:2]
            yield from (word.value for word in call.keywords if word.arg in ("view", "viewset"))


def homes_of(expression: ast.AST, module: str, sources: Sources) -> set[str]:
    """Our modules in which the functions and classes of an expression are written, and what those are made of."""
    source = sources(module)
    if source is None:
        return set()
    imported, assigned = names_in(module, source), assigned_in(source)
    found: set[str] = set()
    for node in ast.walk(expression):
        if isinstance(node, ast.Name) and node.id in assigned:
            found |= homes_of(assigned[node.id], module, sources)
        elif isinstance(node, ast.Name | ast.Attribute):
            head, _, rest = ast.unparse(node).partition(".")
            full = f"{imported[head]}.{rest}".rstrip(".") if head in imported else f"{module}.{head}"
            found |= homes_of_name(full, sources)
    return found


def homes_of_name(full: str, sources: Sources) -> set[str]:
    """Where `module.name` is written, whoever imports it on the way, with what its class is made of."""
    module, name = full, ""
    while module and sources(module) is None:
        module, _, name = module.rpartition(".")
    source = sources(module) if module else None
    if source is None or not name:
        return set()
    if name in (imported := names_in(module, source)):
        return homes_of_name(imported[name], sources)
    for node in parsed(source).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name:
            parts = parts_of(node) if isinstance(node, ast.ClassDef) else []
            return {module}.union(*(homes_of(part, module, sources) for part in parts))
    value = assigned_in(source).get(name)
    return homes_of(value, module, sources) if value is not None else set()


def parts_of(view: ast.ClassDef) -> list[ast.expr]:
    """Its bases, and its forms and serializers."""
    assigned = [node for node in view.body if isinstance(node, ast.Assign)]
    named = [node.value for node in assigned if PARTS_OF_VIEWS & {ast.unparse(target) for target in node.targets}]
    return [*view.bases, *named]


def views_of(names: list[str], sources: Sources = our_source) -> set[str]:
    """The modules of what these modules route: functions, classes, their bases and forms; of handlers in words, too."""
    found: set[str] = set()
    for module in names:
        source = sources(module) or ""
        for expression in routed(source):
            found |= homes_of(expression, module, sources)
        for name, value in assigned_in(source).items():
            if name.startswith("handler") and isinstance(value, ast.Constant):
                found |= homes_of_name(str(value.value), sources)
    return found


@cache
def routed_modules() -> frozenset[str]:
    return frozenset(views_of(list(modules())))


def functions_of(tree: ast.Module) -> Iterator[tuple[ast.Call, list[ast.AST]]]:
    """Each call with the functions around it, the innermost first, and the module last."""

    def walk(node: ast.AST, around: list[ast.AST]) -> Iterator[tuple[ast.Call, list[ast.AST]]]:
        inner = [node, *around] if isinstance(node, Function | ast.ClassDef) else around
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Call):
                yield child, inner
            yield from walk(child, inner)

    yield from walk(tree, [tree])


def bound_to(name: str, scope: ast.AST) -> list[ast.expr | None]:
    """What a name is bound to in a function, or a module: values, None where it is one of many (a loop), and the types
    of arguments."""

    def is_bound_by(target: ast.AST) -> bool:
        names = (one for one in ast.walk(target) if isinstance(one, ast.Name))
        return any(one.id == name and isinstance(one.ctx, ast.Store) for one in names)

    found: list[ast.expr | None] = []
    for node in own_nodes(scope):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found += [node.value if isinstance(target, ast.Name) else None for target in targets if is_bound_by(target)]
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            found += [None] if is_bound_by(node.target) else []
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            found += [None] if is_bound_by(node.optional_vars) else []
        elif isinstance(node, ast.arg) and node.arg == name:
            found.append(node.annotation)
    return found


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Of a function with its arguments, without those in it; of a module, what is in none."""
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, ast.arguments) or not isinstance(child, Function | ast.ClassDef):
            yield child
            yield from own_nodes(child)


def is_form(expression: ast.expr | None) -> bool:
    """Whether it makes a form or a serializer, which stores its own row: `RowForm(…)`, `self.get_serializer(…)`; or is
    the type of one."""
    if isinstance(expression, ast.Call):
        expression = expression.func
    if isinstance(expression, ast.Constant) and isinstance(expression.value, str):
        expression = ast.parse(expression.value, mode="eval").body
    if not isinstance(expression, ast.Name | ast.Attribute):
        return False
    return ast.unparse(expression).rpartition(".")[2].endswith(FORMS)


def stores_by_itself(call: ast.Call, around: list[ast.AST], source: str, module: str) -> bool:
    """Whether a method like `save` is one of a form or a serializer, by what its name is bound to, of the class above
    (Django's or REST's, as ours is looked at by itself), or a function of a module."""
    assert isinstance(call.func, ast.Attribute)
    owner = call.func.value
    if ast.unparse(owner) == "super()":
        return True
    if not isinstance(owner, ast.Name):
        return is_form(owner) if isinstance(owner, ast.Call) else False
    for scope in around:
        if not isinstance(scope, ast.ClassDef) and (found := bound_to(owner.id, scope)):
            return all(map(is_form, found))
    return names_in(module, source).get(owner.id) in modules()


FIELDS = ("ForeignKey", "OneToOneField", "ManyToManyField")


def relations_told(source: str) -> set[str]:
    """The names by which what fields of a module's models point at reaches their rows: related names, or `run_set`."""
    found = set()
    for model in (node for node in parsed(source).body if isinstance(node, ast.ClassDef)):
        values = (node.value for node in model.body if isinstance(node, ast.Assign | ast.AnnAssign))
        for field in (value for value in values if isinstance(value, ast.Call)):
            if ast.unparse(field.func).endswith(FIELDS):
                named = {word.value for word in field.keywords if word.arg == "related_name"}
                given = {str(one.value) for one in named if isinstance(one, ast.Constant)}
                found |= given or {f"{model.name.lower()}_set"}
    return found - {"+"}

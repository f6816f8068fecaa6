"""There is one loop that decides steps, and one view of a recorded step."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.parsed_sources import parsed

ROOT = Path(__file__).resolve().parents[2]
SEEN = {"instruction", "observation", "html", "page", "snapshot", "tree", "view"}  # what somebody acts on
DONE = {"action", "operation", "act", "action_repr", "actions", "done", "taken"}
VIEW = "agents/types.py:RecordedStep"
OTHERS = {
    "agents/environments/protocol.py:ActionEffect": "what a browser answers to an action: the page after it",
    "agents/learned/arrays.py:Arrays": "numbers of a file: what a network of `grounded` reads of many steps",
    "agents/learned/flat.py:Flat": "numbers of a file: the same steps end to end, as they are read",
    "agents/live/teaching.py:ShownAction": "an action of a live episode on its way to becoming rows of a dataset",
    "agents/live/under_way.py:LiveEpisode": "an episode, not a step: `done` says whether it has ended",
    "agents/models/guarding.py:HeldStep": "the row of an action that waits for a person",
    "agents/models/steps.py:TrajectoryStep": "the row of what an agent did, right or not",
    "agents/replay/serializers.py:StepResultSerializer": "that row in the API",
    "agents/stages/imagine/considered.py:Considered": "an action that is not done yet, beside others",
    "agents/stages/state.py:StepState": "a step that is being decided: it has no gold",
    "agents/types.py:Snippet": "the line by which the replay names a recalled step, without its page",
    "agents/words/past_step.py:PastStep": "a recorded step with the places of its elements in a ranking",
    "agents/words/shown_page.py:PageTask": "the words of a prompt about a page, as published",
    "agents/words/trajectory.py:ShownStep": "three texts of a prompt",
    "evaluation/guard/controls.py:LabelledControl": "a control on a small page, with what using it would do",
    "agents/world_model/predicting.py:Situation": "an action that would be done",
    "agents/world_model/records.py:TransitionRecord": "a line of the files that world models learn from",
    "evaluation/scanners/step.py:FailedStep": "what an agent did beside what people did",
}
"""Classes that hold what was seen and what was done, and why they are something else than the view."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for app in ("agents", "evaluation"):
        for path in sorted((ROOT / app).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path.relative_to(ROOT).as_posix(), parsed(path.read_text("utf-8"))


def decides(node: ast.AST) -> bool:
    """Whether a function makes decisions of observations."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.returns is None:
        return False
    given = [argument.annotation for argument in (*node.args.args, *node.args.kwonlyargs) if argument.annotation]
    takes = {name.id for each in given for name in ast.walk(each) if isinstance(name, ast.Name)}
    return "Observation" in takes and "Decision" in ast.unparse(node.returns)


def makes_with_trace(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Decision"
        and (len(node.args) > 1 or bool(node.keywords))
    )


def works_on_a_step(node: ast.AST) -> bool:
    """Whether it is a class of the work on one observation."""
    return isinstance(node, ast.ClassDef) and {"observation", "trace", "seconds"} <= fields_of(node)


def fields_of(node: ast.ClassDef) -> set[str]:
    """The names of a class's fields: annotated ones, and those of models and serializers, made by a call."""
    annotated = {n.target.id for n in node.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
    made = [n.targets[0] for n in node.body if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)]
    return annotated | {target.id for target in made if isinstance(target, ast.Name)}


def test_there_is_one_loop_that_decides_and_one_state_that_it_works_on() -> None:
    found = [(path, node) for path, module in modules() for node in ast.walk(module)]
    assert [(path, node.name) for path, node in found if decides(node)] == [("agents/pipeline.py", "decide")]  # type: ignore[attr-defined]
    working = [(path, node.name) for path, node in found if works_on_a_step(node)]  # type: ignore[attr-defined]
    assert working == [("agents/stages/state.py", "StepState")]
    assert [path for path, node in found if makes_with_trace(node)] == [
        "agents/live/under_way.py",  # of a browser that died, where nothing was decided
        "agents/stages/state.py",
    ]


def test_a_second_loop_would_be_found() -> None:
    second = """
class _Work:
    observation: Observation
    trace: dict[str, Any]
    seconds: dict[str, float]

class Other:
    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        return [Decision((), self.ranking) for observation in observations]
"""
    found = list(ast.walk(ast.parse(second)))
    assert [sum(test(node) for node in found) for test in (decides, works_on_a_step, makes_with_trace)] == [1, 1, 1]


def test_a_recorded_step_has_one_view_and_what_looks_like_one_is_something_else() -> None:
    shapes = {
        f"{path}:{node.name}"
        for path, module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef) and SEEN & fields_of(node) and DONE & fields_of(node)
    }
    assert shapes == {VIEW, *OTHERS}

"""A planner of another package is trained by the product's own commands, on the prompts that it asks in use."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agents.models import SavedRecipe, TrainedModel, TrajectoryStep
from annotations.models import Dataset
from tests.test_extensions import EXAMPLE, ROOT, managed
from tests.tiny_models import tiny_t5

PLANNERS = '''
from dataclasses import replace
from agents.llm.protocol import Message
from agents.stages.compose.pages import LetteredPages, PagesInTurn
from agents.stages.kind import StageKind
from agents.stages.plan.choice import Generation
from agents.stages.plan.kinds import MODEL_SETTINGS, AskingPlanner
from agents.stages.simplify.groups import ElementGroups
from agents.types import Action
from agents.words.generator import ChatPrompt
from agents.words.shown_page import AnswerForm


class Numbered(StageKind):
    """The best elements with their numbers."""

    stage = "compose"
    reads = frozenset({"simplify.page_elements", "compose.max_tokens"})

    def run(self, states):
        for state in states:
            best = state.ranking[: self.recipe.simplify.page_elements]
            lines = [f"{number} {element.text}" for number, element in enumerate(best)]
            text = "\\n".join([f"Which number? {state.instruction}", *lines])
            state.prompt = ChatPrompt((Message("user", text),))
            state.note("compose", prompt=text)


class ByNumber(AskingPlanner):
    """The model answers with the number of an element."""

    @classmethod
    def before(cls):
        return (Numbered,)

    @classmethod
    def training(cls, recipe):
        own = {"max_length": recipe.compose.max_tokens, "max_new_tokens": recipe.plan.max_new_tokens}
        return "seq2seq", {"paradigm": recipe.plan.kind} | own

    @classmethod
    def right_answer(cls, recipe, step, decision):
        best = decision.ranking[: recipe.simplify.page_elements]
        return next((f"no. {place}" for place, one in enumerate(best) if one.node_id in step.positive_ids), "")

    def run(self, states):
        for state, generated in self.generate(states):
            state.note("plan", kind="by_number", reply=generated.text)
            _, _, number = generated.text.partition("no. ")
            chosen = state.ranking[int(number)] if number.isdigit() else state.ranking[0]
            state.close(Action("CLICK", chosen.node_id))


class Hashed(AnswerForm):
    name = "hashed"
    none = "#"
    texts = frozenset()

    def question(self, wording, choices):
        return "Write # and its number:" + "".join(f"\\n#{place} {text}" for place, text in enumerate(choices))

    def element(self, index, text):
        return f"#{index}"


class HashedGroups(ElementGroups):
    form = Hashed()


class HashedPages(PagesInTurn):
    form = HashedGroups.form


class MorePages(PagesInTurn):
    def run(self, states):
        super().run(states)


class ByMore(Generation):
    """It composes by code of its own."""

    @classmethod
    def before(cls):
        return ElementGroups, MorePages


class Hurried(LetteredPages):
    """The prompt of multichoice, with a word of ours before it."""

    def run(self, states):
        super().run(states)
        for state in states:
            if state.prompt is not None:
                state.prompt = replace(state.prompt, system="Be quick. " + state.prompt.system)
                state.shown.prompts[-1] = state.prompt


class ByHash(Generation):
    """The model answers with a hash and a number."""

    form = HashedGroups.form

    @classmethod
    def before(cls):
        return HashedGroups, HashedPages
'''
POINTS = "[webnav.stages]\nplan.kind.by_number = own_planners:ByNumber\nplan.kind.by_hash = own_planners:ByHash\n"
POINTS += "plan.kind.by_more = own_planners:ByMore\ncompose.kind.hurried = own_planners:Hurried\n"
PAGE_SAMPLES = """
import sys
from agents.stages.registry import training_of
from agents.recipes import literature
from agents.training.fit.weights import load_tokenizer
from agents.training.samples.tokens import PageSamples
from agents.training.settings import make_settings
from tests.agents.training_world import ListedRows, planning_steps

recipe = literature.override(literature.get("self-map-no-rationale"), {"plan.kind": "by_hash"})
kind, follows = training_of(recipe)
print(kind, follows["paradigm"])
tokenizer = load_tokenizer(sys.argv[1])
samples = PageSamples(ListedRows(planning_steps(1)), tokenizer, make_settings(kind, follows), 1, recipe=recipe)
((prompt, answer),) = samples.get(0, [0])
print("Write # and its number:\\n#0 " in tokenizer.decode(prompt))
print(tokenizer.decode(answer, skip_special_tokens=True))
"""

OWN_COMPOSE = """
from agents.cookbook import checking, sentences
from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.llm.chat import ChatLlm, Endpoint
from agents.pipeline import Pipeline
from agents.recipes import literature
from agents.stages.kind import Parts
from agents.training.samples.tokens import composed_otherwise
from tests.agents.fixed_ranker import FixedRanker
from tests.agents.llm_server import good, prompt_text, serve
from tests.agents.test_imagine import RANKING
from tests.agents.test_policy import PAGE, ListMemory, observation

changes = {"compose.kind": "hurried", "rank.model": "fixed", "recall.memory": "none"}
recipe = checking.vary(literature.get("mindact-icl"), changes)
with serve(lambda body: good("B.\\nAction: CLICK")) as server:
    parts = Parts(recipe, 7, ChatLlm(Endpoint(server.url, "m")), ListMemory(), CachedEncoder(HashEncoder()))
    parts.ranker = FixedRanker(*RANKING)
    (decision,) = Pipeline.of(parts).decide([observation("Reserve it.", PAGE)])
print([prompt_text(body).startswith("Be quick. ") for body in server.requests], bool(decision.actions))
print(next(one.sentence for one in sentences.stages(recipe) if one.name == "compose"))
print("compose.kind" in sentences.flat(recipe), "simplify.kind" in sentences.flat(recipe))
print(composed_otherwise("multichoice", recipe))
try:
    checking.vary(literature.get("grounded"), {"compose.kind": "hurried"})
except ValueError as error:
    print(error)
for name in ("synapse", "self-map"):
    try:
        checking.vary(literature.get(name), {"compose.kind": "hurried"})
    except ValueError as error:
        print(error)
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder that tells Python of a package with two planners, and of the example with its reader."""
    folder = tmp_path / "installed"
    info = folder / "own_planners-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-planners\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"{POINTS}\n[webnav.datasets]\ncsv-tasks = webnav_longest.reader\n")
    (folder / "own_planners.py").write_text(PLANNERS)
    shutil.copytree(EXAMPLE / "webnav_longest", folder / "webnav_longest")
    return folder


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_train_planner_trains_a_planner_of_a_package_which_then_runs(installed: Path, tmp_path: Path) -> None:
    tasks = ["csv-tasks", str(EXAMPLE / "tasks.csv"), "--name", "tasks", "--split", "train"]
    assert managed(["manage.py", "import_dataset", *tasks], installed).returncode == 0
    dataset = Dataset.objects.get()
    SavedRecipe.objects.create(
        project=dataset.project, name="numbered", parent="grounded", changes={"plan.kind": "by_number"}
    )
    base = tiny_t5(tmp_path / "base", ["Which number? Go no. 0 1 2 3"], layers=1, width=16)
    train = ["manage.py", "train_planner", "tasks", "--recipe", "numbered", "--name", "own", "--base", str(base)]
    told = managed([*train, "--epochs", "1", "--inline"], installed)
    assert told.returncode == 0, told.stderr
    assert "Use it with `--set plan.backend=local plan.model=own`, in recipes whose `plan.kind` is `by_number`" in (
        told.stdout
    )
    model = TrainedModel.objects.get()
    assert (model.kind, model.config["paradigm"], model.metrics["examples"]) == ("seq2seq", "by_number", 3)
    use = ["manage.py", "evaluate", "numbered", "tasks", "--split", "train", "--set", "plan.model=own", "--inline"]
    told = managed(use, installed)
    assert told.returncode == 0, told.stderr
    assert {step.trace["plan"]["kind"] for step in TrajectoryStep.objects.all()} == {"by_number"}
    unknown = managed([*train[:-2], "--base", str(base), "--set", "layout=task"], installed)
    assert (
        "layout would change nothing in a training on by_number: it needs paradigm=by_hash or by_more or g"
        in unknown.stderr
    )
    otherwise = ["--recipe", "self-map-no-rationale", *train[5:], "--set", "plan.kind=by_more"]
    unlike = managed([*train[:3], *otherwise], installed)
    assert "ByMore composes its prompts by code of MorePages, which samples of page groups do not run" in unlike.stderr
    without = managed([*train, "--inline"], None)
    assert "there is no such kind" in without.stderr or "plan.kind must be one of" in without.stderr


def said(script: str, installed: Path, *arguments: str) -> list[str]:
    """The lines that a program prints which knows the package."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_answers_of_a_form_of_a_package_are_trained_as_they_are_asked(installed: Path, tmp_path: Path) -> None:
    base = tiny_t5(tmp_path / "base", ["Task: press"], layers=1, width=16)
    kind, asked, answer = said(PAGE_SAMPLES, installed, str(base))[:3]
    assert (kind, asked) == ("seq2seq by_hash", "True")
    assert answer.startswith("#")


@pytest.mark.slow
def test_a_kind_of_compose_of_a_package_writes_the_prompt_of_a_planner_of_ours(installed: Path) -> None:
    asked, sentence, shown, training, grounded, synapse, generation = said(OWN_COMPOSE, installed)
    assert asked == "[True] True"
    assert "endpoint" in sentence or "uncut" in sentence
    assert shown == "True False", "simplify has no other kind: there is nothing to choose"
    assert "composes its prompts by code of Hurried, which samples of page groups do not run" in training
    assert grounded.startswith("compose.kind=hurried would change nothing in grounded: it needs a planner that is")
    assert synapse.endswith("it does not derive from Trajectories, in whose place it would stand")
    assert generation.startswith("compose.kind=hurried does not go with plan.kind=generation, which reads answers of")

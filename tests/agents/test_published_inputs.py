"""What a model reads is what the published agents give it, whole and to the token: their evaluation runs out of a clone
of its authors' repository, ours through an import, a study and the words that were read from that clone.

`PROMPT_CLONES=FOLDER` names the clones (`FOLDER/self-map`, …); without one it is skipped.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.generators.local import prompt_ids
from agents.memory import encoding
from agents.memory.workflows.induce import induce_sites
from agents.models import PromptPack
from agents.stages.rank.score_file import ScoreFile
from annotations.corpus.importing import import_files
from annotations.models import Rationale, Step, Website
from annotations.sample import mind2web
from annotations.sample.build import build_website
from evaluation.studies import running
from tests import factories
from tests.agents.author_clones import real
from tests.conformance.authors_self_map import rationale
from tests.conformance.front_door import PublishedEvaluation, ScriptedEndpoint
from tests.tiny_models import tiny_t5

ROOT = Path(__file__).resolve().parents[2]
ACTION = "`CLICK [1]`"
INDUCED = """## search
Given that you are on the first page, this workflow looks for something.
[searchbox]  Search -> TYPE: {what}
[button]  Search -> CLICK

## choose_the_first
Given that you are on the page of results, this workflow opens the first one.
[link]  {name} -> CLICK
[button]  Choose -> CLICK"""
OTHERS = 4  # elements beside the right one: as many as are drawn, so that chance has no say
SELF_MAP = {
    "mindact": {"generation": False, "simplify": False, "rationales": False, "match": False},
    "self-map": {"generation": True, "simplify": True, "rationales": True, "match": True},
    "self-map-mcq": {"generation": False, "simplify": True, "rationales": True, "match": True},
    "self-map-no-rationale": {"generation": True, "simplify": True, "rationales": False, "match": True},
    "self-map-full-state": {"generation": True, "simplify": False, "rationales": True, "match": True},
    "self-map-chronological": {"generation": True, "simplify": True, "rationales": True, "match": False},
}

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def ranked(action: dict[str, Any], place: int) -> dict[str, Any]:
    """The step with few elements: the right one at some rank, and those before it and behind it on the page."""
    right = action["pos_candidates"][:1]
    others = action["neg_candidates"][place % 7 :: 3][:OTHERS]
    order = [*others[: place % 5], *right, *others[place % 5 :]]
    ranks = {one["backend_node_id"]: rank for rank, one in enumerate(order)}
    both = {"pos_candidates": right, "neg_candidates": others}
    return action | {
        name: [one | {"rank": ranks[one["backend_node_id"]]} for one in ones] for name, ones in both.items()
    }


def conversations(folder: Path, count: int) -> list[dict[str, Any]]:
    """Conversations of a website of the sample, as files of MT-Mind2Web hold them."""
    build_website("brightrail", folder)
    found = [one for path in sorted(folder.rglob("*.json")) for one in json.loads(path.read_text("utf-8"))]
    for conversation in found:
        for turn in conversation["turns"]:
            turn["actions"] = [ranked(action, place) for place, action in enumerate(turn["actions"])]
    return found[:count]


@pytest.mark.parametrize("recipe", SELF_MAP)
def test_self_map_reads_what_its_authors_code_gives(recipe: str, tmp_path: Path, monkeypatch) -> None:
    clone, said = real("self-map"), SELF_MAP[recipe]
    (tmp_path / "records").mkdir()
    records = conversations(tmp_path / "records", 2)
    texts = [action["cleaned_html"] for one in records for turn in one["turns"] for action in turn["actions"]]
    from transformers import AutoTokenizer

    weights = tiny_t5(tmp_path / "t5", texts[:40])
    tokenizer = AutoTokenizer.from_pretrained(weights)
    names = {"memory_simplification": "simplify", "memory_refinement": "rationales", "multifaceted_matching": "match"}
    asked = {
        "conversations": records,
        "tokenizer": str(weights),
        "reply": "A." if not said["generation"] else "Element: none\nAction: CLICK",
        "self_map": {"generation": said["generation"], **{name: said[ours] for name, ours in names.items()}},
    }
    command = [sys.executable, "-m", "tests.conformance.authors_self_map", str(clone)]
    done = subprocess.run(command, cwd=ROOT, input=json.dumps(asked), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    theirs = json.loads(done.stdout)

    monkeypatch.setattr(encoding, "encoder_named", lambda name: CachedEncoder(HashEncoder()))
    case = {"conversations": records, "top_k": 50, "model_outputs_in_order": [asked["reply"]] * 1000}
    published = PublishedEvaluation(case, "generation", tmp_path, monkeypatch)
    call_command("import_prompts", "self-map", clone, project=published.dataset.project.slug, verbosity=0)
    for step in Step.objects.filter(turn__conversation__dataset=published.dataset).select_related("turn"):
        right = step.targets.first()
        name = f"{step.turn.source_id}_{step.source_id}_{right.node_id}"
        Rationale.objects.create(step=step, text=rationale(name), source="model", model_name="m")
    changed = {
        "recall__memory": "multifaceted" if said["match"] else "chronological",
        "recall__rationales": "stored" if said["rationales"] else "none",
        "prompts__pack": "self-map",
    }
    run = published.run(1, recipe, **changed)
    ours = [prompt_ids(prompt, tokenizer) for prompt in published.model.asked]
    assert run.steps.count() == len(theirs) == len(ours) > 20
    for one, other in zip(ours, theirs, strict=True):
        assert tokenizer.decode(one) == tokenizer.decode(other)
    assert ours == theirs


def tasks(folder: Path, split: str, count: int) -> list[dict[str, Any]]:
    """Single tasks of the sample, as files of Mind2Web hold them, a few elements a step."""
    (path,) = (folder / split).glob("*.json")
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))[:count]
    for task in found:
        task["actions"] = [ranked(action, place) for place, action in enumerate(task["actions"])]
    return found


def published(name: str, asked: dict[str, Any]) -> Any:
    """What the authors' code sends and shows."""
    command = [sys.executable, "-m", "tests.conformance.authors_trajectories", name, str(real(name))]
    done = subprocess.run(command, cwd=ROOT, input=json.dumps(asked), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def scores_of(records: list[dict[str, Any]]) -> ScoreFile:
    file = ScoreFile()
    for task in records:
        for action in task["actions"]:
            listed = [*action["pos_candidates"], *action["neg_candidates"]]
            ranks = {one["backend_node_id"]: -one["rank"] for one in listed}
            file.add(f"{task['annotation_id']}_{action['action_uid']}", ranks)
    return file


class OurStudy:
    """Tasks as a dataset with the ranks of their elements, and studies that ask an endpoint in the authors' words."""

    def __init__(self, name: str, by_split: dict[str, list[dict[str, Any]]], folder: Path, patch: Any) -> None:
        patch.setattr(encoding, "encoder_named", lambda name: CachedEncoder(HashEncoder()))
        self.name, self.dataset = name, factories.make_dataset()
        for split, records in by_split.items():
            (folder / f"{split}.json").write_text(json.dumps(records))
            report = import_files("mind2web", folder / f"{split}.json", self.dataset, split=split)
            assert not report.errors, report.errors
        self.score_file = folder / "scores.json"
        scores_of([task for records in by_split.values() for task in records]).write(self.score_file)
        call_command("import_prompts", name, real(name), project=self.dataset.project.slug, verbosity=0)
        self.llm = ScriptedEndpoint([])
        patch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
        patch.setenv("LLM_MODEL", "some-model")
        patch.setattr(running, "llm_of", lambda run: self.llm)

    def run(self, recipe: str) -> None:
        self.llm.replies = iter([ACTION] * 1000)
        settings = {
            "rank.kind": "score_file",
            "rank.model": str(self.score_file),
            "compose.context_tokens": "1000000",
            "prompts.pack": self.name,
            "batch_size": "1",
        }
        study = running.create_study(
            user=None, dataset=self.dataset, recipes=[recipe], splits=["test_task"], overrides=settings, publish=False
        )
        running.run_inline(study)

    def induce(self, reply: str) -> None:
        sites = list(Website.objects.filter(conversations__split="train").distinct().order_by("pk"))
        self.llm.replies = iter([reply] * len(sites))
        pack = PromptPack.objects.pack(self.name, self.dataset.project)
        induce_sites(self.dataset, sites, self.llm, CachedEncoder(HashEncoder()), pack=pack)

    @property
    def sent(self) -> list[list[dict[str, str]]]:
        return [[{"role": one.role, "content": one.content} for one in messages] for messages in self.llm.asked]


@pytest.mark.parametrize("recipe", ["synapse", "synapse-abstraction"])
def test_synapse_sends_what_its_authors_code_sends(recipe: str, tmp_path: Path, monkeypatch) -> None:
    mind2web.build(tmp_path / "tasks")
    train, test = tasks(tmp_path / "tasks", "train", 20), tasks(tmp_path / "tasks", "test_task", 6)
    scores, bare = scores_of([*train, *test]), recipe == "synapse-abstraction"
    said = {"retrieve_top_k": 3, "no_memory": bare, "no_trajectory": bare}
    both = {"scores": scores.scores, "ranks": scores.ranks}
    theirs = published("synapse", {"train": train, "test": test, "scores": both, "settings": said})["sent"]
    assert len(theirs) > 10

    study = OurStudy("synapse", {"train": train, "test_task": test}, tmp_path, monkeypatch)
    study.run(recipe)
    assert study.sent == theirs


def test_awm_sends_what_its_authors_code_sends(tmp_path: Path, monkeypatch) -> None:
    """Of each website one train task, as AWM shows one at random."""
    mind2web.build(tmp_path / "tasks")
    every = tasks(tmp_path / "tasks", "train", 1000)
    train = list({task["website"]: task for task in reversed(every)}.values())
    sites = {task["website"] for task in train}
    test = [task for task in tasks(tmp_path / "tasks", "test_task", 1000) if task["website"] in sites][:6]
    scores = scores_of([*train, *test])
    building = {"train": train, "test": [], "scores": {"scores": scores.scores, "ranks": scores.ranks}, "settings": {}}
    exemplars = published("synapse", building)["exemplars"]
    for task, exemplar in zip(train, exemplars, strict=True):
        exemplar[0]["specifier"] = ", ".join(task[name] for name in ("domain", "subdomain", "website"))
    asked = {"train": train, "test": test, "exemplars": exemplars, "induced": INDUCED}
    theirs = published("awm", asked | {"settings": {"retrieve_top_k": 1}})["sent"]
    assert len(theirs) > len(train) + 10

    study = OurStudy("awm", {"train": train, "test_task": test}, tmp_path, monkeypatch)
    study.induce(INDUCED)
    study.run("awm")
    assert sorted(map(str, study.sent[: len(train)])) == sorted(map(str, theirs[: len(train)]))
    assert study.sent[len(train) :] == theirs[len(train) :]

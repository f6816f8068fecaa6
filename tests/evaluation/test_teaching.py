"""What people say is wrong becomes what is learnt: files to train on elsewhere, and trainings here."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from django.core.exceptions import ValidationError
from django.core.management import call_command

from agents.models import TrainedModel, Trajectory, TrajectoryStep
from agents.runs.building import build_training
from agents.training.fit.weights import load_tokenizer
from agents.training.jobs import run_inline, start_training
from agents.training.lessons import TIMES, Lesson, Lessons
from agents.training.samples.preference_rows import PreferenceRows
from agents.training.samples.rows import SplitRows, StepRows, as_set
from agents.training.samples.tokens import PageSamples
from agents.training.settings import CausalSettings, make_settings
from agents.types import Action, Observation, PastAction, RecordedStep
from annotations.access.rules import Rights
from annotations.corpus.correct.correcting import CorrectionDesk
from annotations.models import Correction, Dataset, Role, Split, Step, Target
from evaluation.models import Review, Study
from evaluation.scores.reviewed import GoldVotes, count_votes
from evaluation.studies import running
from evaluation.teaching.collecting import Teaching
from evaluation.teaching.records import FORMS, LessonLines, count
from evaluation.teaching.results import HeldOut
from tests import factories
from tests.tiny_models import tiny_causal

pytestmark = pytest.mark.django_db


@pytest.fixture
def trajectory() -> Trajectory:
    """Of a train conversation; the agent clicks node 9 everywhere, where gold is TYPE in 5, then SELECT in 6."""
    return factories.make_trajectory()


@pytest.fixture
def dataset(trajectory: Trajectory) -> Dataset:
    return trajectory.run.dataset


def person(dataset: Dataset, name: str, role: str = Role.REVIEWER) -> Any:
    return factories.make_user(role, dataset.project, username=name)


def say(step: TrajectoryStep, who: Any, verdict: str) -> Review:
    return Review.objects.give(step.trajectory, step, who, verdict)


def correct(step: Step, operation: str, value: str, node: str) -> Correction:
    """Asked by one person, mended by a second, verified by a third."""
    project = step.turn.conversation.dataset.project
    asked, mended, verified = (
        factories.make_user(Role.ADMIN, project, username=name) for name in ("ask", "fix", "see")
    )
    found = Correction.objects.ask(step, asked, "It is another.")
    CorrectionDesk(found).propose(mended, operation, value, node)
    CorrectionDesk(found).accept(verified)
    return found


def lines(dataset: Dataset, form: str) -> list[dict[str, Any]]:
    return list(FORMS[form](LessonLines(dataset)))


def test_a_corrected_step_is_exported_with_the_corrected_action_and_not_with_the_wrong_one(trajectory, dataset) -> None:
    step = trajectory.steps.get(seq=0).step
    found = correct(step, "CLICK", "", "12")
    (line,) = lines(dataset, "sft")
    assert (line["lesson"], line["step"], line["split"]) == ("corrected", step.pk, "train")
    assert line["action"] == {"operation": "CLICK", "value": "", "node_id": "12"}
    said = line["messages"][-1]
    assert said["role"] == "assistant"
    assert "Action: CLICK" in said["content"]
    assert "TYPE" not in said["content"]
    assert line["by"] == ["ask", "fix", "see"]
    assert (line["gold"]["correction"], line["gold"]["release"], line["gold"]["node_ids"]) == (found.pk, None, ["12"])
    assert line["prompt_pack"] == "webnav"
    assert len(line["prompt_pack_sha256"]) == 64
    (pair,) = lines(dataset, "dpo")
    assert pair["chosen"] == [said]
    assert "Action: TYPE\nValue: red shoes" in pair["rejected"][0]["content"]
    assert pair["rejected_action"] == {"operation": "TYPE", "value": "red shoes", "node_id": "5"}


@pytest.mark.slow
def test_a_step_of_a_test_or_dev_split_is_in_no_export(trajectory, dataset) -> None:
    reviewer = person(dataset, "rita")
    for split in (Split.DEV, Split.TEST_TASK, Split.TEST_WEBSITE):
        other = factories.make_trajectory(conversation=factories.make_conversation(split=split, dataset=dataset))
        correct_as = other.steps.get(seq=1)
        say(other.steps.get(seq=0), reviewer, "agent_wrong")
        say(correct_as, reviewer, "both_acceptable")
        Correction.objects.ask(other.steps.get(seq=0).step, reviewer, "No.").propose(reviewer, "CLICK", "", "12")
        CorrectionDesk(Correction.objects.latest("pk")).accept(factories.make_user(Role.ADMIN, dataset.project))
    assert Teaching(dataset).steps() == []
    assert Teaching.lessons_of(dataset) == []
    assert [lines(dataset, form) for form in FORMS] == [[], [], []]
    say(trajectory.steps.get(seq=0), reviewer, "agent_wrong")
    assert [len(lines(dataset, form)) for form in FORMS] == [1, 1, 1]


@pytest.mark.slow
def test_verdicts_become_demonstrations_pairs_and_labels_that_say_whose_they_are(trajectory, dataset) -> None:
    rita, first, second = person(dataset, "rita"), trajectory.steps.get(seq=0), trajectory.steps.get(seq=1)
    say(first, rita, "agent_wrong")
    say(second, rita, "both_acceptable")
    pair = lines(dataset, "dpo")[0]
    place = {"run": trajectory.run_id, "trajectory": trajectory.pk, "seq": 0, "recipe": "grounded"}
    assert (pair["by"], pair["lesson"], pair["step"]) == (["rita"], "agent wrong", first.step_id)
    assert pair["judged"][0].items() >= (place | {"recipe_sha256": trajectory.run.recipe_sha256}).items()
    assert "Action: TYPE" in pair["chosen"][0]["content"]
    assert "Action: CLICK" in pair["rejected"][0]["content"]
    assert len(lines(dataset, "dpo")) == 1, "nothing is better than what is right as well"
    demonstrations = {line["step"]: line for line in lines(dataset, "sft")}
    assert demonstrations[first.step_id]["lesson"] == "confirmed"
    assert demonstrations[second.step_id]["lesson"] == "accepted"
    assert demonstrations[second.step_id]["action"]["node_id"] == "9"
    labels = {line["judged"][0]["seq"]: line["label"] for line in lines(dataset, "process")}
    assert labels == {0: False, 1: True}
    assert {line["prompt"][1]["content"] for line in lines(dataset, "process")} >= {pair["prompt"][1]["content"]}


def test_what_people_do_not_agree_on_and_steps_with_wrong_gold_teach_nothing(trajectory, dataset) -> None:
    rita, ben, first = person(dataset, "rita"), person(dataset, "ben"), trajectory.steps.get(seq=0)
    say(first, rita, "agent_wrong")
    say(first, ben, "both_acceptable")
    assert Teaching(dataset).steps() == []
    say(first, ben, "gold_wrong")
    say(first, rita, "gold_wrong")
    assert count(Teaching(dataset).steps()).left_out == 1
    assert [lines(dataset, form) for form in FORMS] == [[], [], []]
    assert Teaching.lessons_of(dataset)[0].count == 0


def test_votes_are_walked_once_whatever_number_of_steps_they_are_of(trajectory, dataset, monkeypatch) -> None:
    """And not once for each step: thousands of verdicts on thousands of steps would never end."""
    walks: list[str] = []

    class Walked(Counter):
        def items(self) -> Any:
            walks.append("items")
            return super().items()

        def __iter__(self) -> Any:
            walks.append("keys")
            return super().__iter__()

    def counted(rows: Any) -> GoldVotes:
        votes = count_votes(rows)
        return GoldVotes(votes.wrong, Walked(dict(votes.accepted)))

    rita = person(dataset, "rita")
    more = factories.make_trajectory(trajectory.run, factories.make_conversation(dataset=dataset))
    for step in (*trajectory.steps.all(), *more.steps.all()):
        say(step, rita, "agent_wrong")
    monkeypatch.setattr("evaluation.teaching.collecting.count_votes", counted)
    found = Teaching(dataset).steps()
    assert len(found) > 2
    assert walks == ["items"]
    assert count(found) == count(Teaching(dataset).counted())


def test_what_became_gold_is_never_the_worse_answer(trajectory, dataset) -> None:
    """Whoever went by the old gold called it wrong; who called gold wrong was right."""
    first, second = trajectory.steps.get(seq=0), trajectory.steps.get(seq=1)
    say(first, person(dataset, "rita"), "agent_wrong")
    say(second, person(dataset, "ben"), "agent_wrong")
    assert len(lines(dataset, "dpo")) == 2
    correct(first.step, "CLICK", "", "9")
    rejected = [line["rejected_action"]["node_id"] for line in lines(dataset, "dpo") if line["step"] == first.step_id]
    assert rejected == ["5"]
    assert not [line for line in lines(dataset, "process") if line["step"] == first.step_id and not line["label"]]


def test_an_agent_whose_action_became_gold_was_right(trajectory, dataset) -> None:
    first = trajectory.steps.get(seq=0)
    say(first, person(dataset, "rita"), "gold_wrong")
    assert lines(dataset, "process") == []
    correct(first.step, "CLICK", "", "9")
    (line,) = lines(dataset, "process")
    assert (line["label"], line["by"], line["judged"][0]["seq"]) == (True, ["rita"], 0)


@pytest.mark.slow
def test_the_command_writes_what_the_page_gives(trajectory, dataset, tmp_path: Path, capsys) -> None:
    say(trajectory.steps.get(seq=0), person(dataset, "rita"), "agent_wrong")
    for form in FORMS:
        call_command("export_lessons", dataset.name, form, str(tmp_path / f"{form}.jsonl"), "--json")
        told = json.loads(capsys.readouterr().out.strip().splitlines()[-1])
        written = [json.loads(line) for line in (tmp_path / f"{form}.jsonl").read_text("utf-8").splitlines()]
        assert written == lines(dataset, form)
        assert told["lines"] == 1


def recorded(key: int = 7) -> RecordedStep:
    seen = Observation(key, 1, 0, 0, "", "", "", "Search.", "<p/>", candidate_ids=("5", "6", "9"))
    return RecordedStep(seen, PastAction("TYPE", "TYPE", "5", "x"), ("5",))


def offered(step: RecordedStep) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    return step.action.operation, step.positive_ids, step.observation.candidate_ids


def test_a_step_is_seen_with_what_is_right_besides_and_beside_what_was_wrong() -> None:
    lesson = Lesson(7, also=(Action("CLICK", "9"),), wrong=(Action("SELECT", "6", "y"),))
    samples = lesson.samples(recorded())
    assert len(samples) == lesson.count == 2 + 2 * TIMES
    assert offered(samples[0]) == ("TYPE", ("5",), ("5", "6")), "what is right too is no wrong choice"
    assert offered(samples[1]) == ("CLICK", ("9",), ("6", "9"))
    wider = Lesson(7, wrong=lesson.wrong).samples(recorded())
    assert [offered(one)[2] for one in wider] == [("5", "6", "9"), *[("5", "6", "9"), ("5", "6")] * TIMES]
    assert {offered(one)[:2] for one in wider} == {("TYPE", ("5",))}
    assert Lesson(7, is_left_out=True).samples(recorded()) == []
    untaught = Lessons([lesson]).samples(recorded(8))
    assert untaught == [recorded(8)]


def test_lessons_are_kept_with_the_training_as_they_were() -> None:
    given = Lessons([Lesson(7, also=(Action("CLICK", "9"),)), Lesson(3, is_left_out=True)])
    kept = Lessons.of_params(json.loads(json.dumps(given.params())))
    assert kept.of_step == given.of_step
    assert kept.sha256 == given.sha256 != Lessons([Lesson(3, is_left_out=True)]).sha256
    assert Lessons().sha256 == ""


def test_a_training_without_anything_taught_is_refused_with_what_to_do(dataset) -> None:
    with pytest.raises(ValidationError, match="Nobody has taught anything of the train split"):
        start_training(user=None, dataset=dataset, kind="grounded", name="none", taught=True)
    assert not TrainedModel.objects.exists()


@pytest.fixture
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def doubtful(tmp_path, settings, monkeypatch, one_thread) -> Dataset:
    """Two conversations that say the same on the same page: gold is the button in one, a link in the other.
    Two of a test split are like them. An agent clicked the link in the first, and the button in the second."""
    settings.MODEL_ROOT = tmp_path / "models"
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path / "models"))
    dataset = factories.make_dataset()
    site = factories.make_website(dataset)
    for gold, split in (("9", "train"), ("14", "train"), ("9", "test_task"), ("14", "test_task")):
        found = factories.make_conversation(turns=1, steps=0, split=split, dataset=dataset, website=site)
        found.turns.update(instruction="Open a result.")
        step = factories.make_step(found.turns.get(), operation="CLICK", value="", action_repr="[any]  Result -> CLICK")
        Target.objects.filter(step=step).update(node_id=gold)
        step.candidates = factories.pack_candidates(
            [factories.CandidateRecord(gold, dict(factories.CANDIDATES)[gold])],
            [factories.CandidateRecord(node, tag) for node, tag in factories.CANDIDATES if node != gold],
        )
        step.save()
        if split == "train":
            trajectory = factories.make_trajectory(conversation=found)
            trajectory.steps.update(node_id={"9": "14", "14": "9"}[gold], success=False)
    return dataset


def trained(dataset: Dataset, name: str, taught: bool, limit: int | None = None) -> TrainedModel:
    changes = {"epochs": 10, "epoch_steps": 1000, "networks": 1, "hidden": 32}
    model = start_training(
        user=None,
        dataset=dataset,
        kind="grounded",
        name=name,
        changes=changes,
        seed=1,
        publish=False,
        taught=taught,
        limit=limit,
    )
    job = run_inline(model)
    assert job.state == "done", job.last_error
    model.refresh_from_db()
    return model


def chosen(dataset: Dataset, name: str) -> set[str]:
    """What the small agent clicks with this model, in the train conversations."""
    study = running.create_study(
        user=None,
        dataset=dataset,
        recipes=["grounded"],
        splits=["train"],
        overrides={"plan.model": name},
        publish=False,
    )
    running.run_inline(study, lambda: None)
    return set(TrajectoryStep.objects.filter(run__studies=study).values_list("node_id", flat=True))


@pytest.mark.slow
@pytest.mark.parametrize(("refused", "right"), [("14", "9"), ("9", "14")])
def test_training_on_what_people_refused_changes_what_the_small_agent_does(doubtful, refused, right) -> None:
    """The same data, and nothing but the verdict differs: the agent's choice follows it either way."""
    step = TrajectoryStep.objects.get(run__dataset=doubtful, node_id=refused)
    say(step, person(doubtful, "rita"), "agent_wrong")
    name = f"taught-{right}"  # a process keeps the models that it has read
    model = trained(doubtful, name, taught=True)
    assert model.metrics["lessons"] == 1
    assert chosen(doubtful, name) == {right}
    card = (model.folder / "README.md").read_text("utf-8")
    assert "what people taught of 1 of its steps" in card


@pytest.mark.slow
def test_a_training_on_the_first_conversations_says_only_what_it_was_taught_of_these(doubtful) -> None:
    """Of two conversations with a lesson each."""
    rita = person(doubtful, "rita")
    for step in TrajectoryStep.objects.filter(run__dataset=doubtful):
        say(step, rita, "agent_wrong")
    cards = {limit: (trained(doubtful, f"first-{limit}", True, limit).folder / "README.md") for limit in (1, None)}
    assert "what people taught of 2 of its steps" in cards[None].read_text("utf-8")
    assert "what people taught of 1 of its steps" in cards[1].read_text("utf-8")
    assert {one.name: one.metrics["lessons"] for one in TrainedModel.objects.all()} == {"first-1": 1, "first-None": 2}


@pytest.mark.slow
def test_what_it_changed_is_shown_on_held_out_conversations_with_its_interval(doubtful) -> None:
    admin = person(doubtful, "ada", Role.ADMIN)
    other = person(doubtful, "rita")
    step = TrajectoryStep.objects.get(run__dataset=doubtful, node_id="14")
    plain = trained(doubtful, "plain", taught=False)
    say(step, other, "agent_wrong")
    model = trained(doubtful, "taught", taught=True)
    assert plain.data_sha256 != model.data_sha256
    assert HeldOut(model).results(Rights(admin)) == []
    study = HeldOut(model).measure(admin, plain, "test_task")
    running.run_inline(study, lambda: None)
    (found,) = HeldOut(model).results(Rights(admin))
    assert (found.without_model, found.taught.recipe["plan"]["model"]) == ("plain", "taught")
    paired = found.paired
    assert paired is not None
    assert (paired.steps, paired.conversations) == (2, 2)
    right = [TrajectoryStep.objects.filter(run=run, success=True).count() for run in (found.without, found.taught)]
    assert paired.value == (right[1] - right[0]) / 2
    assert paired.low <= paired.value <= paired.high
    assert paired.caution
    (hidden,) = HeldOut(model).results(Rights(other))
    assert hidden.paired is None, "which steps of a test split are right is told to those who see its gold"
    with pytest.raises(ValueError, match="have not learnt from"):
        HeldOut(model).measure(admin, plain, "train")
    assert Study.objects.filter(name__startswith="taught against").count() == 1


@pytest.mark.slow
def test_a_planner_learns_the_pairs_that_people_taught_by_the_dpo_loss(doubtful, tmp_path) -> None:
    """Of two steps with an action that is wrong there; refused without one. Its card says how many pairs there were."""
    base = str(tiny_causal(tmp_path / "base", ["Open a result. Answer: A. Action: CLICK"], layers=1))
    changes = {"loss": "dpo", "epochs": 2, "paradigm": "multichoice", "max_length": 512, "dev_examples": 0}
    asked: dict[str, Any] = {"user": None, "dataset": doubtful, "kind": "causal", "base": base, "publish": False}
    with pytest.raises(ValidationError, match="loss=dpo needs lessons"):
        start_training(name="untaught", changes=changes, **asked)
    rita = person(doubtful, "rita")
    for step in TrajectoryStep.objects.filter(run__dataset=doubtful):
        say(step, rita, "agent_wrong")
    model = start_training(name="preferring", changes=changes, taught=True, **asked)
    job = run_inline(model)
    assert job.state == "done", job.last_error
    model.refresh_from_db()
    assert (model.metrics["pairs"], model.metrics["steps"], model.config["loss"]) == (2, 2, "dpo")
    assert model.config["beta"] == 0.1
    assert "- 2 pairs of a right and a wrong answer, by the DPO loss" in (model.folder / "README.md").read_text("utf-8")
    assert not (model.folder / "work").exists()


@pytest.mark.slow
def test_both_answers_of_a_pair_are_to_the_same_prompt_and_of_elements_that_it_offers(doubtful, tmp_path) -> None:
    tokenizer = load_tokenizer(str(tiny_causal(tmp_path / "base", ["Open a result."], layers=1)))
    settings = make_settings("causal", {"loss": "dpo", "max_length": 2048})
    assert isinstance(settings, CausalSettings)
    for step in TrajectoryStep.objects.filter(run__dataset=doubtful):
        say(step, person(doubtful, f"rita-{step.pk}"), "agent_wrong")
    rows = SplitRows(doubtful, Split.TRAIN, None, Lessons(Teaching.lessons_of(doubtful)))
    steps = StepRows(rows, settings, pipeline=build_training(as_set(settings), doubtful, 0, None, None))
    samples = PageSamples(steps, tokenizer, settings, 1)
    found = [pair for _, group in PreferenceRows(samples, steps).groups() for pair in group]
    assert len(found) == 2
    for pair in found:
        prompt = tokenizer.decode(pair["prompt"])
        letters = [re.match(r"Answer: ([A-F])\.|([A-F])\.", pair[name]) for name in ("answer", "rejected")]
        assert all(letters), found
        assert pair["answer"] != pair["rejected"]
        for letter in letters:
            assert f"{(letter[1] or letter[2])}. (" in prompt
    assert found[0]["answer"][:2] != found[0]["rejected"][:2]

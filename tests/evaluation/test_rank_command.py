"""A split scored by a cross encoder: the files, the metrics, and a recipe's view of the same scores."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from agents.observations import RecordedConversation
from agents.stages.rank.cross_encoder import CrossEncoderRanker
from agents.stages.rank.score_file import ScoreFile, ScoreFileRanker
from annotations.datasets.records import CandidateRecord
from annotations.models import Conversation, Dataset
from annotations.models.corpus.candidates import pack_candidates
from evaluation.metrics.ranking import evaluate_ranking, gold_rank
from tests import factories
from tests.tiny_models import tiny_cross_encoder

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset() -> Dataset:
    dataset = factories.make_dataset(name="d")
    for number in range(2):
        conversation = factories.make_conversation(dataset=dataset, split="dev", turns=0)
        factories.make_turn(conversation, source_id=f"task-{number}", steps=2)
    return dataset


@pytest.fixture
def model(dataset, tmp_path: Path) -> str:
    recorded = RecordedConversation(dataset.conversations.first().pk)
    texts = [recorded.observation(step).html for step in recorded.steps]
    return str(tiny_cross_encoder(tmp_path / "tiny", [*texts, "task is Previous actions ancestors target"]))


def rank(model: str, out: Path, capsys) -> dict:
    call_command("rank", "d", "--model", model, "--split", "dev", "--out", str(out), "--json")
    return json.loads(capsys.readouterr().out)


def test_every_candidate_is_in_the_score_file_and_the_metrics_follow(dataset, model, tmp_path, capsys) -> None:
    result = rank(model, tmp_path / "out", capsys)
    file = ScoreFile.read(tmp_path / "out" / "scores_dev.json")
    gold_ranks, ranker = [], CrossEncoderRanker(model)
    for conversation in Conversation.objects.filter(dataset=dataset).order_by("position", "pk"):
        recorded = RecordedConversation(conversation.pk)
        for step in recorded.steps:
            observation = recorded.observation(step)
            (alone,) = ranker.rank([observation])
            scores = {c.node_id: c.score for c in alone}
            assert file.scores[observation.score_key] == pytest.approx(scores, abs=1e-6)
            assert len(scores) > 1
            positives = [target.node_id for target in step.targets.all()]
            gold_ranks.append(gold_rank(file.ranks[observation.score_key], positives))
            (from_file,) = ScoreFileRanker(tmp_path / "out" / "scores_dev.json").rank([observation])
            assert {c.node_id: c.rank for c in from_file} == file.ranks[observation.score_key]
    assert result["metrics"] == evaluate_ranking(gold_ranks)
    assert result["metrics"] == json.loads((tmp_path / "out" / "results_dev.json").read_text())
    assert (result["steps"], result["unranked"]) == (4, 0)


def test_a_step_whose_candidates_are_not_on_its_page_is_a_miss(dataset, model, tmp_path, capsys) -> None:
    turn = dataset.conversations.first().turns.get()
    factories.make_step(turn, index=9, candidates=pack_candidates([CandidateRecord("no such", "a")], []))
    result = rank(model, tmp_path / "out", capsys)
    assert (result["steps"], result["unranked"]) == (5, 1)
    assert len(ScoreFile.read(tmp_path / "out" / "scores_dev.json").scores) == 4


@pytest.mark.parametrize(
    ("name", "split", "message"),
    [("absent", "dev", "no dataset 'absent'"), ("d", "train", "no conversations in split train")],
)
def test_impossible_requests_say_why(dataset, model, tmp_path, name, split, message) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("rank", name, "--model", model, "--split", split, "--out", str(tmp_path / "out"))

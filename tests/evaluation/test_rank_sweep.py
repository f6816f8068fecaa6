"""The sweep over settings against ranking every turn in the obvious way, on imported demonstrations."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from agents.observations import RecordedConversation
from agents.recipes.published import of_table
from agents.runs.weblinx_demos import demo_of
from agents.stages.rank.dmr import dmr_encoder
from agents.weblinx.documents import ElementLimit, documents, ranked_turns
from agents.weblinx.query import dmr_query
from agents.weblinx.ranking import element_ranks
from annotations.corpus.importing import import_files
from annotations.models import Conversation, Dataset
from evaluation.scores.rank_sweeps import CUTS, Cell, RankSetting, best, chosen_on_test, means
from tests import factories
from tests.annotations.weblinx_folder import write_demo
from tests.tiny_models import tiny_encoder

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """Three demonstrations: two of split valid, one of a test split."""
    for name in ("abcdefg", "bcdefgh", "cdefghi"):
        write_demo(tmp_path / "demos", name)
    dataset = factories.make_dataset(name="w", source_format="weblinx")
    assert import_files("weblinx", tmp_path / "demos", dataset).conversations == 3
    Conversation.objects.filter(dataset=dataset).update(split="valid")
    Conversation.objects.filter(dataset=dataset, source_id="cdefghi").update(split="test_web")
    return dataset


@pytest.fixture
def model(dataset, tmp_path) -> str:
    demo = demo_of(RecordedConversation(dataset.conversations.first().pk))
    texts = [doc.text for turn in ranked_turns(demo) for doc in documents(demo, turn)]
    return str(tiny_encoder(tmp_path / "tiny", [*texts, dmr_query(demo, demo.turns[-1])]))


def sweep_json(capsys, *arguments: str) -> dict:
    call_command("rank_sweep", *arguments, "--json")
    return json.loads(capsys.readouterr().out)


def obvious_ranks(dataset: Dataset, split: str, model: str, history: int, limit: int | None) -> list[int]:
    """Rank of each target, every document encoded."""
    encoder, ranks = dmr_encoder(model).exact, []
    for conversation in dataset.conversations.filter(split=split):
        demo = demo_of(RecordedConversation(conversation.pk))
        for turn in ranked_turns(demo):
            docs = documents(demo, turn, ElementLimit(limit))
            scores = encoder.encode([d.text for d in docs]) @ encoder.encode([dmr_query(demo, turn, history)])[0]
            found = element_ranks(zip((d.uid for d in docs), scores.tolist(), strict=True))
            ranks += [found[doc.uid] for doc in docs if doc.positive]
    return ranks


@pytest.mark.slow
def test_cells_are_the_recall_of_ranking_every_turn_alone(dataset, model, capsys) -> None:
    result = sweep_json(capsys, "w", "--model", model, "--history", "1", "5", "--limits", "20", "none")
    assert len(result["cells"]) == 4
    for cell in result["cells"]:
        ranks = obvious_ranks(dataset, "valid", model, cell["history"], cell["limit"] or None)
        assert cell["split"] == "valid"
        assert cell["positives"] == len(ranks) > 0
        for k in (1, 5, 10):
            assert cell[f"recall@{k}"] == pytest.approx(sum(rank <= k for rank in ranks) / len(ranks))


@pytest.mark.slow
def test_the_setting_chosen_on_valid_is_reported_on_a_test_split(dataset, model, capsys) -> None:
    common = ["w", "--model", model, "--history", "1", "5", "--limits", "none"]
    result = sweep_json(capsys, *common, "--report", "test_web")
    assert result["chosen_on_test"] is False
    (reported,) = [cell for cell in result["cells"] if cell["split"] == "test_web"]
    assert {name: reported[name] for name in result["chosen"]} == result["chosen"]
    call_command("rank_sweep", *common, "--report", "test_web")
    assert "chosen on test data" not in capsys.readouterr().out


def test_a_choice_on_test_data_says_so_in_words(dataset, model, capsys) -> None:
    call_command("rank_sweep", "w", "--model", model, "--history", "5", "--limits", "100", "--split", "test_web")
    shown = capsys.readouterr().out
    assert all(title in shown for title in ("(Table 2)", "(Table 3)", "(Figure 3)", "(Tables 4 and 5)"))
    assert "chosen on test data" in shown


def test_what_the_paper_prints_stands_beneath_each_table(dataset, model, capsys) -> None:
    call_command("rank_sweep", "w", "--model", model, "--history", "5", "--limits", "100")
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    printed = of_table("context", "2")["MiniLM limit 400", "ood"]
    percent = [f"{100 * printed[f'recall@{k}']:.2f}" for k in CUTS]
    assert ["MiniLM", "limit", "400,", "ood", *percent] in lines
    alone = of_table("context", "3")["BGE ours", "ood"]["recall@10"]
    assert ["BGE", "ours,", "ood", "–", "–", f"{100 * alone:.2f}"] in lines


def cell(history: int, split: str, recall: float) -> Cell:
    return Cell(RankSetting("m", history, 0), split, 1, {"recall@1": 0.0, "recall@5": 0.25, "recall@10": recall})


def test_the_best_setting_has_the_highest_mean_over_splits() -> None:
    cells = [cell(5, "a", 0.9), cell(5, "b", 0.1), cell(10, "a", 0.6), cell(10, "b", 0.6), cell(15, "a", 0.6)]
    assert best(cells).history == 10
    assert means(cells[:2]) == {"recall@1": 0.0, "recall@5": 0.25, "recall@10": 0.5}
    assert [chosen_on_test(splits) for splits in (["valid"], ["dev", "test_iid"])] == [False, True]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent"], "there is no dataset 'absent'"),
        (["w", "--split", "test_geo", "--model", "MODEL"], "no conversations in split test_geo"),
        (["w", "--model", "no-such-model"], "no-such-model"),
        (["w", "--limits", "few"], "neither a positive number nor none"),
    ],
)
def test_impossible_sweeps_say_why(dataset, model, arguments, message) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("rank_sweep", *(model if a == "MODEL" else a for a in arguments))

"""Preference pairs and the DPO loss: its value, the way that pairs move a model, resuming, and beside an adapter."""

import json
import math
from pathlib import Path
from statistics import mean

import pytest
import torch

from agents.training.fit.loop import train
from agents.training.fit.weights import load_model, load_tokenizer
from agents.training.kinds.language import labelled_logits, padded
from agents.training.kinds.preferences import PreferenceTask, answer_log_probs, dpo_loss
from agents.training.settings import CausalSettings, make_settings, read_settings
from tests.agents.training_world import text_pairs
from tests.tiny_models import tiny_causal

PAIRS = text_pairs(8)
TEXTS = [text for pair in PAIRS for text in (pair.prompt, pair.answer)]
CHANGES = {"loss": "dpo", "batch_size": 4, "epochs": 30, "learning_rate": 3e-3, "max_length": 128}


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_causal(tmp_path_factory.mktemp("base"), TEXTS, layers=1, vocabulary=400))


def settings_of(**changes) -> CausalSettings:
    found = make_settings("causal", CHANGES | changes)
    assert isinstance(found, CausalSettings)
    return found


def pairs_in(folder: Path, base: str, *, turned: bool = False) -> Path:
    """A prepared file: the answer of each prompt before that of the next one; `turned`: the other way round."""
    folder.mkdir(exist_ok=True)
    tokenizer, path = load_tokenizer(base), folder / "preferences.jsonl"
    rows = []
    for place, pair in enumerate(PAIRS):
        both = [pair.answer, PAIRS[(place + 1) % len(PAIRS)].answer]
        answer, rejected = reversed(both) if turned else both
        rows.append({"prompt": tokenizer(pair.prompt)["input_ids"], "answer": answer, "rejected": rejected})
    path.write_text("".join(f"{json.dumps(row)}\n" for row in [*rows, {"done": 1}]))
    return path


def task_in(folder: Path, base: str, *, turned: bool = False, **changes) -> PreferenceTask:
    return PreferenceTask(base, load_tokenizer(base), settings_of(**changes), pairs_in(folder, base, turned=turned))


def margins(task: PreferenceTask) -> list[float]:
    """Of each pair how much more the model prefers its right answer than the reference does."""
    batch = task.batch(0, range(task.size))
    with torch.inference_mode():
        said = answer_log_probs(task.model.eval(), batch)
    chosen, rejected = said.chunk(2)
    before = batch["reference"]
    return ((chosen - before[0]) - (rejected - before[1])).tolist()


def test_the_loss_is_that_of_equation_7_by_hand() -> None:
    """Of two pairs: the margins are (-1 + 2) - (-3 + 2) = 2 and (-4 + 3) - (-1 + 1) = -1; beta is a half."""
    chosen, rejected = torch.tensor([-1.0, -4.0]), torch.tensor([-3.0, -1.0])
    before = torch.tensor([-2.0, -3.0]), torch.tensor([-2.0, -1.0])
    by_hand = (math.log(1 + math.exp(-0.5 * 2)) + math.log(1 + math.exp(-0.5 * -1))) / 2
    assert float(dpo_loss(chosen, rejected, *before, 0.5)) == pytest.approx(by_hand)
    assert float(dpo_loss(*before, *before, 0.5)) == pytest.approx(math.log(2)), "the reference itself"


def test_an_answer_is_as_likely_as_its_tokens_one_after_the_other(base: str) -> None:
    model, tokenizer = load_model("causal", base), load_tokenizer(base)
    prompt, answer = tokenizer("click the cat")["input_ids"], tokenizer("CLICK")["input_ids"]
    text, by_hand = list(prompt), 0.0
    with torch.inference_mode():
        for token in answer:
            by_hand += float(torch.log_softmax(model(torch.tensor([text])).logits[0, -1], -1)[token])
            text.append(token)
        rows = [prompt + answer, prompt * 3]  # another row, so that this one is padded
        ids, mask = padded(rows, tokenizer.pad_token_id)
        labels, _ = padded([[-100] * len(prompt) + answer, [-100] * len(prompt * 3)], -100)
        batch = {"input_ids": ids, "attention_mask": mask, "labels": labels}
        for some in (True, False):
            said = answer_log_probs(model, batch, some=some)
            assert float(said[0]) == pytest.approx(by_hand, rel=1e-4)
            assert float(said[1]) == 0.0
        made = [labelled_logits(model, batch, some=some)[0] for some in (True, False)]
    assert made[0].shape == made[1].shape == (2, len(answer), model.config.vocab_size)


def test_at_the_start_the_model_is_its_reference(base: str, tmp_path: Path) -> None:
    task = task_in(tmp_path, base)
    assert (task.size, task.weight(task.batch(0, range(4)))) == (len(PAIRS), 4.0)
    assert margins(task) == pytest.approx([0.0] * len(PAIRS), abs=1e-3)
    assert task.loss(task.model, task.batch(0, range(8))).item() == pytest.approx(math.log(2), abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("adapter", [{}, {"adapter": "lora", "lora_rank": 16, "learning_rate": 0.02}])
def test_pairs_move_the_margin_their_way_and_the_opposite_pairs_the_other(base: str, tmp_path: Path, adapter) -> None:
    there, back = task_in(tmp_path / "one", base, **adapter), task_in(tmp_path / "two", base, turned=True, **adapter)
    for task, folder in ((there, "one"), (back, "two")):
        assert train(task, task.settings, tmp_path / folder / "kept") == "done"
        assert mean(margins(task)) > 1, "of the pairs that it was given"
    again = task_in(tmp_path / "one", base, **adapter)  # what the first was given, and the second was given turned
    again.model.load_state_dict(back.model.state_dict())
    assert mean(margins(again)) < -1


@pytest.mark.slow
def test_the_reference_is_computed_once_and_a_stopped_training_ends_with_the_same_weights(
    base: str, tmp_path: Path, monkeypatch
) -> None:
    whole = task_in(tmp_path / "whole", base)
    train(whole, whole.settings, tmp_path / "whole" / "kept")
    first = task_in(tmp_path / "cut", base)
    assert train(first, first.settings, tmp_path / "cut" / "kept", until=lambda: True) == "paused"
    assert any(abs(margin) > 1e-4 for margin in margins(first))
    monkeypatch.setattr(PreferenceTask, "_said", lambda self, start: pytest.fail("the reference is kept"))
    second = task_in(tmp_path / "cut", base)
    assert second.reference == first.reference
    assert train(second, second.settings, tmp_path / "cut" / "kept") == "done"
    for name, weight in whole.model.state_dict().items():
        assert torch.equal(weight, second.model.state_dict()[name]), name


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"beta": 0.5, "loss": "likelihood"}, "beta would change nothing: it needs loss=dpo"),
        ({"loss_on": "text"}, "loss_on would change nothing: it needs loss=likelihood"),
        ({"paradigm": "trajectory"}, "loss=dpo needs paradigm=generation or multichoice"),
        ({"beta": 0}, "beta"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(changes: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        settings_of(**changes)


def test_the_card_names_beta_where_it_counts() -> None:
    assert read_settings(settings_of(beta=0.3))["beta"] == 0.3
    assert not {"loss_on", "repeats"} & read_settings(settings_of()).keys()
    assert "beta" not in read_settings(make_settings("causal", {}))

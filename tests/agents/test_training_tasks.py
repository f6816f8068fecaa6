"""Training learns: rankers find every gold element, planners write every answer. Tiny models of the real kinds."""

import logging
import random
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM

from agents.training.fit.loop import TrainingError, train
from agents.training.fit.weights import load_model, load_tokenizer
from agents.training.kinds.language import IGNORED, CausalTask, Seq2SeqTask
from agents.training.kinds.ranking import CrossEncoderTask, DualEncoderTask, hit_rates
from agents.training.samples.examples import CandidateDraw, RankingStep, cross_encoder_draws, dual_encoder_draws
from agents.training.samples.left_out import LeftOut
from agents.training.samples.pairs import Pairs, cross_encoder_lines, dual_encoder_lines, prepare
from agents.training.samples.tokens import PageSamples
from agents.training.settings import make_settings
from annotations.dom.limits import PageError
from tests.agents.training_world import (
    ListedRows,
    TextSamples,
    drawn,
    groups_of,
    planning_steps,
    ranking_steps,
    text_pairs,
    texts_of,
)
from tests.tiny_models import tiny_causal, tiny_cross_encoder, tiny_encoder, tiny_t5


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


PAIR_TEXTS = [text for pair in text_pairs() for text in (pair.prompt, pair.answer)]


@pytest.mark.slow
def test_seq2seq_learns_fifty_examples_exactly(tmp_path) -> None:
    base = str(tiny_t5(tmp_path / "base", PAIR_TEXTS, layers=1, vocabulary=400))
    changes = {"epochs": 60, "batch_size": 10, "learning_rate": 3e-3, "warmup_steps": 10, "max_length": 128}
    settings, tokenizer = make_settings("seq2seq", changes), load_tokenizer(base)
    samples = TextSamples(text_pairs(), tokenizer, 128)
    task = Seq2SeqTask(base, tokenizer, settings, samples, samples)
    assert task.evaluate(task.model) == {"exact_match": 0.0}
    assert train(task, settings, tmp_path / "out") == "done"
    assert task.evaluate(task.model) == {"exact_match": 1.0}
    task.save(tmp_path / "out")
    again = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "out", use_safetensors=True)
    assert task.evaluate(again) == {"exact_match": 1.0}


@pytest.mark.slow
def test_a_causal_model_learns_fifty_examples_exactly(tmp_path) -> None:
    base = str(tiny_causal(tmp_path / "base", PAIR_TEXTS, layers=1, vocabulary=400))
    changes = {"epochs": 60, "batch_size": 10, "learning_rate": 3e-3, "warmup_steps": 10, "max_length": 128}
    settings, tokenizer = make_settings("causal", changes), load_tokenizer(base)
    samples = TextSamples(text_pairs(), tokenizer, 128)
    task = CausalTask(base, tokenizer, settings, samples, samples)
    train(task, settings, tmp_path / "out")
    assert task.evaluate(task.model) == {"exact_match": 1.0}


@pytest.mark.slow
def test_a_cross_encoder_learns_to_rank_fifty_steps(tmp_path) -> None:
    steps = ranking_steps()
    base = str(tiny_cross_encoder(tmp_path / "base", texts_of(steps), layers=1))
    changes = {"epochs": 40, "learning_rate": 1e-3, "batch_size": 16, "neg_ratio": 3, "q3_swapped_pairs": False}
    settings = make_settings("cross_encoder", changes)
    pairs = drawn(steps, cross_encoder_lines(settings), tmp_path / "pairs.jsonl", settings.epochs)
    task = CrossEncoderTask(base, settings, pairs)
    assert task.size == 200  # a positive and three negatives each
    train(task, settings, tmp_path / "out")
    task.dev = steps
    task.model.eval()
    assert task.evaluate(task.model)["recall@1"] == 1.0


@pytest.mark.slow
def test_a_dual_encoder_learns_to_rank_fifty_steps(tmp_path) -> None:
    steps = ranking_steps()
    base = str(tiny_encoder(tmp_path / "base", texts_of(steps), layers=1))
    settings = make_settings("dual_encoder", {"epochs": 20, "learning_rate": 3e-3, "warmup_steps": 10})
    task = DualEncoderTask(base, settings, drawn(steps, dual_encoder_lines(settings), tmp_path / "pairs.jsonl"), steps)
    before = task.evaluate(task.model)
    train(task, settings, tmp_path / "out")
    assert before["recall@1"] < 0.6
    assert task.evaluate(task.model) == dict.fromkeys(before, 1.0)


@pytest.mark.slow
def test_deberta_is_trained_by_the_same_code(tmp_path) -> None:
    steps = ranking_steps(10)
    base = str(tiny_cross_encoder(tmp_path / "base", texts_of(steps), layers=1, deberta=True))
    settings = make_settings("cross_encoder", {"epochs": 3, "learning_rate": 1e-3, "gradient_checkpointing": True})
    pairs = drawn(steps, cross_encoder_lines(settings), tmp_path / "pairs.jsonl", settings.epochs)
    task, told = CrossEncoderTask(base, settings, pairs), []
    train(task, settings, tmp_path / "out", tell=told.append)
    losses = [point["loss"] for point in told[-1].curve]
    assert losses[-1] < losses[0]


def test_training_pairs_are_candidate_first_unless_q3_is_off(tmp_path) -> None:
    steps = [RankingStep(0, "query", ("gold",), ("other",))]
    base = str(tiny_cross_encoder(tmp_path / "base", ["query gold other"], layers=1))
    for swapped in (True, False):
        settings = make_settings("cross_encoder", {"epochs": 1, "q3_swapped_pairs": swapped})
        path = tmp_path / f"{swapped}.jsonl"
        task = CrossEncoderTask(base, settings, drawn(steps, cross_encoder_lines(settings), path))
        batch = task.batch(0, [0, 1])
        texts = task.tokenizer.batch_decode(batch["input_ids"], skip_special_tokens=True)
        assert texts == (["gold query", "other query"] if swapped else ["query gold", "query other"])
        assert batch["label"].tolist() == [1.0, 0.0]


def test_draws_follow_the_published_rules() -> None:
    rng = random.Random(1)
    draws = cross_encoder_draws(2, 3, 5, rng)
    assert [label for _, label in draws] == [1, 0, 0, 0, 0, 0]
    assert draws[0][0] < 2 <= min(index for index, label in draws if not label)
    assert {label for _, label in cross_encoder_draws(1, 0, 5, rng)} == {1}
    assert dual_encoder_draws(1, 3, 9, rng) == [(0, 1), (1, 0), (2, 0), (3, 0)]
    many = dual_encoder_draws(2, 30, 9, rng)
    assert len(many) == 11
    assert len(set(many)) == 11


@pytest.mark.parametrize("reseeds", [True, False])
def test_negatives_are_drawn_anew_in_each_conversation_when_corrected(reseeds: bool) -> None:
    settings = make_settings("dual_encoder", {"q5_reseed_per_demo": reseeds})
    texts = tuple(map(str, range(40)))
    first, second = (dual_encoder_lines(settings)([RankingStep(group, "query", ("gold",), texts)]) for group in (1, 2))
    assert [len(line["draws"]) for line in first] == [10]
    assert (first == second) is reseeds


def test_a_sample_has_the_gold_element_four_times_in_five() -> None:
    draw, negatives = CandidateDraw(), [(str(n), n) for n in range(20)]
    found = [draw.draw(("gold",), negatives, random.Random(n)) for n in range(2000)]
    share = sum(gold is None for gold, _ in found) / len(found)
    assert 0.17 < share < 0.23
    assert {len(others) for gold, others in found if gold} == {4}
    assert {len(others) for gold, others in found if not gold} == {5}
    assert draw.draw(("gold",), [], random.Random(0)) == ("gold", [])
    assert draw.draw((), negatives, random.Random(0))[0] is None
    top = CandidateDraw(top_k=5)
    ranks = [int(others[0]) < 5 for _, others in (top.draw(("g",), negatives, random.Random(n)) for n in range(500))]
    assert 0.74 < sum(ranks) / len(ranks) < 0.86


@pytest.mark.parametrize("paradigm", ["multichoice", "generation"])
def test_page_samples_are_the_planners_input_and_its_answer(tmp_path, paradigm) -> None:
    steps = planning_steps(3)
    base = tiny_t5(tmp_path / "base", [steps[0].current.html], vocabulary=600)
    tokenizer = load_tokenizer(str(base))
    settings = make_settings("seq2seq", {"paradigm": paradigm, "repeats": 4, "simplification": True})
    samples = PageSamples(ListedRows(steps), tokenizer, settings, 4)
    assert samples.size == 12
    drawn_ids = samples.get(0, range(12))
    assert drawn_ids == samples.get(0, range(12))
    assert drawn_ids != samples.get(1, range(12))
    answers = [tokenizer.decode(answer, skip_special_tokens=True) for _, answer in drawn_ids]
    none = {"multichoice": "A.", "generation": "None"}[paradigm]
    assert none in answers
    told = [answer for answer in answers if answer != none]
    assert all(answer.endswith("Action: CLICK\n") for answer in told)
    prompts = [tokenizer.decode(prompt, skip_special_tokens=True) for prompt, _ in drawn_ids]
    assert all("Task: press bat" in prompt for prompt in prompts[4:8])
    assert all("Task: press ant" in prompt for prompt in prompts[4:8])  # its memory
    assert all(len(prompt) <= 2048 for prompt, _ in drawn_ids)


def test_a_step_whose_page_cannot_be_read_is_left_out_and_counted(tmp_path) -> None:
    steps = planning_steps(3)
    tokenizer = load_tokenizer(str(tiny_t5(tmp_path / "base", [steps[0].current.html], vocabulary=600)))
    settings = make_settings("seq2seq", {"repeats": 2})
    for bad in ("<html", "<a/>" * 1_000_001):
        spoilt = [steps[0], replace(steps[1], current=replace(steps[1].current, html=bad)), steps[2]]
        left_out = LeftOut(tmp_path / "work" / f"{len(bad)}.jsonl")
        samples = PageSamples(ListedRows(spoilt), tokenizer, settings, 2, left_out)
        drawn_ids = samples.get(0, range(6))
        prompts = [tokenizer.decode(prompt, skip_special_tokens=True) for prompt, _ in drawn_ids]
        assert ["Task: press cat" in prompt for prompt in prompts] == [False, False, True, True, True, True]
        assert samples.get(0, range(6)) == drawn_ids
        first, reason = LeftOut(tmp_path / "work" / f"{len(bad)}.jsonl").warnings()
        assert first == "1 steps were left out because their pages cannot be shown"
        assert reason.startswith("step 1: ")
    none = PageSamples(ListedRows(spoilt[1:2]), tokenizer, settings, 2)
    with pytest.raises(PageError, match="none of the train steps"):
        none.get(0, [0])


def test_the_loss_of_a_causal_model_is_on_the_answer_or_on_all(tmp_path) -> None:
    base = str(tiny_causal(tmp_path / "base", PAIR_TEXTS, layers=1, vocabulary=400))
    tokenizer = load_tokenizer(base)
    samples = TextSamples(text_pairs(2), tokenizer, 128)
    (prompt, answer), _ = samples.get(0, [0, 1])
    for loss_on, scored in {"answer": len(answer) + 1, "text": len(prompt) + len(answer) + 1}.items():
        task = CausalTask(base, tokenizer, make_settings("causal", {"loss_on": loss_on}), samples)
        labels = task.batch(0, [0])["labels"][0]
        assert int((labels != IGNORED).sum()) == scored
        assert labels[-1] == tokenizer.eos_token_id


def test_the_loss_of_a_causal_model_is_that_of_all_logits_of_which_few_are_made(tmp_path) -> None:
    base = str(tiny_causal(tmp_path / "base", PAIR_TEXTS, layers=1, vocabulary=400))
    tokenizer = load_tokenizer(base)
    samples = TextSamples(text_pairs(3), tokenizer, 128)
    for loss_on in ("answer", "text"):
        task = CausalTask(base, tokenizer, make_settings("causal", {"loss_on": loss_on}), samples)
        batch, made = task.batch(0, [0, 1, 2]), []
        hook = task.model.get_output_embeddings().register_forward_hook(lambda *given, made=made: made.append(given[2]))
        found = {}
        for name, loss in (("ours", task.loss(task.model, batch)), ("all", task.model(**batch).loss)):
            task.model.zero_grad()
            loss.backward()
            found[name] = [loss.detach(), *(p.grad.clone() for p in task.model.parameters() if p.grad is not None)]
        hook.remove()
        assert len(found["ours"]) == len(found["all"]) > 2
        for own, whole in zip(found["ours"], found["all"], strict=True):
            torch.testing.assert_close(own, whole, rtol=1e-4, atol=1e-6)
        few, every = (logits.shape[1] for logits in made)
        assert (few < every / 2) is (loss_on == "answer"), (few, every)


def test_a_causal_model_learns_from_the_whole_prompt_that_it_is_asked(tmp_path) -> None:
    """A prompt as long as it may be stays whole: the answer comes after it, as in use."""
    base = str(tiny_causal(tmp_path / "base", PAIR_TEXTS, layers=1, vocabulary=400))
    tokenizer = load_tokenizer(base)
    prompt, answer = TextSamples(text_pairs(1), tokenizer, 128).get(0, [0])[0]
    longest = (prompt * 2)[:16]
    samples = SimpleNamespace(size=1, get=lambda epoch, indices: [(longest, answer)])
    task = CausalTask(base, tokenizer, make_settings("causal", {"max_length": 16}), samples)
    read = task.batch(0, [0])["input_ids"][0].tolist()
    assert read[:16] == longest
    assert len(read) > 16


def test_preparing_pairs_goes_on_after_the_last_whole_conversation(tmp_path) -> None:
    settings, steps = make_settings("dual_encoder", {}), ranking_steps(20)
    whole = drawn(steps, dual_encoder_lines(settings), tmp_path / "whole.jsonl")
    path, rounds = tmp_path / "cut.jsonl", 0
    while prepare(groups_of(steps), dual_encoder_lines(settings), path, lambda: True) == "paused":
        rounds += 1
        part = path.with_suffix(".part")
        part.write_bytes(part.read_bytes() + b'{"query": "half a li')  # killed while it wrote
        assert rounds < 10
    assert rounds == 4
    assert path.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert Pairs(path).get(0, range(whole.size)) == whole.get(0, range(whole.size))


def test_hit_rates_count_steps_without_gold_as_misses() -> None:
    steps = [RankingStep(0, "q", ("a",), ("b", "c")), RankingStep(0, "q", (), ("b",))]
    rates = hit_rates(steps, lambda step, texts: [0.0] * len(texts))
    assert rates["recall@1"] == rates["mrr"] == 0.5
    assert hit_rates([], None) == {}


def test_weights_that_cannot_be_had_are_named_in_one_line(tmp_path) -> None:
    with pytest.raises(TrainingError, match="give --base a folder") as error:
        load_model("seq2seq", str(tmp_path / "nothing"))
    assert "\n" not in str(error.value)


def test_a_head_that_no_base_has_and_layers_that_are_left_out_are_not_reported_as_if_they_had_failed(
    tmp_path, caplog: pytest.LogCaptureFixture
) -> None:
    base = tiny_encoder(tmp_path / "base", ["a house", "a boat"])
    reporter = logging.getLogger("transformers.modeling_utils")
    reporter.addHandler(caplog.handler)
    try:
        model = load_model("cross_encoder", str(base), num_labels=1, num_hidden_layers=1)
        assert (model.config.num_hidden_layers, model.classifier.out_features) == (1, 1)
        assert "LOAD REPORT" not in caplog.text
        load_model("seq2seq", str(tiny_t5(tmp_path / "t5", ["a house"])), num_layers=1)
        assert "LOAD REPORT" in caplog.text, "of others it tells what nobody expects"
    finally:
        reporter.removeHandler(caplog.handler)

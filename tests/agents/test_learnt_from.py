"""Settings of a recipe that a training for it does not read are refused before anything starts."""

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agents.models import SavedRecipe, TrainedModel
from annotations.models import Dataset, Job, Split
from tests.factories import PAGE, make_conversation, make_dataset
from tests.tiny_models import tiny_cross_encoder

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset() -> Dataset:
    dataset = make_dataset()
    make_conversation(turns=1, steps=2, split=Split.TRAIN, dataset=dataset)
    return dataset


NOTHING = "{} would change nothing in a training {} for {}: it needs {}"
PLANNER, RUN, TURNS = "manage.py train_planner", "manage.py evaluate", "recorded WebLINX turns"


@pytest.mark.parametrize(
    ("command", "recipe", "given", "what", "wants"),
    [
        ("train_ranker", "self-map", "recall.k=2", "of kind=cross_encoder", f"{PLANNER} or {RUN}"),
        ("train_ranker", "mindact", "simplify.group_size=3", "of kind=cross_encoder", f"{PLANNER} or {RUN}"),
        ("train_ranker", "mindact", "compose.shots=1", "of kind=cross_encoder", f"{PLANNER} or {RUN}"),
        ("train_ranker", "mindact", "prompts.pack=mine", "of kind=cross_encoder", f"{PLANNER} or {RUN}"),
        ("train_ranker", "self-map", "plan.max_new_tokens=9", "of kind=cross_encoder", f"{PLANNER} or {RUN}"),
        ("train_ranker", "wma", "imagine.samples=2", "of kind=cross_encoder", RUN),
        ("train_ranker", "mindact", "act.guard=policy", "of kind=cross_encoder", RUN),
        ("train_ranker", "mindact", "rank.model=mine", "of kind=cross_encoder", RUN),
        ("train_ranker", "mindact", "rank.top_k=9", "of kind=cross_encoder", RUN),
        ("train_ranker", "dmr-minilm", "rank.history_turns=2", "of kind=dual_encoder", f"{TURNS} or {RUN}"),
        ("train_planner", "self-map", "rank.model=mine", "of kind=seq2seq", RUN),
        ("train_planner", "self-map", "rank.top_k=9", "of kind=seq2seq", RUN),
        ("train_planner", "self-map", "plan.model=mine", "of kind=seq2seq", RUN),
        ("train_planner", "self-map", "plan.backend=endpoint", "of kind=seq2seq", RUN),
        ("train_planner", "self-map", "quirks.q10_unreadable_picks_first=false", "of kind=seq2seq", RUN),
        ("train_planner", "self-map", "act.guard=policy", "of kind=seq2seq", RUN),
        ("train_planner", "wma", "imagine.samples=2", "of kind=causal", RUN),
        ("train_planner", "mims", "recall.induction=online", "of kind=causal", RUN),
        ("train_planner", "grounded", "recall.k=2", "of kind=grounded", RUN),
        ("train_world_model", "self-map", "recall.k=2", "on world_model", f"{PLANNER} or {RUN}"),
        ("train_world_model", "wma", "imagine.page_tokens=99", "on world_model", RUN),
    ],
)
def test_a_setting_that_a_training_does_not_read_is_refused_with_what_reads_it(
    command, recipe, given, what, wants, dataset
) -> None:
    with pytest.raises(CommandError) as refused:
        call_command(command, dataset.name, name="x", recipe=recipe, changes=[given], inline=True)
    assert str(refused.value) == NOTHING.format(given.partition("=")[0], what, recipe, wants)
    assert not TrainedModel.objects.exists()
    assert not Job.objects.exists()


@pytest.mark.slow
def test_what_comes_with_a_recipe_is_no_error_and_one_may_say_it_again(dataset, tmp_path, settings) -> None:
    """Also of a recipe that somebody derived by settings of other stages."""
    settings.MODEL_ROOT = tmp_path
    base = str(tiny_cross_encoder(tmp_path / "base", [PAGE], layers=1, width=16))
    said = {"parent": "self-map", "changes": {"recall.k": "2", "act.guard": "policy"}}
    SavedRecipe.objects.create(project=dataset.project, name="mine", **said)
    for recipe, given in (("self-map", ["recall.k=3"]), ("mine", ["recall.k=2", "rank.kind=cross_encoder"])):
        asked: dict[str, Any] = {"name": f"of-{recipe}", "recipe": recipe, "base": base, "limit": 1}
        told = io.StringIO()
        changes = [*given, "epochs=1", "mixed_precision=no"]
        call_command("train_ranker", dataset.name, **asked, changes=changes, inline=True, stdout=told)
        assert f"of-{recipe}: " in told.getvalue()

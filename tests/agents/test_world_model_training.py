"""A world model and a value function are trained on transitions, in the prompts that recipes ask."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agents.encoders import weights
from agents.generators.local import LocalGenerator
from agents.management.commands.train_world_model import Command
from agents.memory.describe import told
from agents.memory.measuring import measure
from agents.memory.transitions import seen_at
from agents.memory.written import facts_in, facts_of_page
from agents.models import TrainedModel
from agents.observations import RecordedConversation
from agents.prompts.packs import webnav
from agents.recipes import literature
from agents.training.given_texts import given
from agents.training.jobs import run_inline, start_training
from agents.training.mismatches import unlike_training
from agents.training.samples.rows import SplitRows
from agents.training.samples.transition_rows import TransitionRows
from agents.training.settings import make_settings
from agents.training.trained import card
from agents.training.unpacking import unpacked
from agents.words.generator import ChatPrompt, Generated
from annotations.corpus.store import ConversationStore
from annotations.models import Conversation, Dataset, Job
from tests.agents.test_transitions import dataset, past, recorded
from tests.tiny_models import tiny_causal

__all__ = ["dataset"]
pytestmark = pytest.mark.django_db
TEXTS = [webnav().texts["world_model"], webnav().texts["value"], "[Score] 0.25 checkbox 'News' checked: true"]


class Letters:
    """A tokenizer whose tokens are characters."""

    chat_template = None

    def __call__(self, text: str, **options: Any) -> dict[str, Any]:
        return {"input_ids": [ord(letter) for letter in text[: options.get("max_length")]]}


def pairs(dataset: Dataset, paradigm: str) -> list[tuple[str, str]]:
    settings: Any = make_settings("causal", {"paradigm": paradigm, "max_length": "9000"})
    rows = TransitionRows(SplitRows(dataset, "train"), settings, Letters())
    found = [pair for _, group in rows.groups() for pair in group]
    return [("".join(map(chr, pair["prompt"])), pair["answer"]) for pair in found]


@pytest.mark.slow
def test_a_world_model_reads_what_is_asked_and_writes_what_happened(dataset: Dataset) -> None:
    past(dataset).prepare()
    row = dataset.transitions.order_by("pk")[0]
    row.describe("1. It.", "A box.", "The expected effect is that it is checked.", "m", "webnav")
    found = pairs(dataset, "world_model")
    assert len(found) == 6
    prompt, answer = found[0]
    assert "CURRENT ACTION: CLICK on [3] where [3] is checkbox 'News' checked: false" in prompt
    assert answer == "[Rationale] A box.\n[Next State] The expected effect is that it is checked."
    assert found[1][1].endswith("changed textbox 'Name' value: 'ada'.")
    assert "PREVIOUS ACTIONS:\nCLICK\n" in found[1][0]


def test_a_world_model_of_whole_pages_writes_the_page_that_came(dataset: Dataset) -> None:
    prompt, answer = pairs(dataset, "world_model_page")[0]
    assert "write the page after that action" in prompt
    assert "checkbox 'News' checked: false" in prompt
    assert answer.startswith("[Rationale] \n[Next State] [1] RootWebArea")
    assert "checkbox 'News' checked: true" in answer


def test_a_value_function_is_taught_how_far_on_the_way_a_step_is(dataset: Dataset) -> None:
    found = pairs(dataset, "value")[:3]
    assert [answer for _, answer in found] == ["[Score] 0.25", "[Score] 0.5", "[Score] 0.75"]
    assert "EXPECTED EFFECT: The expected effect is that changed checkbox 'News' checked: true." in found[0][0]


def test_a_limit_takes_conversations_from_all_over_the_split(dataset: Dataset) -> None:
    """The first ones may all be of one website."""
    store = ConversationStore(dataset)
    records = [recorded(f"more-{number}", "train", "ada") for number in range(4)]
    store.store([(record, store.sha256(record)) for record in records])
    every = SplitRows(dataset, "train").conversation_ids
    assert len(every) == 6
    assert SplitRows(dataset, "train", 3).conversation_ids == [every[0], every[2], every[4]]
    assert SplitRows(dataset, "train", 9).conversation_ids == every
    assert SplitRows(dataset, "train", 3).sha256 != SplitRows(dataset, "train").sha256


def test_what_is_told_by_its_facts_is_read_as_facts_again(dataset: Dataset) -> None:
    recorded = RecordedConversation(Conversation.objects.get(dataset=dataset, split="dev").pk)
    happened = [seen_at(recorded, step) for step in recorded.steps]
    assert [dict(facts_in(told(one))) for one in happened if one] == [
        {"changed checkbox 'News' checked: true": 1},
        {"changed textbox 'Name' value: 'eve'": 1},
        {},
    ]


def test_a_world_model_asked_otherwise_than_it_was_trained_is_told(dataset: Dataset) -> None:
    for name, paradigm in (("words", "world_model"), ("pages", "world_model_page")):
        TrainedModel.objects.create(
            project=dataset.project, dataset=dataset, name=name, kind="causal", config={"paradigm": paradigm}
        )
    asks = literature.override(literature.get("wma"), {"imagine.kind": "trained", "imagine.model": "words"})
    assert unlike_training(literature.to_dict(asks), dataset.project_id) == []
    other = literature.override(asks, {"imagine.predicts": "page"})
    assert unlike_training(literature.to_dict(other), dataset.project_id) == [
        "imagine.model=words was trained to answer world_model; wma asks it world_model_page."
    ]
    fits = literature.override(other, {"imagine.model": "pages"})
    assert unlike_training(literature.to_dict(fits), dataset.project_id) == []


@pytest.mark.parametrize("setting", ["imagine.model", "imagine.value_model"])
def test_what_imagines_and_what_values_are_told_with_longer_pages_and_other_words(
    dataset: Dataset, setting: str
) -> None:
    paradigm = "world_model" if setting == "imagine.model" else "value"
    texts = given(None, paradigm, dataset)
    assert list(texts["sha256"]) == [paradigm]
    job = Job.objects.create(kind=Job.Kind.TRAIN, project=dataset.project, params={"texts": texts})
    config = make_settings("causal", {"paradigm": paradigm, "page_tokens": "900"}).__dict__
    model = TrainedModel.objects.create(project=dataset.project, name="own", kind="causal", config=config, job=job)
    changes = {"imagine.kind": "trained", "imagine.value": "progress", setting: "own"}
    asks = literature.override(literature.get("wma"), changes)
    assert unlike_training(literature.to_dict(asks), dataset.project_id) == [
        f"{setting}=own was trained with imagine.page_tokens=900; wma asks it with imagine.page_tokens=3840."
    ]
    assert card.use_of("causal", "own", model.config).endswith("=own imagine.page_tokens=900`")
    fits = literature.override(asks, {"imagine.page_tokens": "900"})
    assert unlike_training(literature.to_dict(fits), dataset.project_id) == []
    job.params["texts"]["sha256"][paradigm] = "of other words"
    job.save()
    version = f"prompts.pack=webnav@{webnav().version}"
    assert unlike_training(literature.to_dict(fits), dataset.project_id) == [
        f"{setting}=own was trained with {version}; wma asks it with {version} (other texts: {paradigm})."
    ]
    model.config["paradigm"] = "generation"
    model.save()
    (said,) = unlike_training(literature.to_dict(fits), dataset.project_id)
    assert said == f"{setting}=own was trained to answer generation; wma asks it {paradigm}."


@pytest.mark.parametrize(
    ("asked", "paradigm"), [([], "world_model"), (["--page"], "world_model_page"), (["--value"], "value")]
)
def test_the_command_names_what_is_learned(asked: list[str], paradigm: str) -> None:
    command = Command()
    options = vars(
        command.create_parser("manage.py", "train_world_model").parse_args(["sample", "--name", "x", *asked])
    )
    assert command.changes(options)["paradigm"] == paradigm


def test_only_the_embedded_model_is_unpacked() -> None:
    assert unpacked("some/model") == "some/model"
    with pytest.raises(ValueError, match="there is no embedded model"):
        unpacked("embedded:other")


@pytest.mark.slow
def test_it_is_trained_beside_its_base_and_measured(dataset: Dataset, tmp_path: Path, settings, monkeypatch) -> None:
    settings.MODEL_ROOT = tmp_path / "models"
    monkeypatch.setenv("MODEL_ROOT", str(settings.MODEL_ROOT))
    base = str(tiny_causal(tmp_path / "base", TEXTS, width=16, layers=1, vocabulary=400))
    changes = {"paradigm": "world_model", "adapter": "lora", "epochs": 1, "max_length": 1500, "max_new_tokens": 5}
    changes |= {"mixed_precision": "no", "dev_examples": 1}
    asked: dict[str, Any] = {"kind": "causal", "base": base, "changes": changes, "publish": False}
    model = start_training(user=None, dataset=dataset, name="dreamer", **asked)
    assert run_inline(model).state == "done"
    model.refresh_from_db()
    assert (model.kind, model.metrics["examples"]) == (TrainedModel.Kind.CAUSAL, 6)
    assert weights.find("dreamer") == model.folder
    hinted = "`--set imagine.kind=trained imagine.model=dreamer imagine.page_tokens=900`"
    assert card.use_of("causal", "dreamer", model.config) == hinted
    one = past(dataset)
    one.prepare()
    assert 0 <= measure(one, "test_task", None, "dreamer").scores["dreamer"].f1 <= 1


@pytest.mark.slow
def test_a_model_that_writes_pages_is_asked_for_pages(dataset: Dataset, tmp_path: Path, settings, monkeypatch) -> None:
    settings.MODEL_ROOT = tmp_path
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path))
    tiny_causal(tmp_path / "pages", TEXTS, width=16, layers=1, vocabulary=400)
    asked: list[str] = []
    answer = LocalGenerator.generate

    def heard(self: LocalGenerator, prompts: Sequence[ChatPrompt], *sampling: Any) -> list[Generated]:
        asked.extend(str(prompt.messages[0].content) for prompt in prompts)
        return answer(self, prompts, *sampling)

    monkeypatch.setattr(LocalGenerator, "generate", heard)
    made = {"project": dataset.project, "dataset": dataset, "name": "pages", "kind": "causal"}
    row = TrainedModel.objects.create(**made, config={"paradigm": "world_model_page"})
    one = past(dataset)
    one.prepare()
    assert 0 <= measure(one, "test_task", None, "pages").scores["pages"].f1 <= 1
    assert len(asked) == 3
    assert all("write the page after that action" in text for text in asked)
    row.config = {"paradigm": "world_model"}
    row.save()
    measure(one, "test_task", None, "pages")
    assert len(asked) == 6
    assert all("describe the change" in text for text in asked[3:])


def test_a_page_that_was_written_is_told_by_its_differences() -> None:
    page = "[1] RootWebArea ''\n\t[3] checkbox 'News' checked: false"
    assert dict(facts_of_page(page, page.replace("false", "true"))) == {"changed checkbox 'News' checked: true": 1}
    assert facts_of_page(page, page) == Counter()
    assert facts_of_page(page, "The box will be checked.") is None

"""The files beside the weights: settings, metrics and the model card. Core."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.recipes.settings import ImagineSettings
from agents.stages.registry import planner_named
from annotations.text.amounts import value_text

SETTINGS, METRICS, CARD = "training.json", "metrics.json", "README.md"
USES = {
    "cross_encoder": "`--set rank.kind=cross_encoder rank.model={name}`",
    "dual_encoder": "`--set rank.kind=dmr rank.model={name}`",
    "grounded": "the recipe `grounded` with `--set plan.model={name}`",
    "seq2seq": "`--set plan.model={name}`, in recipes whose `plan.kind` is `{paradigm}`",
    "causal": "`--set plan.model={name}`, in recipes whose `plan.kind` is `{paradigm}`",
}


@dataclass(frozen=True)
class Training:
    """What a trained model was made from, for its card and for training it again."""

    name: str
    kind: str
    kind_label: str  # in words
    base: str
    dataset: str
    data_sha256: str
    data_licence: str
    split: str
    conversations: int
    seed: int
    settings: dict[str, Any]
    metrics: dict[str, Any]
    recipe: str = ""  # whose stages made the samples; "": none was named
    recipe_sha256: str = ""
    prompts: str = ""  # the pack whose words the samples hold
    prompts_sha256: str = ""  # "": no model is given words
    written: tuple[str, ...] = ()  # who wrote texts in the samples that nobody recorded, as sentences
    lessons: int = 0  # steps of which people taught something by verdicts and corrections
    lessons_sha256: str = ""


IMAGINING = {
    "world_model": "`--set imagine.kind=trained imagine.model={name}{pages}`",
    "world_model_page": "`--set imagine.kind=trained imagine.predicts=page imagine.model={name}{pages}`",
    "value": "`--set imagine.value=progress imagine.value_model={name}{pages}`",
}  # paradigm -> use, whatever the kind


def use_of(kind: str, name: str, settings: dict[str, Any]) -> str:
    """The setting by which a recipe uses the model, as options of a command."""
    paradigm = settings.get("paradigm", "")
    tokens = settings.get("page_tokens", usual := ImagineSettings().page_tokens)
    pages = "" if tokens == usual else f" imagine.page_tokens={tokens}"  # asked about longer pages it would be worse
    how = IMAGINING.get(paradigm, USES[kind]).format(name=name, paradigm=paradigm, pages=pages)
    planner = planner_named(paradigm)
    asks = planner is not None and planner.learns_prompts()  # an endpoint, in the recipes that have it
    return how.replace("--set", "--set plan.backend=local") if asks else how


def write_files(folder: Path, training: Training) -> None:
    """training.json, metrics.json and the card README.md."""
    made_of = {name: value for name, value in vars(training).items() if name != "metrics"}
    _write(folder / SETTINGS, json.dumps(made_of, indent=1, sort_keys=True) + "\n")
    _write(folder / METRICS, json.dumps(training.metrics, indent=1, sort_keys=True) + "\n")
    _write(folder / CARD, card(training))


def card(training: Training) -> str:
    """The model card as Markdown, with the front matter that model hubs read."""
    return "\n".join(
        [
            "---",
            f"base_model: {json.dumps(training.base)}",
            f"library_name: {'transformers' if training.settings.get('adapter', 'none') == 'none' else 'peft'}",
            "tags: [web-navigation]",
            "---",
            "",
            f"# {training.name}",
            "",
            f"A {training.kind_label} for web navigation, trained with WebNav from `{training.base}`.",
            "",
            *_adapter(training),
            "## Data",
            "",
            *_data(training),
            f"- the weights `{training.base}` that it started from have a licence of their own",
            "",
            *_recipe(training),
            "## Use",
            "",
            f"{use_of(training.kind, training.name, training.settings)}",
            "",
            "## Metrics",
            "",
            *_table(training.metrics),
            "",
            "## Settings",
            "",
            f"Seed {training.seed}.",
            "",
            *_table(training.settings),
            "",
        ]
    )


def _adapter(training: Training) -> list[str]:
    kept = {"lora": "as they were", "qlora": "as they were, kept in 4 bits while it was trained"}
    said = kept.get(training.settings.get("adapter", "none"))
    if said is None:
        return []
    return [
        f"This folder holds a LoRA adapter alone: it is merged into `{training.base}`, whose weights are {said}.",
        "",
    ]


def _data(training: Training) -> list[str]:
    licence = training.data_licence or "not recorded with the dataset; ask where it came from"
    said = f"what people taught of {training.lessons:,} of its steps by verdicts and corrections"
    pairs = training.metrics.get("pairs", 0)
    return [
        f"- dataset `{training.dataset}`, split `{training.split}`, {training.conversations:,} conversations",
        f"- data SHA-256 `{training.data_sha256}` (of the imported records, in order)",
        *([f"- {said} (SHA-256 `{training.lessons_sha256}`)"] if training.lessons else []),
        *([f"- {pairs:,} pairs of a right and a wrong answer, by the DPO loss"] if pairs else []),
        f"- licence of the data: {licence}",
    ]


def _recipe(training: Training) -> list[str]:
    if not training.recipe:
        return []
    is_asked = "paradigm" in training.settings  # a ranker, or a network on vectors, reads no prompts
    said = f"Its samples are composed as the recipe `{training.recipe}` composes what it asks"
    said = said if is_asked else f"Trained for the recipe `{training.recipe}`"
    lines = ["## Recipe", "", f"{said} (SHA-256 of the recipe `{training.recipe_sha256}`).", ""]
    if training.prompts_sha256 and is_asked:
        lines += [f"Words: prompt pack `{training.prompts}` (SHA-256 of its texts `{training.prompts_sha256}`).", ""]
    if training.written:
        lines += [" ".join(training.written), ""]
    return lines


def _table(values: dict[str, Any]) -> list[str]:
    rows = [f"| {name} | {_cell_text(value)} |" for name, value in sorted(values.items())]
    return ["| name | value |", "|---|---|", *rows] if rows else ["None."]


def _cell_text(value: Any) -> str:
    return value_text(value).replace("|", "\\|")


def _write(path: Path, text: str) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(text, "utf-8")
    part.replace(path)

"""Numbers that the papers print for our recipes, read from a file and never typed into code.

`data/published.json` holds the cells of the tables: source, table, system, model, split, metric, value, unit. Where a
cell does not name a recipe, its row of the table does (`RECIPES_OF_ROWS`).
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "data" / "published.json"
# (source, table, row of the table) -> recipe, for the rows whose cells name none
RECIPES_OF_ROWS = {
    ("Self-MAP", "3", "w/o Generation-based Planning"): "self-map-mcq",
    ("Self-MAP", "3", "w/o Memory Simplification"): "self-map-full-state",
    ("Self-MAP", "3", "w/o Memory Refinement"): "self-map-no-rationale",
    ("Self-MAP", "3", "w/o Multifaceted Matching"): "self-map-chronological",
    ("Self-MAP", "4", "Mind2Act"): "mindact",
    ("Self-MAP", "4", "Mind2Act + CAR"): "mindact-car",
    ("Self-MAP", "4", "Mind2Act + Fixed"): "mindact-fixed",
    ("Self-MAP", "4", "Synapse"): "synapse-conversation",
    ("Self-MAP", "4", "Self-MAP"): "self-map",
    ("Synapse", "1", "SYNAPSE w/ state abstraction"): "synapse-abstraction",
    ("Synapse", "1", "SYNAPSE w/ state abstraction + TaE"): "synapse-no-memory",
    ("Synapse", "1", "SYNAPSE w/ state abstraction + TaE + memory"): "synapse",
    ("MIMS", "3.5", "exemplar=environment"): "exemplar-environment",
    ("MIMS", "4.3", "none"): "bare",
    ("MIMS", "4.3", "Synapse"): "synapse",
    ("MIMS", "4.3", "AWM"): "awm",
    ("MIMS", "4.3", "MIMS"): "mims",
    ("context", "3", "BGE baseline"): "dmr-bge",
    ("context", "3", "GTE baseline"): "dmr-gte",
    ("context", "4", "MiniLM baseline"): "dmr-minilm",
    ("context", "4", "MindAct-RoBERTa"): "mindact-weblinx",
    ("context", "text", "Flan-T5-250M baseline"): "weblinx-flan-t5",
    ("context", "text", "Flan-T5-250M w=10"): "weblinx-flan-t5-w10",
    ("WMA", "1", "CoT, 5 actions"): "cot",
    ("WMA", "2", "CoT"): "cot",
    ("WMA", "3", "Synapse"): "synapse",
    ("WMA", "3", "MindAct"): "mindact-icl",
    ("WMA", "3", "AWM with element filter"): "awm",
    ("WMA", "7", "CoT"): "cot",
}
# The same for rows that repeat another table's: they have a place in their own table only
REPEATED_ROWS = {
    ("Self-MAP", "3", "Self-MAP"): "self-map",
    ("Synapse", "1", "MindAct"): "mindact-icl",
    ("MIMS", "3.5", "exemplar=none"): "bare",
    ("context", "2", "MiniLM limit 200"): "dmr-minilm",
    ("context", "3", "MiniLM baseline"): "dmr-minilm",
}
# The world model and the value function of WMA's own rows are trained; `wma` prompts both, which no row is of
_TRAINED = {"imagine.kind": "trained", "imagine.value": "progress"}
_NO_FILTER = {"quirks.q27_fails_unasked": "false"}  # the element filter leaves out steps whose gold element ranks low
# Rows of a recipe with other settings: these, and nothing else, may differ from it
VARIANTS: dict[tuple[str, str, str], tuple[str, dict[str, str]]] = {
    **{("WMA", table, "WMA"): ("wma", _TRAINED) for table in ("1", "2", "4", "5", "7")},
    ("WMA", "3", "AWM with element filter"): ("awm", {"quirks.q27_fails_unasked": "true"}),
    ("WMA", "3", "AWM without element filter"): ("awm", _NO_FILTER),
    ("WMA", "3", "AWM + WMA"): (
        "awm",
        {"plan.samples": "20", "plan.temperature": "1.0", **_TRAINED, "imagine.loop": "mind2web", **_NO_FILTER},
    ),
    ("MIMS", "3.5", "exemplar=semantic"): ("synapse", {"recall.exemplar_k": "1"}),
    **{
        ("context", "2", f"MiniLM limit {limit or 'none'}"): ("dmr-minilm", {"rank.element_limit": f"{limit}"})
        for limit in (100, 400, 0)
    },
    ("WMA", "5", "WMA, no next state in the value"): ("wma", {"imagine.kind": "value_only"}),
    ("WMA", "5", "WMA, untrained world model"): ("wma", {"imagine.value": "progress"}),
    ("WMA", "5", "WMA, no abstraction"): ("wma", {"imagine.kind": "trained", "imagine.predicts": "page"}),
    ("WMA", "6", "WMA, prompted value"): ("wma", {"imagine.kind": "trained"}),
    ("WMA", "6", "WMA, fine-tuned value"): ("wma", _TRAINED),
    ("WMA", "9", "k = 1, d = 1"): ("wma", {"imagine.samples": "1"}),  # compared with none: no model is asked
    ("WMA", "9", "k = 3, d = 1"): ("wma", _TRAINED),
    **{
        ("WMA", "9", f"k = {k}, d = {d}"): ("wma", {**_TRAINED, "imagine.samples": f"{k}", "imagine.depth": f"{d}"})
        for k, d in ((2, 1), (2, 2), (3, 3), (9, 1))
    },
}
# The planner's model, where a row names the model of another stage
PLANNERS_OF_ROWS = {("WMA", "6", "WMA, fine-tuned value"): "GPT-4o-mini"}
# The planner's model of all tables of a paper whose rows name none: MIMS says in its text which it asked throughout
PLANNERS_OF_PAPERS = {"MIMS": "GPT-4o-mini"}
# Rows that no recipe can fill, and why, where that is not just that nobody wrote one
UNFILLED = {("WMA", "9", "k = 1, d = 3"): "one action is compared with none, so that this is the agent of k = 1, d = 1"}
# (source, table) -> what it shows, in our words: the tables that compare systems, in the order in which they are listed
TABLES = {
    ("Self-MAP", "2"): "Agents on conversations, by kind of test split",
    ("Self-MAP", "3"): "Self-MAP without one of its parts",
    ("Self-MAP", "4"): "Seconds per step",
    ("Synapse", "1"): "State abstraction, trajectories and memory on Mind2Web",
    ("MIMS", "3.5"): "What an exemplar is asked for with",
    ("MIMS", "4.3"): "Memories on Mind2Web",
    ("context", "2"): "Element limits of rankers",
    ("context", "3"): "Encoders of rankers",
    ("context", "4"): "Rankers by kind of test split",
    ("context", "5"): "MiniLM by kind of test split",
    ("context", "text"): "Action models",
    ("WMA", "1"): "WebArena: action selection, by policy",
    ("WMA", "2"): "WebArena: by site",
    ("WMA", "3"): "Mind2Web",
    ("WMA", "4"): "WebArena: success, cost and time against tree search",
    ("WMA", "5"): "200 tasks of WebArena without one of its parts",
    ("WMA", "6"): "The value function, prompted or fine-tuned",
    ("WMA", "7"): "Refining an action instead of choosing one",
    ("WMA", "8"): "Images beside texts",
    ("WMA", "9"): "Figure 6: k actions imagined, d steps deep",
    ("WMA", "10"): "How much of the next state a model foresees",
}
# recipe -> split -> settings with which the paper ran it there, where these differ by split
SETTINGS_OF_SPLITS: dict[str, dict[str, dict[str, str]]] = {
    "mims": {  # M of the best combination on each split
        "test_task": {"recall.workflow_k": "13"},
        "test_website": {"recall.workflow_k": "2"},
        "test_domain": {"recall.workflow_k": "89"},
    }
}
# recipe -> split -> the websites on which its paper searched its settings: one of each subdomain
SEARCHED_SITES: dict[str, dict[str, tuple[str, ...]]] = {
    "mims": {  # Figures 4.1 to 4.4
        "test_task": (
            *("united", "budget", "resy", "spothero", "expedia", "us.megabus", "marriott", "ign", "discogs"),
            *("rottentomatoes", "sports.yahoo", "eventbrite", "underarmour", "bookdepository", "tesla", "apple"),
            *("target", "kohls"),
        ),
        "test_website": ("trip", "shopping.google", "tiktok.music"),
        "test_domain": ("linkedin", "allrecipes", "fedex", "ca.gov"),
    }
}
OUR_METRICS = {"task_success": "conversation_success", "action_f1": "operation_f1"}  # published name -> ours
SCALES = {"percent": 0.01, "fraction": 1.0}
# source -> the data its numbers are about, as a dataset's format names it, and in words
DATA = {"Self-MAP": "mt-mind2web", "Synapse": "mind2web", "MIMS": "mind2web", "context": "weblinx", "WMA": "webarena"}
DATA_OF_TABLES = {("WMA", "3"): "mind2web", ("WMA", "8"): "mind2web"}  # where a paper has more than one
DATA_WORDS = {"mt-mind2web": "MT-Mind2Web", "mind2web": "Mind2Web", "weblinx": "WebLINX", "webarena": "WebArena"}
METRIC_LABELS = {
    "element_accuracy": "Ele. Acc",
    "operation_f1": "Op. F1",
    "step_success": "SSR",
    "turn_success": "TSR",
    "conversation_success": "SR",
    "overall": "Overall",
}
SOURCE_WORDS = {"context": "context analysis"}


@dataclass(frozen=True)
class PublishedCell:
    """One printed number, as a fraction. `data`: the format of the dataset that it was measured on."""

    recipe: str
    source: str
    table: str
    system: str
    model: str
    data: str
    split: str
    metric: str
    value: float

    @property
    def planner(self) -> str:
        """The planner's model: of the row, or where the rows name none that of the paper's text."""
        return self.model or PLANNERS_OF_PAPERS.get(self.source, "")

    @property
    def where(self) -> str:
        """Where the number is printed: "Self-MAP, Table 2"."""
        source = SOURCE_WORDS.get(self.source, self.source)
        return f"{source}, Table {self.table}" if self.table != "text" else f"{source}, in the text"

    @property
    def label(self) -> str:
        """Where the number is printed, and in which row: "Self-MAP, Table 2: MindAct, Flan-T5base"."""
        return f"{self.where}: {self.system}" + (f", {self.model}" if self.model else "")


def settings_on(recipe: str, split: str) -> dict[str, str]:
    """Settings that a paper chose for this split alone."""
    return SETTINGS_OF_SPLITS.get(recipe, {}).get(split, {})


def data_of(source: str, table: str) -> str:
    """The format of the dataset that the numbers of a table were measured on."""
    return DATA_OF_TABLES.get((source, table), DATA[source])


@cache
def _all() -> list[dict[str, Any]]:
    """The cells of all tables as they stand in the file."""
    found: list[dict[str, Any]] = json.loads(FILE.read_text("utf-8"))
    return found


@cache
def _printed() -> list[dict[str, Any]]:
    """The cells of all tables that are shares, in the order of the file; values as fractions."""
    rows = _all()
    return [row | {"value": round(row["value"] * SCALES[row["unit"]], 6)} for row in rows if row["unit"] in SCALES]


@cache
def cells() -> tuple[PublishedCell, ...]:
    """All printed numbers that belong to a recipe, in the order of the file."""
    found = []
    for row in _printed():
        recipe = _recipe_of(row)
        if recipe and row.get("split"):
            found.append(
                PublishedCell(
                    recipe,
                    row["source"],
                    row["table"],
                    row["system"],
                    row.get("model", ""),
                    data_of(row["source"], row["table"]),
                    row["split"],
                    OUR_METRICS.get(row["metric"], row["metric"]),
                    row["value"],
                )
            )
    return tuple(found)


def _recipe_of(row: dict[str, Any]) -> str:
    return row.get("recipe") or RECIPES_OF_ROWS.get((row["source"], row["table"], row.get("system", "")), "")


@dataclass(frozen=True)
class PrintedRow:
    """One row of a table: system, model, our recipe for it ("": none) and settings that it changes, (split, metric) ->
    (value, unit), why no recipe can fill it, and the model that plans, where that is not the one it names."""

    system: str
    model: str
    recipe: str
    settings: dict[str, str]
    values: dict[tuple[str, str], tuple[float, str]]
    why: str = ""
    other_planner: str = ""

    @property
    def planner(self) -> str:
        return self.other_planner or self.model


def rows_of(source: str, table: str) -> list[PrintedRow]:
    """A table as it is printed, in its order; metrics by our names, values in the units of the paper."""
    rows: dict[tuple[str, str], PrintedRow] = {}
    for cell in _all():
        if (cell["source"], cell["table"]) != (source, table):
            continue
        key = cell["system"], cell.get("model", "")
        place = source, table, cell["system"]
        recipe, settings = VARIANTS.get(place, (_recipe_of(cell) or REPEATED_ROWS.get(place, ""), {}))
        planner = PLANNERS_OF_ROWS.get(place, PLANNERS_OF_PAPERS.get(source, ""))
        row = rows.setdefault(key, PrintedRow(*key, recipe, settings, {}, UNFILLED.get(place, ""), planner))
        metric = OUR_METRICS.get(cell["metric"], cell["metric"])
        row.values[cell.get("split", ""), metric] = cell["value"], cell["unit"]
    return list(rows.values())


def of_table(source: str, table: str) -> dict[tuple[str, str], dict[str, float]]:
    """(system, split) -> metric -> the number printed there, in the table's order, as fractions."""
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for row in _printed():
        if (row["source"], row["table"]) == (source, table):
            rows.setdefault((row["system"], row["split"]), {})[row["metric"]] = row["value"]
    return rows


def of_recipe(name: str, data: str = "") -> list[PublishedCell]:
    """The printed numbers of a recipe; with `data`, only those measured on it."""
    return [cell for cell in cells() if cell.recipe == name and data in ("", cell.data)]


def seconds_of(recipe: str, data: str) -> list[tuple[str, float]]:
    """(row of a table, seconds per step) as papers print them of a recipe on that data."""
    rows = [row for row in _all() if row["metric"] == "seconds_per_step_A5000"]
    return [
        (f"{row['source']}, Table {row['table']}, one A5000: {row['system']}, {row['model']}", row["value"])
        for row in rows
        if data_of(row["source"], row["table"]) == data and _recipe_of(row) == recipe
    ]


def tables_of(recipe: str) -> list[dict[str, Any]]:
    """A table per printed row: its label and data, the metrics as columns, the splits as rows; percent as printed."""
    tables: dict[str, dict[str, Any]] = {}
    for cell in of_recipe(recipe):
        table = tables.setdefault(cell.label, {"label": cell.label, "data": cell.data, "metrics": {}, "values": {}})
        table["metrics"][cell.metric] = METRIC_LABELS.get(cell.metric, cell.metric.capitalize())
        table["values"].setdefault(cell.split, {})[cell.metric] = round(100 * cell.value, 4)
    for table in tables.values():
        rows = table.pop("values")
        decimals = 1 if all(round(v, 1) == v for row in rows.values() for v in row.values()) else 2
        table["data"] = DATA_WORDS[table["data"]]
        table["rows"] = [
            (split, [f"{row[metric]:.{decimals}f}" if metric in row else "–" for metric in table["metrics"]])
            for split, row in rows.items()
        ]
    return list(tables.values())

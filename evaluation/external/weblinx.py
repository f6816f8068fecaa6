"""Scores WebLINX action strings that were made elsewhere (sources.md A7)."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from agents.observations import RecordedConversation
from agents.runs.weblinx_demos import demo_of
from agents.weblinx.quirks import CORRECTED, FAITHFUL
from annotations.datasets.weblinx.turns import active_turns
from annotations.models import Conversation, Dataset, Split
from evaluation.external.predictions import ReplayPlace, read_replies
from evaluation.external.scores import ExternalScores, refuse_strangers
from evaluation.metrics.bootstrap import intervals
from evaluation.metrics.ood import OOD, OOD_SPLITS, ood_means, splits_of
from evaluation.metrics.outcomes import Metric
from evaluation.metrics.scores import PRESETS, MetricPreset
from evaluation.metrics.weblinx.groups import aggregate
from evaluation.metrics.weblinx.turns import TurnReply, TurnScores, compare, gold_action, is_scored, score_turns
from evaluation.models import Study

Scored = list[tuple[str, list[TurnScores]]]  # (split, its turns) of each demonstration
NAMES = {
    ("overall", "overall"): "overall",
    ("overall", "intent-match"): "intent_match",
    ("element-group", "iou"): "element_group",
    ("text-group", "chrf-urlf"): "text_group",
    ("element-clean", "iou"): "element_group_clean",
    ("text-clean", "chrf-urlf"): "text_group_clean",
}


def score_weblinx(dataset: Dataset, split: str, predictions: Path) -> ExternalScores:
    """Score a file of action strings turn by turn (sources.md A7), one demonstration in memory at a time.

    A turn that a model is asked about (A6.1) and that the file leaves out counts as an unreadable reply. The means are
    the unconditional ones; intervals draw demonstrations. `ood` is the mean over its four splits. Raises ValueError as
    `score_mind2web` does.
    """
    replies, defects = read_replies(predictions)
    by_demo: dict[str, dict[int, str]] = {}
    for (name, turn), reply in replies.items():
        by_demo.setdefault(name, {})[turn] = reply
    seen = _Weblinx()
    wanted = splits_of(split) if split else Split.values
    for conversation in dataset.conversations.filter(split__in=wanted).in_order():
        seen.add(conversation, by_demo)
    if split == OOD and (lacking := set(OOD_SPLITS) - seen.splits):
        raise ValueError(f"{dataset.name} has no conversation in {', '.join(sorted(lacking))}; {OOD} is a mean of four")
    unknown = [f"{name} {turn}" for name, turn in replies if (name, turn) not in seen.known]
    refuse_strangers(predictions, replies, unknown, defects, seen.names)
    metrics: dict[str, dict[str, Metric]] = {preset: _metrics(seen.scores[preset], split, preset) for preset in PRESETS}
    counts = {
        "conversations": len(seen.names),
        "steps": seen.counts["scored"],
        "predicted": seen.counts["predicted"],
        "missing": len(seen.missing),
        "dropped": seen.counts["dropped"],
        "unknown": len(unknown),
        "defects": len(defects),
    }
    return ExternalScores(counts, metrics, unknown, seen.missing, defects)


class _Weblinx:
    """The turns scored so far, by preset and demonstration, and the counts of predictions with and without a turn."""

    def __init__(self) -> None:
        self.scores: dict[str, Scored] = {preset: [] for preset in Study.Preset.values}
        self.known: set[ReplayPlace] = set()
        self.names: list[str] = []
        self.missing: list[str] = []
        self.counts: Counter[str] = Counter()

    def add(self, conversation: Conversation, by_demo: Mapping[str, Mapping[int, str]]) -> None:
        """Score one demonstration; turns without a prediction count as failures."""
        demo = demo_of(RecordedConversation(conversation.pk))
        self.names.append(demo.name)
        replies: dict[int, str] = {}
        for name in by_demo:  # older files of results carry a prefix before the name
            if demo.name in (name, name.rpartition("_")[2]):
                found = {turn: reply for turn, reply in by_demo[name].items() if 0 <= turn < len(demo.turns)}
                self.known |= {(name, turn) for turn in found}
                replies |= found
        asked = (demo.turns[place] for place in active_turns(demo.recorded()))
        wanted = [turn.index for turn in asked if is_scored(demo, turn, gold_action(demo, turn))]
        missing = [turn for turn in wanted if turn not in replies]
        self.missing += [f"{demo.name} {turn}" for turn in missing]
        self.counts["predicted"] += len(replies)
        replies |= dict.fromkeys(missing, "")
        rows = [TurnReply(demo.name, turn, replies[turn]) for turn in sorted(replies)]
        for preset, quirks in ((Study.Preset.FAITHFUL, FAITHFUL), (Study.Preset.CORRECTED, CORRECTED)):
            kept, dropped = compare(rows, {demo.name: demo}, quirks)
            self.scores[preset].append((conversation.split, score_turns(kept, quirks=quirks)))
        self.counts["scored"] += len(kept)
        self.counts["dropped"] += len(dropped)

    @property
    def splits(self) -> set[str]:
        return {split for split, _ in self.scores[Study.Preset.FAITHFUL]}


def _metrics(scored: Scored, split: str, preset: MetricPreset) -> dict[str, Metric]:
    """The metrics over all demonstrations; for `ood`, the means of those metrics that all four splits have."""
    if split != OOD:
        return _weblinx_metrics([turns for _, turns in scored], preset)
    return ood_means(
        {name: _weblinx_metrics([turns for s, turns in scored if s == name], preset) for name in OOD_SPLITS}
    )


def _weblinx_metrics(demos: list[list[TurnScores]], preset: MetricPreset) -> dict[str, Metric]:
    """Unconditional means over turns by name: the six of the tables, then those of single intents as "click iou"."""
    quirks = FAITHFUL if preset == Study.Preset.FAITHFUL else CORRECTED
    together = aggregate([turn for turns in demos for turn in turns], quirks)
    parts = [aggregate(turns, quirks) for turns in demos]
    metrics = {}
    for key in [*NAMES, *(key for key in together if key not in NAMES)]:
        name, mean = NAMES.get(key) or " ".join(key), together[key]
        counted = [part[key] for part in parts if key in part and part[key].n]
        sizes = np.array([[part.n] for part in counted], dtype=float).reshape(-1, 1)
        sums = sizes * np.array([[part.unconditional] for part in counted], dtype=float).reshape(-1, 1)
        low, high = intervals(sums, sizes)[:, 0]  # over the demonstrations in which the metric applies
        metrics[name] = Metric(name, mean.unconditional or 0.0, float(low), float(high), mean.n, "turn")
    return metrics

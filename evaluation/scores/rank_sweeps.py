"""Runs dense markup ranking over stored WebLINX data under many settings (context-analysis paper, arXiv 2410.23555).

Settings are compared on the splits given; where these are test splits, the choice made on them says so. recall@k is the
published micro average over positive elements (A5.2), OOD the unweighted mean of its four splits.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from statistics import fmean
from typing import Any, Literal

from agents.observations import RecordedConversation
from agents.recipes.settings import Quirks, RankSettings
from agents.runs.weblinx_demos import demo_of
from agents.stages.rank.dmr import DmrRanker, dmr_encoder, weblinx_text
from agents.stages.rank.inputs import turn_input
from agents.weblinx.documents import ranked_turns
from agents.weblinx.ranking import element_ranks
from agents.weblinx.turns import Demo
from annotations.models import Conversation, Dataset, Split
from evaluation.metrics.weblinx.ranking import evaluate_elements

CHOOSING = (Split.VALID, Split.DEV, Split.TRAIN)  # splits that settings may be chosen on
CUTS = (1, 5, 10)
CHOSEN_BY = "recall@10"


@dataclass(frozen=True)
class RankSetting:
    """One point of the sweep; `limit` 0: none other than the encoder's 512 tokens."""

    model: str
    history: int
    limit: int
    unit: Literal["chars", "tokens"] = "chars"

    def __str__(self) -> str:
        limit = f"{self.limit} {self.unit}" if self.limit else "none"
        return f"{self.model}, {self.history} turns, limit {limit}"


@dataclass(frozen=True)
class Cell:
    """The figures of one setting on one split."""

    setting: RankSetting
    split: str
    positives: int
    metrics: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        kept = {f"recall@{k}" for k in CUTS} | {"mrr@50", "num_turns"}
        figures = {name: value for name, value in self.metrics.items() if name in kept}
        return asdict(self.setting) | {"split": self.split, "positives": self.positives} | figures


def sweep(
    dataset: Dataset,
    splits: Sequence[str],
    settings: Sequence[RankSetting],
    preset: str = "faithful",
    limit: int | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> list[Cell]:
    """A cell per split and setting. `limit`: the first so many conversations of each split.

    ValueError for a split without conversations, for conversations without recorded turns and, where faithful, for a
    split without any gold element among its candidates; mrr@50 depends on estimates.
    """
    cells = []
    for split in splits:
        rows = Conversation.objects.filter(dataset=dataset, split=split).in_order()
        ids = list(rows.values_list("pk", flat=True)[:limit])
        if not ids:
            raise ValueError(f"{dataset.name} has no conversations in split {split}")
        found: dict[RankSetting, tuple[list[int], list[int]]] = {setting: ([], []) for setting in settings}
        rankers = {key: _ranker(group[0], preset) for key, group in _groups(settings)}
        for number, pk in enumerate(ids, 1):
            say(f"{split}: conversation {number} of {len(ids)}")
            demo = demo_of(RecordedConversation(pk))
            for key, group in _groups(settings):
                for setting, ranks, count in _rank(rankers[key], demo, group, preset):
                    found[setting][0].extend(ranks)
                    found[setting][1].append(count)
        cells += [_cell(setting, split, *of_setting, preset) for setting, of_setting in found.items()]
    return cells


def _cell(setting: RankSetting, split: str, ranks: list[int], counts: list[int], preset: str) -> Cell:
    try:
        metrics = evaluate_elements(ranks, counts, faithful=preset == "faithful")
    except ZeroDivisionError as error:
        raise ValueError(f"{split}: {error} (preset corrected gives zeros)") from error
    return Cell(setting, split, len(ranks), metrics)


def best(cells: Iterable[Cell]) -> RankSetting:
    """The setting with the highest mean recall@10 over its splits; the first one of equals."""
    by_setting: dict[RankSetting, list[float]] = {}
    for cell in cells:
        by_setting.setdefault(cell.setting, []).append(cell.metrics[CHOSEN_BY])
    return max(by_setting, key=lambda setting: fmean(by_setting[setting]))


def chosen_on_test(splits: Iterable[str]) -> bool:
    return any(split not in CHOOSING for split in splits)


def means(cells: Iterable[Cell]) -> dict[str, float]:
    """recall@1, 5 and 10: unweighted means over splits, as the published OOD."""
    cells = list(cells)
    return {f"recall@{k}": fmean(cell.metrics[f"recall@{k}"] for cell in cells) for k in CUTS}


def _groups(settings: Sequence[RankSetting]) -> list[tuple[Any, list[RankSetting]]]:
    """Settings that read the same documents: those that differ in their history only."""

    def key(setting: RankSetting):
        return setting.model, setting.unit, setting.limit

    return [(name, list(group)) for name, group in groupby(sorted(settings, key=key), key)]


def _rank_settings(setting: RankSetting) -> RankSettings:
    return RankSettings(
        kind="dmr",
        model=setting.model,
        top_k=max(CUTS),
        history_turns=setting.history,
        element_limit=setting.limit,
        element_limit_unit=setting.unit,
    )


def _ranker(setting: RankSetting, preset: str) -> DmrRanker:
    return DmrRanker(dmr_encoder(setting.model), _rank_settings(setting), Quirks.of(preset))


def _rank(
    ranker: DmrRanker, demo: Demo, settings: list[RankSetting], preset: str
) -> Iterator[tuple[RankSetting, list[int], int]]:
    """(setting, ranks of the positives, number of elements) of every ranked turn; all settings in one batch."""
    work = []
    for turn in ranked_turns(demo):
        for setting in settings:
            text = weblinx_text(_rank_settings(setting), Quirks.of(preset))
            work.append((setting, turn.uid, turn_input(demo, turn, text, ranker.encoder.tokenizer)))
    for (setting, gold, step), scores in zip(work, ranker.score([step for *_, step in work]), strict=True):
        ranks = element_ranks(zip(step.node_ids, scores.tolist(), strict=True))
        yield setting, [ranks[gold]] * step.node_ids.count(gold) if gold else [], len(step.node_ids)

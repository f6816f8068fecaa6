"""Where texts of conversations stand in what people, judges, scanners and the guard have said of them, for who takes a
private one out."""

from annotations.releases.keeping import KeptTexts
from evaluation.models import (
    Breakdown,
    JudgeVerdict,
    Review,
    ReviewReason,
    ReviewTask,
    RiskForecast,
    ScannedRun,
    ScannerAnswer,
    Shard,
    Study,
)

OF_RUN = "run__trajectories__conversation"
KEPT = (
    KeptTexts(Review, "trajectory__conversation", ("comment",), ("comment",)),
    KeptTexts(ReviewReason, "reviews__trajectory__conversation", ("text",)),
    KeptTexts(ReviewTask, "trajectory__conversation", ("question",), ("question",)),
    KeptTexts(JudgeVerdict, "trajectory__conversation", ("said", "error", "answers")),
    KeptTexts(ScannerAnswer, "step__trajectory__conversation", ("said", "error")),
    KeptTexts(RiskForecast, "step__turn__conversation", ("name", "by_page", "foreseen")),
    KeptTexts(Study, "runs__trajectories__conversation", ("name", "coming"), ("name",)),
    KeptTexts(Shard, OF_RUN, ("last_error", "last_log")),
    KeptTexts(Breakdown, OF_RUN, ("content",)),
    KeptTexts(ScannedRun, OF_RUN, ("findings", "clusters")),
)

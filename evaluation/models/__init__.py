"""Rows about judging agents: studies, the shards that workers run, scores, reviews, verdicts of judges,
and where runs fail and why.

May import all of `annotations` and `agents`.
"""

from evaluation.models.judges import JudgeVerdict
from evaluation.models.review_mentions import ReviewMention
from evaluation.models.review_queues import ReviewChoice, ReviewQueue, ReviewTask
from evaluation.models.reviews import BadReview, Review, ReviewedRun, ReviewReason, ReviewVerdict
from evaluation.models.risk_forecasts import RiskForecast
from evaluation.models.risk_labels import BadRiskLabel, RiskLabel, RiskLabelSettled
from evaluation.models.scanner_answers import ScannerAnswer
from evaluation.models.scores import Breakdown, ScannedRun, Score
from evaluation.models.shards import Shard
from evaluation.models.studies import Study

__all__ = [
    "BadReview",
    "BadRiskLabel",
    "Breakdown",
    "JudgeVerdict",
    "Review",
    "ReviewChoice",
    "ReviewMention",
    "ReviewQueue",
    "ReviewReason",
    "ReviewTask",
    "ReviewVerdict",
    "ReviewedRun",
    "RiskForecast",
    "RiskLabel",
    "RiskLabelSettled",
    "ScannedRun",
    "ScannerAnswer",
    "Score",
    "Shard",
    "Study",
]

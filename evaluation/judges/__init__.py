"""Judges of whole trajectories: rules and language models say whether a task was done, and people's reviews say how
often that is right. `JUDGES` names them all.

May import `asking`, `metrics`, `models`, `reviews`, `scores` and all of `annotations` and `agents`.
"""

from annotations.extensions import JUDGES as GROUP
from annotations.extensions import load_into
from evaluation.judges.definition import TrajectoryJudge
from evaluation.judges.rewardbench import RewardBenchJudge
from evaluation.judges.rules import ByGold, ByScanners, BySiteState
from evaluation.judges.webjudge import WebJudge

JUDGES: dict[str, TrajectoryJudge] = {
    "site-state": BySiteState(),
    "gold": ByGold(),
    "scanners": ByScanners(),
    "webjudge": WebJudge(),
    "rewardbench": RewardBenchJudge(),
}
ADDED = load_into(JUDGES, GROUP, lambda judge: judge())  # by other packages; ours cannot be replaced

"""The four questions of AgentRewardBench (Lù et al. 2025, arXiv 2504.08942), with our words: whether the task was done,
what else was done, how direct the way was, and whether the agent went round in circles.

One request, as in its simplified judge. Three deviations: it shows a screenshot, or the accessibility tree, where we
give the words of the first and the last page; the agent's thoughts are left out; and a reply that does not say whether
the task was done is asked for again. Only that answer is compared with people's reviews; the others are kept.
"""

import re

from evaluation.asking.definition import PAGE_CHARACTERS, REASONS, AskedModel, Demand, last_match
from evaluation.judges.definition import HISTORY, Evidence, Opinion, TrajectoryJudge

AROUND = 6_000  # characters of our words and the task
FORM = rf"{REASONS}Success: (yes|no)\nSide effects: (yes|no)\nDirectness: [1-4]\nRepetition: (yes|no)"
_LINE = r"^[^\w\n]{0,9}"  # marks of a list or of bold type
_YES = r"\W{0,5}(yes|no)\b"
_SUCCESS = re.compile(rf"{_LINE}success{_YES}", re.IGNORECASE | re.MULTILINE)
_SIDE_EFFECTS = re.compile(rf"{_LINE}side effects?{_YES}", re.IGNORECASE | re.MULTILINE)
_DIRECTNESS = re.compile(rf"{_LINE}directness\W{{0,5}}([1-4])(?!\d)", re.IGNORECASE | re.MULTILINE)
_REPETITION = re.compile(rf"{_LINE}repetition{_YES}", re.IGNORECASE | re.MULTILINE)


class RewardBenchJudge(TrajectoryJudge):
    """A language model that is asked four questions at once."""

    label = "AgentRewardBench"
    texts = ("judge_trajectory",)

    def demand(self, pages: int) -> Demand:
        return Demand(1, AROUND + HISTORY + 2 * PAGE_CHARACTERS)

    def judge(self, seen: Evidence, panel: AskedModel | None) -> Opinion:
        assert panel is not None  # it has texts
        pages = [action.page for action in seen.actions if action.page] or ["not stored"]
        shown = {"website": seen.website or "unknown", "task": seen.task, "actions": seen.last_actions}
        question = shown | {"first": pages[0], "last": pages[-1]}
        reply = panel.ask("judge_trajectory", [question], form=FORM)[0].strip()
        directness = last_match(_DIRECTNESS, reply)
        answers = {
            "side_effects": _is_yes(_SIDE_EFFECTS, reply),
            "directness": int(directness) if directness else None,
            "repetition": _is_yes(_REPETITION, reply),
        }
        success = _is_yes(_SUCCESS, reply)
        error = "The reply does not say whether the task was done." if success is None else ""
        return Opinion(success, reply, answers, panel.usage, error)


def _is_yes(pattern: re.Pattern[str], text: str) -> bool | None:
    word = last_match(pattern, text)
    return None if word is None else word.lower() == "yes"

"""Judges that ask nobody: they go by what is stored."""

from evaluation.asking.definition import AskedModel
from evaluation.judges.definition import Evidence, Opinion, TrajectoryJudge
from evaluation.metrics.episodes import FULL_REWARD


class BySiteState(TrajectoryJudge):
    """The checker of an episode: the task is done where the state of the site gave the full reward. It cannot tell of
    recorded conversations, which have no site."""

    label = "state of the site"
    reads_pages = False

    def judge(self, seen: Evidence, panel: AskedModel | None) -> Opinion:
        if seen.reward is None:
            return Opinion(None, "No episode with a reward.")
        return Opinion(seen.reward >= FULL_REWARD, f"The reward is {seen.reward:g}.")


class ByGold(TrajectoryJudge):
    """The task is done where every action is the recorded one. It cannot tell of episodes, which have no gold."""

    label = "recorded gold"
    reads_pages = False

    def judge(self, seen: Evidence, panel: AskedModel | None) -> Opinion:
        if seen.all_right is None:
            return Opinion(None, "No recorded actions to compare with.")
        return Opinion(seen.all_right, f"{'Every' if seen.all_right else 'Not every'} action is the recorded one.")


class ByScanners(TrajectoryJudge):
    """The task is not done where a scanner of failures found one. Scanners look at steps that differ from gold, so it
    is never stricter than gold, and cannot tell where they have not looked."""

    label = "scanners of failures"
    reads_pages = False

    def judge(self, seen: Evidence, panel: AskedModel | None) -> Opinion:
        if seen.findings is None:
            return Opinion(None, "Its run was not scanned for failures.")
        return Opinion(not seen.findings, f"Found: {', '.join(seen.findings)}." if seen.findings else "Found nothing.")

"""The protocol of WebJudge (Xue et al. 2025, arXiv 2504.01382) in three questions, with our words.

What the task demands (key points); how much each observation says of them, from 1 to 5; success or failure by the
actions and the observations of at least 3. Three deviations: observations are the words of pages, where the paper shows
screenshots; a last reply that names no verdict is asked for again, where the published code counts it as failure; and
what is asked of a long trajectory is bounded, with what was left out said in the question and in the answers.
"""

import re

from evaluation.asking.definition import PAGE_CHARACTERS, REASONS, AskedModel, Demand, last_match
from evaluation.judges.definition import HISTORY, Evidence, Opinion, TrajectoryJudge

KEY = 3  # of 1 to 5: observations from here on are evidence
MOST = 50  # of them, as in the published code
ASKED = 100  # pages, the last ones: a request each
EVIDENCE = 60_000  # characters of all observations together; each is cut to its share
WORDS = 1_000  # characters of an action beside its page
AROUND = 6_000  # characters of a question around page or evidence: our words, the task, what it demands
POINTS_FORM = r"- [^\n]{1,150}(\n- [^\n]{1,150}){0,4}"
SCORE_FORM = f"{REASONS}Score: [1-5]"
VERDICT_FORM = f"{REASONS}Verdict: (success|failure)"
_SCORE = re.compile(r"score\W{0,5}([1-5])(?!\d)", re.IGNORECASE)
_VERDICT = re.compile(r"verdict\W{0,5}(success|failure)\b", re.IGNORECASE)


class WebJudge(TrajectoryJudge):
    """A language model that first says what the task demands, then looks for it in what the agent saw."""

    label = "WebJudge"
    texts = ("judge_points", "judge_observation", "judge_verdict")

    def demand(self, pages: int) -> Demand:
        asked = min(pages, ASKED)
        shown = asked * (PAGE_CHARACTERS + WORDS)
        return Demand(asked + 2, (asked + 2) * AROUND + shown + min(2 * shown, EVIDENCE + HISTORY))

    def judge(self, seen: Evidence, panel: AskedModel | None) -> Opinion:
        assert panel is not None  # it has texts
        task = {"task": seen.task}
        points = panel.ask("judge_points", [task], form=POINTS_FORM)[0].strip()
        asked = task | {"points": points}
        pages = [(place, action) for place, action in enumerate(seen.actions, 1) if action.page]
        shown = pages[-ASKED:]
        questions = [asked | {"page": action.page, "action": action.words[:WORDS]} for _, action in shown]
        replies = panel.ask("judge_observation", questions, form=SCORE_FORM)
        scores = [last_match(_SCORE, reply) for reply in replies]
        # One without a readable score is none of the evidence, as in the published code.
        kept = [
            f"Before action {place}: {reply.strip()}\nPage: {action.page}"
            for (place, action), reply, score in zip(shown, replies, scores, strict=True)
            if int(score or 0) >= KEY
        ]
        share = EVIDENCE // min(max(len(kept), 1), MOST)
        left_out = {
            "pages": len(pages) - len(shown),
            "observations": len(kept[MOST:]),
            "cut": sum(len(one) > share for one in kept[:MOST]),
            "history": max(len(seen.history) - HISTORY, 0),
        }
        told = {"actions": seen.last_actions, "observations": _observations_text(kept[:MOST], share, left_out)}
        verdict = panel.ask("judge_verdict", [asked | told], form=VERDICT_FORM)[0]
        answers = {
            "points": points,
            "observations": [
                {"action": place, "score": score} for (place, _), score in zip(shown, scores, strict=True)
            ],
            "left_out": left_out,
        }
        word = last_match(_VERDICT, verdict)
        if word is None:
            return Opinion(None, verdict.strip(), answers, panel.usage, "The reply names no verdict.")
        return Opinion(word.lower() == "success", verdict.strip(), answers, panel.usage)


def _observations_text(kept: list[str], share: int, left_out: dict[str, int]) -> str:
    """The observations as one text, each cut to its share, after a line that says how many are missing."""
    missing = left_out["pages"] + left_out["observations"]
    head = (
        [f"({left_out['pages']} earlier and {left_out['observations']} later pages are left out.)"] if missing else []
    )
    return "\n\n".join(head + [one if len(one) <= share else f"{one[:share]} …" for one in kept]) or "none"

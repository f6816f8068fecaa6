"""Lets a judge say its verdict on the trajectories of a run: each is stored as soon as it is there, so that judging
goes on where it stopped."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime

from django.db.models import Q

from agents.llm.budget import Budget
from agents.llm.errors import BadReply, LlmError, RequestRefused
from agents.llm.usage import Usage
from agents.memory.jobs import endpoint
from agents.models import Connection, PromptPack, Run, Trajectory
from agents.prompts.packs import PACKAGED
from annotations.dom.limits import PageError
from annotations.dom.text import page_text
from annotations.dom.tree import parse
from annotations.models import Project
from evaluation.judges import JUDGES
from evaluation.judges.definition import PAGE_CHARACTERS, AskedModel, Evidence, Opinion, SeenAction, storable
from evaluation.models import JudgeVerdict, ScannedRun

ADVICE = "Start it again with a higher limit: what is judged stays."


class Judging:
    """A judge with the model and the prompt pack by which it asks, within a budget. ValueError says what it lacks."""

    def __init__(
        self,
        name: str,
        project: Project,
        *,
        connection: str = "",
        pack: str = PACKAGED,
        budget: Budget | None = None,
    ) -> None:
        if name not in JUDGES:
            raise ValueError(f"there is no judge {name!r}; there are {', '.join(JUDGES)}")
        self.name, self.judge = name, JUDGES[name]
        self.panel: AskedModel | None = None
        self.is_stopped = False
        self.asked_with = {"model": "", "pack": "", "pack_sha256": ""}
        if not self.judge.texts:
            if connection:
                raise ValueError(f"{name} asks no language model; leave the connection out")
            return
        if connection and Connection.objects.answering(Connection.Kind.LLM, connection) is None:
            raise ValueError(f"there is no connection {connection!r} to a language model")
        texts = PromptPack.objects.holding(pack, project, *self.judge.texts)
        self.panel = AskedModel(endpoint(connection, budget, ADVICE), texts)
        self.asked_with = {
            "model": self.panel.llm.info.model[:200],
            "pack": f"{texts.name}@{texts.version}",
            "pack_sha256": texts.sha256,
        }

    def waiting(self, run: Run, since: datetime | None = None) -> list[Trajectory]:
        """The run's trajectories that are done, without a verdict of this judge by these texts since; all that are
        done, for a judge that asks nobody: that costs nothing, and scans and corrections change what it says. `since`:
        without those that were asked about after it, whatever came of that."""
        done = run.trajectories.filter(state=Trajectory.State.DONE).in_order()
        told = Q(pk=None) if self.panel is None else Q(error="")
        asked = told if since is None else told | Q(judged_at__gte=since)
        known = JudgeVerdict.objects.fresh().by(self.name, self.asked_with).filter(asked)
        return list(done.exclude(pk__in=known.values("trajectory")))

    def judge_run(self, run: Run, since: datetime | None = None) -> Iterator[JudgeVerdict]:
        """Judge the trajectories that wait for it; gives each verdict when it is stored. It ends early where the model
        cannot be reached, or may not be asked more."""
        self.is_stopped = False
        for waiting in self.waiting(run, since):
            # Read again, as others took their time: a verdict counts for what its evidence was read from.
            trajectory = run.trajectories.filter(pk=waiting.pk, state=Trajectory.State.DONE).first()
            if trajectory is None:
                continue
            began = time.monotonic()
            opinion = self._opinion(self.evidence(trajectory, self.judge.reads_pages))
            yield JudgeVerdict.objects.keep(
                trajectory,
                self.name,
                self.asked_with,
                {name: getattr(opinion, name) for name in ("success", "said", "answers", "error")},
                opinion.usage,
                time.monotonic() - began,
            )
            if self.is_stopped:
                return

    @staticmethod
    def evidence(trajectory: Trajectory, with_pages: bool = True) -> Evidence:
        """What is stored of a trajectory, its pages only where they are asked for. Of a recorded conversation the pages
        are the recorded ones, whatever the agent did before."""
        pages = ("snapshot__dictionary", "step__snapshot__dictionary") if with_pages else ()
        rows = trajectory.steps.select_related("turn", "step__turn", *pages).defer(
            "branches", "candidate_ids", "candidate_scores", "step__candidates", "step__extra"
        )
        steps = list(rows.order_by("seq"))
        actions = []
        for row in steps:
            page = (row.snapshot or (row.step.snapshot if row.step else None)) if with_pages else None
            words = row.trace.get("act", {}).get("representation") or str(row)
            actions.append(SeenAction(words, page_words(page.html) if page else "", row.outcome))
        recorded = [row for row in steps if row.step_id is not None]
        rewards = [row.reward for row in steps if row.step_id is None and row.reward is not None]
        scanned = ScannedRun.objects.filter(run=trajectory.run_id).exclude(scanners="").first() if recorded else None
        own = {str(row.pk) for row in steps}
        turns = trajectory.conversation.turns.order_by("index")
        return Evidence(
            tuple(turns.values_list("instruction", flat=True)),
            tuple(actions),
            website=trajectory.conversation.website.name,
            reward=sum(rewards) if rewards else None,
            all_right=all(row.success for row in recorded) if recorded and not rewards else None,
            findings=tuple(key for key, found in scanned.findings.items() if own & found.keys()) if scanned else None,
        )

    def _opinion(self, seen: Evidence) -> Opinion:
        if self.panel is not None:
            self.panel.usage = Usage()
        try:
            return self.judge.judge(seen, self.panel)
        except LlmError as error:
            # Who cannot be reached, or may not spend more, is not asked of the next trajectory either.
            self.is_stopped = not isinstance(error, BadReply | RequestRefused)
            spent = self.panel.usage if self.panel else Usage()
            return Opinion(None, usage=spent, error=storable(str(error)))


def page_words(html: str) -> str:
    """At most PAGE_CHARACTERS of what a page says (`page_text`); "" where it cannot be read."""
    try:
        words = page_text(parse(html))
    except PageError:
        return ""
    return words if len(words) <= PAGE_CHARACTERS else f"{words[:PAGE_CHARACTERS]} …"


def total(verdicts: Iterable[JudgeVerdict]) -> Counter[str]:
    """How many of these verdicts say what."""
    return Counter(one.word for one in verdicts)

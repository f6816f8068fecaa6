"""Verdicts of judges, rules or language models, on whole trajectories; people's are `Review`."""

from typing import Any, Self

from django.db import models
from django.db.models import BooleanField, Case, CharField, F, OuterRef, Subquery, Sum, Value, When
from django.db.models.functions import MD5, Cast

from agents.llm.usage import Usage
from agents.models import Trajectory
from evaluation.models.asked import AskedRow, AskedRowQuerySet
from evaluation.models.reviews import RIGHT, Review, ReviewVerdict

IN_A_LINE = 60  # characters of what a judge says


class JudgeVerdictQuerySet(AskedRowQuerySet["JudgeVerdict"]):
    def fresh(self) -> Self:
        """Verdicts on trajectories as they are now: what a judge read before one grew counts no more."""
        return self.filter(seen_at=F("trajectory__updated_at"))

    def with_people(self) -> Self:
        """Annotate `people`: whether most people who reviewed the whole trajectory, as it is now, call it right. None:
        as many call it wrong, or nobody said anything; a broken page counts in nothing."""
        given = Review.objects.of_wholes().filter(trajectory=OuterRef("trajectory"))
        counted = given.exclude(verdict=ReviewVerdict.PAGE_BROKEN).order_by().values("trajectory")
        lead = Sum(Case(When(verdict__in=RIGHT, then=Value(1)), default=Value(-1)))
        rows = self.annotate(lead=Subquery(counted.annotate(lead=lead).values("lead")))
        says = Case(When(lead__gt=0, then=True), When(lead__lt=0, then=False), output_field=BooleanField(null=True))
        return rows.annotate(people=says)

    def where_people_say(self, right: bool | None) -> Self:
        """Verdicts on what most people call right, or wrong; None: on what nobody reviewed, or people are divided."""
        return self.with_people().filter(people=right)

    def disagreeing(self) -> Self:
        """Verdicts that say the opposite of most people."""
        return self.with_people().exclude(people=None).exclude(success=None).exclude(success=F("people"))

    def drawn(self) -> Self:
        """In an order of trajectories drawn by chance, the same for everybody and every judge: the first ones are a
        random part of them."""
        return self.order_by(MD5(Cast("trajectory", CharField())), "judge", "pk")

    def keep(
        self,
        trajectory: Trajectory,
        judge: str,
        asked_with: dict[str, str],
        verdict: dict[str, Any],
        usage: Usage,
        seconds: float,
    ) -> "JudgeVerdict":
        """Store a verdict on a trajectory as it was read."""
        told = verdict | {"seen_at": trajectory.updated_at}
        return self.keep_answer({"trajectory": trajectory, "judge": judge}, asked_with, told, usage, seconds)


class JudgeVerdict(AskedRow):
    """What a judge says of a whole trajectory; of the same judge, model and texts there is one."""

    ASKER = "judge"
    people: bool | None  # where it is `with_people`

    trajectory = models.ForeignKey(Trajectory, models.CASCADE, related_name="judge_verdicts")
    judge = models.CharField(max_length=60)
    success = models.BooleanField(null=True, help_text="Empty: it could not tell.")
    answers = models.JSONField(default=dict, blank=True, help_text="To its questions on the way.")
    judged_at = models.DateTimeField(auto_now=True)
    seen_at = models.DateTimeField(null=True, help_text="When what it read of the trajectory had changed last.")

    objects = JudgeVerdictQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["trajectory", "judge", "model", "pack_sha256"], name="trajectory_judged_once_each"
            )
        ]

    def __str__(self) -> str:
        return f"{self.judge}: {self.word}"

    def as_row(self) -> dict[str, Any]:
        """The verdict as a row of a table, where it is `with_people`."""
        found = self.trajectory
        same = ("judge", "model", "pack", "said", "error", "prompt_tokens", "completion_tokens", "cost", "seconds")
        return {name: getattr(self, name) for name in same} | {
            "verdict": self.pk,
            "dataset": found.run.dataset.name,
            "run": found.run_id,
            "recipe": found.run.recipe_name,
            "split": found.conversation.split,
            "conversation": found.conversation.source_id,
            "trajectory": found.pk,
            "says": self.word,
            "people": self.people_word,
            **{name: self.answers.get(name) for name in ("side_effects", "directness", "repetition")},
            "judged_at": self.judged_at.isoformat(),
        }

    @property
    def remarks(self) -> str:
        """Its answers beside success, where it was asked for more: "side effects · directness 2 of 4"."""
        said = [name.replace("_", " ") for name in ("side_effects", "repetition") if self.answers.get(name)]
        if self.answers.get("directness"):
            said.append(f"directness {self.answers['directness']} of 4")
        return " · ".join(said)

    @property
    def why(self) -> tuple[str, str]:
        """What it says, or why it gave no answer: the beginning, for a line of a table, and the rest."""
        whole = (self.error or self.said).strip()
        line = whole.split("\n", 1)[0]
        if len(line) > IN_A_LINE:
            line = line[: line.rfind(" ", 1, IN_A_LINE) + 1 or IN_A_LINE]
        return line.strip(), whole[len(line) :].strip()

    @property
    def people_word(self) -> str:
        """ "success" or "failure" by most people, "" where they say neither."""
        return {True: "success", False: "failure", None: ""}[self.people]

    @property
    def word(self) -> str:
        """ "success", "failure", "cannot tell" or "no answer"."""
        if self.error:
            return "no answer"
        return {True: "success", False: "failure", None: "cannot tell"}[self.success]

    @property
    def record(self) -> str:
        return self.trajectory.conversation.source_id

"""Sessions: conversations that a campaign is making out of source tasks."""

from collections.abc import Iterable, Iterator
from typing import Any, Self

from django.conf import settings
from django.db import connection, models
from django.db.models import Case, Count, Exists, F, OuterRef, Q, Subquery, When
from django.db.models.functions import Greatest

from annotations.models.choices import Split
from annotations.models.corpus.conversations import Conversation, Step, StepQuerySet, Turn
from annotations.models.corpus.datasets import Website
from annotations.models.work.campaigns import Binnable, Campaign, Kept, Stage, tracked
from annotations.models.work.partial_rows import partly

USER = settings.AUTH_USER_MODEL
BARE_STEPS_SQL = """
SELECT st.id, st.operation, st.value, st.action_repr, st.turn_id, t.instruction
FROM annotations_sessiontask k
JOIN annotations_turn t ON t.conversation_id = k.conversation_id
JOIN annotations_step st ON st.turn_id = t.id
WHERE k.session_id = %s
ORDER BY k.position, t.index, st.index
"""


class SessionQuerySet(Kept["Session"]):
    def unopened(self) -> Self:
        """Live sessions that have tasks but no items yet, so that nobody can work on them."""
        filled = SessionTask.objects.filter(session=OuterRef("pk"), conversation__turns__steps__isnull=False)
        return self.live().filter(Exists(filled), items=None)

    def batches(self) -> list[str]:
        """The names under which these sessions were opened."""
        return sorted(filter(None, self.order_by().values_list("batch", flat=True).distinct()))

    def with_free_places(self) -> Self:
        """These sessions with how many places of each stage nobody has, as `free_` and the stage: none once a session
        has passed, and else as many as if nobody gave up and each rewrite were verified once, also before the stage is
        open."""
        return self.alias(**{f"free_{stage}": self._free_places(stage) for stage in Stage.values})

    def _free_places(self, stage: str) -> Case:
        places = F("campaign__overlap") * (F("campaign__verify_overlap") if stage == Stage.VERIFY else 1)
        taken = Q(items__stage=stage) & ~Q(items__assignments__state="released")
        same = Session.objects.filter(pk=OuterRef("pk")).order_by().values("pk")
        counted = same.annotate(n=Count("items__assignments", filter=taken)).values("n")
        return Case(When(released=None, then=Greatest(places - Subquery(counted), 0)), default=0)

    def weigh(self, weight: float) -> None:
        """Set how early these sessions are handed out: heavier ones come first."""
        self.update(weight=weight)

    def locked(self) -> list["Session"]:
        """These sessions with their campaigns, locked until the transaction ends."""
        return list(self.select_related("campaign__project").select_for_update(of=("self",)))


@tracked
class Session(Binnable):
    """A conversation that is being made: source tasks in the order in which one user would have asked for them."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="sessions")
    name = models.CharField(max_length=200)
    position = models.PositiveIntegerField()
    website = models.ForeignKey(Website, models.PROTECT, related_name="+")
    split = models.CharField(max_length=20, choices=Split.choices)
    batch = models.CharField(max_length=100, blank=True, db_index=True)
    weight = models.FloatField(default=1.0, help_text="Heavier sessions are handed out first.")
    is_gold = models.BooleanField(default=False, help_text="Its solution is known; annotators are not told.")
    gold = models.JSONField(null=True, blank=True, help_text="The known solution: the parts of an expert.")
    why = models.TextField(blank=True, help_text="What the proposal saw in common.")
    released = models.ForeignKey(
        Conversation,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The conversation in the target dataset, once it has passed.",
    )
    created_by = models.ForeignKey(USER, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SessionQuerySet.as_manager()

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["campaign", "name"], name="session_name_once_per_campaign")]

    def __str__(self) -> str:
        return self.name

    def places(self) -> dict[int, int]:
        """Step -> its place, 0, 1, 2 …, in order. One query."""
        return {pk: place for place, pk in enumerate(self.steps().values_list("pk", flat=True))}

    def turns(self) -> list[tuple[Turn, list[Step]]]:
        """The turns of its source tasks in order, each with its steps; turns without steps are left out."""
        found: list[tuple[Turn, list[Step]]] = []
        for step in self.steps().select_related("turn").defer("candidates"):
            if not found or found[-1][0].pk != step.turn_id:
                found.append((step.turn, []))
            found[-1][1].append(step)
        return found

    def open_threads(self) -> list[Any]:
        """Comments that begin a thread which nobody has resolved; `comments` is best prefetched."""
        live = (one for one in self.comments.all() if one.deleted_at is None and one.resolved_at is None)
        return [one for one in live if one.parent_id is None]

    def task_keys(self) -> list[int]:
        """Keys of its tasks in order; none while it is in the bin."""
        return SessionTask.objects.layout([self])[self.pk]

    def use_as_gold(self, expert: Any) -> None:
        """Make it a hidden gold item: its solution is this annotation of the same steps. ValueError when the tasks
        differ, or when somebody has begun to work on it."""
        tasks = SessionTask.objects.by_session({self.pk, expert.item.session_id})
        if tasks[self.pk] != tasks[expert.item.session_id]:
            raise ValueError("The annotation is of other tasks.")
        if self.items.filter(assignments__isnull=False).exists():
            raise ValueError("Somebody has begun to work on this session.")
        order = self.places()
        parts = sorted(expert.parts.all(), key=lambda part: order[part.first_step_id])
        self.gold = [{"step": part.first_step_id} | part.contents() for part in parts]
        self.is_gold = True
        self.save(update_fields=["gold", "is_gold"])

    def keep_released(self, conversation: Conversation) -> None:
        """Store which conversation of the target dataset was made of the session."""
        self.released = conversation
        self.save(update_fields=["released"])

    def follow(self, task: Conversation) -> None:
        """Take over split and website of its first task."""
        self.split, self.website = task.split, task.website
        self.save(update_fields=["split", "website"])

    def come_after(self, other: "Session") -> None:
        """Move the session to the place of another; of two at one place the newer comes second."""
        self.position = other.position
        self.save(update_fields=["position"])

    def join_batch(self, name: str) -> None:
        """Put the session into the batch of this name: the sessions that are opened together."""
        self.batch = name
        self.save(update_fields=["batch"])

    def bare_steps(self) -> Iterator[Step]:
        """All steps in order, with nothing but operation, value, what they are called and the turn's instruction.

        In SQL, as every save asks for them: 1.2 ms for 24 steps where Django's own query takes 2.4 ms.
        """
        turns: dict[int, Turn] = {}
        with connection.cursor() as cursor:
            cursor.execute(BARE_STEPS_SQL, [self.pk])
            for pk, operation, value, called, turn, instruction in cursor.fetchall():
                step = partly(Step, id=pk, turn_id=turn, operation=operation, value=value, action_repr=called)
                step.turn = turns.setdefault(turn, partly(Turn, id=turn, instruction=instruction))
                yield step

    def steps(self) -> StepQuerySet:
        """All steps of its source tasks, in order."""
        ordered = Step.objects.filter(turn__conversation__sessiontask__session=self)
        return ordered.order_by("turn__conversation__sessiontask__position", "turn__index", "index")


class SessionTaskQuerySet(models.QuerySet["SessionTask"]):
    def by_session(self, sessions: set[int]) -> dict[int, tuple[int, ...]]:
        """Keys of each session's tasks, in order."""
        found: dict[int, tuple[int, ...]] = dict.fromkeys(sessions, ())
        rows = self.filter(session__in=sessions).order_by("session_id", "position")
        for session, task in rows.values_list("session_id", "conversation_id"):
            found[session] += (task,)
        return found

    def layout(self, sessions: Iterable[Session]) -> dict[int, list[int]]:
        """Keys of the sessions' tasks, in order; none for a session in the bin."""
        found: dict[int, list[int]] = {session.pk: [] for session in sessions}
        rows = self.filter(session__in=found, session__deleted_at=None).order_by("session", "position")
        for session, task in rows.values_list("session", "conversation"):
            found[session].append(task)
        return found

    def lay_out(self, campaign: Campaign, wanted: dict[int, list[int]]) -> None:
        """Give sessions of a campaign these tasks, in this order, whichever session they were in. A session that gets
        tasks keeps no others; one that gets none keeps its own, for the day when it is taken out of the bin."""
        places = {task: (pk, position) for pk, tasks in wanted.items() for position, task in enumerate(tasks)}
        filled = [pk for pk, tasks in wanted.items() if tasks]
        self.filter(session__in=filled).exclude(conversation__in=places).delete()
        known = list(SessionTask.objects.filter(campaign=campaign, conversation__in=places))
        for row in known:
            row.session_id, row.position = places[row.conversation_id]
        SessionTask.objects.bulk_update(known, ["session", "position"])
        SessionTask.objects.bulk_create(
            SessionTask(campaign=campaign, conversation_id=task, session_id=places[task][0], position=places[task][1])
            for task in places.keys() - {row.conversation_id for row in known}
        )

    def leftovers(self, campaign: Campaign) -> models.QuerySet[Conversation]:
        """Tasks of the source dataset that lie in no live session, in its order."""
        placed = self.filter(campaign=campaign, session__deleted_at=None).values("conversation")
        return campaign.source.conversations.exclude(pk__in=placed).in_order()


@tracked
class SessionTask(models.Model):
    """The place of a source task in a session. Tasks of a campaign's dataset without such a row are its leftovers."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="+")
    session = models.ForeignKey(Session, models.CASCADE, related_name="tasks")
    conversation = models.ForeignKey(
        Conversation, models.PROTECT, help_text="The recorded task: a conversation of the source dataset."
    )
    position = models.PositiveIntegerField()

    objects = SessionTaskQuerySet.as_manager()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "conversation"], name="task_in_one_session_of_a_campaign"),
            models.UniqueConstraint(
                fields=["session", "position"], name="session_task_position_once", deferrable=models.Deferrable.DEFERRED
            ),
        ]

    def __str__(self) -> str:
        return f"{self.session} {self.position + 1}: {self.conversation}"

"""Datasets and the websites they cover."""

import re
import uuid
from collections.abc import Collection
from typing import Any, Self

from django.db import connection, models
from django.db.models import Exists, F, OuterRef, Q, Sum

from annotations.models.accounts.projects import Project
from annotations.models.corpus.tallies import ConversationTally

COUNTED_AT_ONCE = 20_000  # steps whose pages are counted while somebody waits; more are counted by beat
CANARY_SPACE = uuid.UUID("6f1d9f0e-33c5-4d0b-9a3c-6c1f3b7f4a52")  # of the names that canaries are made of
RELEASE_VERSION = re.compile(r"[0-9][A-Za-z0-9._-]{0,39}")
# A page after the last step of a turn counts where the source keeps it; elsewhere it is the next step's page.
PAGE_BYTES_SQL = """
WITH used AS (
    SELECT page.id FROM annotations_step step
    JOIN annotations_turn turn ON turn.id = step.turn_id
    JOIN annotations_conversation conversation ON conversation.id = turn.conversation_id
    CROSS JOIN LATERAL unnest(ARRAY[
        step.snapshot_id, step.raw_snapshot_id, CASE WHEN step.keeps_page_after THEN step.snapshot_after_id END
    ]) AS page(id)
    WHERE conversation.dataset_id = %s AND page.id IS NOT NULL AND (%s OR conversation.split NOT LIKE 'test%%')
), counted AS (
    SELECT snapshot.raw_size, snapshot.stored_size, snapshot.dictionary_id, counts.n
    FROM (SELECT id, count(*) AS n FROM used GROUP BY id) counts
    JOIN annotations_snapshot snapshot ON snapshot.id = counts.id
)
SELECT COALESCE(sum(raw_size * n), 0), COALESCE(sum(n), 0), COALESCE(sum(raw_size), 0), count(*),
       COALESCE(sum(stored_size), 0),
       COALESCE((SELECT sum(size) FROM annotations_pagedictionary
                 WHERE id IN (SELECT dictionary_id FROM counted)), 0)
FROM counted
"""
SHARED_PAGES_SQL = """
SELECT count(*) FROM (
    SELECT page.id FROM annotations_step step
    JOIN annotations_turn turn ON turn.id = step.turn_id
    JOIN annotations_conversation conversation ON conversation.id = turn.conversation_id
    CROSS JOIN LATERAL unnest(ARRAY[step.snapshot_id, step.raw_snapshot_id]) AS page(id)
    WHERE conversation.dataset_id = %s AND page.id IS NOT NULL
    GROUP BY page.id HAVING count(DISTINCT conversation.split) > 1
) shared
"""


class DatasetQuerySet(models.QuerySet["Dataset"]):
    def for_list(self) -> Self:
        """Datasets with what the list page shows."""
        return self.select_related("project").counted()

    def with_conversations(self, split: str = "") -> Self:
        """Datasets that have conversations, or some in a split, by the kept counts."""
        chosen = {"split": split} if split else {}
        kept = ConversationTally.total("conversations", dataset=OuterRef("pk"), **chosen)
        return self.alias(kept=kept).filter(kept__gt=0)

    def to_decide(self) -> Self:
        """Datasets with conversations that a run decides, other than those that people typed turn by turn."""
        conversations: models.QuerySet[models.Model] = models.QuerySet(self.model.conversations.rel.related_model)
        written = conversations.filter(dataset=OuterRef("pk")).exclude(extra__contains={"typed": True})
        recorded, goals = Exists(written.filter(step_count__gt=0)), Exists(written.filter(step_count=0))
        return self.filter(Q(recorded, live={}) | Q(goals, ~Q(live={})))

    def named(self, name: str) -> "Dataset":
        """The dataset of that name. ValueError says which there are."""
        found = self.filter(name=name).first()
        if found is None:
            known = ", ".join(self.values_list("name", flat=True)) or "none yet"
            raise ValueError(f"there is no dataset {name!r}; there are: {known}")
        return found

    def free_name(self, stem: str) -> str:
        """The stem as the name of a new dataset; with a number after it where that name is taken."""
        taken = set(self.filter(name__startswith=stem).values_list("name", flat=True))
        names = (stem, *(f"{stem}-{number}" for number in range(2, len(taken) + 3)))
        return next(name for name in names if name not in taken)

    def name_holding(self, stem: str, source_ids: Collection[str]) -> str:
        """The name of the dataset among these that is called by the stem, with or without a number, and has no other
        conversations than those; a new one where there is none."""
        for dataset in self.filter(name__regex=f"^{stem}(-[0-9]+)?$").order_by("pk"):
            if not dataset.conversations.exclude(source_id__in=source_ids).exists():
                return dataset.name
        return Dataset.objects.free_name(stem)

    def counted(self) -> Self:
        """Datasets with `conversation_count`, `turn_count` and `step_count`."""
        here = {"dataset": OuterRef("pk")}
        return self.annotate(
            conversation_count=ConversationTally.total("conversations", **here),
            turn_count=ConversationTally.total("turns", **here),
            step_count=ConversationTally.total("steps", **here),
        )


class Dataset(models.Model):
    """A named collection of conversations of one project."""

    conversation_count: int  # where `counted` has counted
    turn_count: int
    step_count: int
    bytes: dict[str, int]  # `page_bytes`, on the admin page

    project = models.ForeignKey(Project, models.PROTECT, related_name="datasets")
    name = models.SlugField(max_length=100, unique=True)
    source_format = models.CharField(max_length=40, blank=True)
    description = models.TextField(blank=True)
    licence = models.CharField(max_length=200, blank=True)
    live = models.JSONField(
        default=dict,
        blank=True,
        editable=False,
        help_text="Of goals that agents reach by acting: the environment, the most steps and seconds of an episode.",
    )
    page_totals = models.JSONField(
        default=dict, editable=False, help_text="`page_bytes` as last counted, and the number of `steps` then."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = DatasetQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name

    @property
    def is_live(self) -> bool:
        """Whether its conversations are goals of episodes in an environment, without recorded steps."""
        return bool(self.live)

    @property
    def model_user(self) -> str:
        """The connection to the language model that is the user of its goals; "" where none is."""
        return (self.live.get("user") or {}).get("connection", "")

    def canary(self, *release: str) -> str:
        """The mark of every exported line: of the dataset as it is, or of a release, by its version and checksum."""
        return str(uuid.uuid5(CANARY_SPACE, " ".join((self.name, *release))))

    def differs_from(self, live: dict[str, Any]) -> str:
        """Why goals with these settings of an environment cannot be added to the dataset; "" where they can."""
        if self.live == live:
            return ""
        values = {key: value["connection"] if key == "user" else value for key, value in self.live.items()}
        kept = ", ".join(f"{key} {value}" for key, value in values.items()) or "recorded steps"
        return f"there is a dataset {self} already, with {kept}: choose another name"

    def is_bare(self, but: models.Model | None = None) -> bool:
        """Whether no row refers to the dataset, this one aside."""
        for relation in self._meta.related_objects:
            rows = relation.related_model._base_manager.filter(**{relation.field.name: self})
            if isinstance(but, relation.related_model):
                rows = rows.exclude(pk=but.pk)
            if rows.exists():
                return False
        return True

    def split_counts(self) -> list[tuple[str, int]]:
        """The splits of the dataset, each with its number of conversations."""
        return list(ConversationTally.by_split(self.pk).values_list("split", "conversation_count"))

    def website_counts(self) -> list[tuple[str, int]]:
        """The websites of the dataset that have conversations, by name, each with their number."""
        return list(ConversationTally.by_website(self.pk).values_list("website__name", "conversation_count"))

    def recorded_counts(self, split: str) -> tuple[int, int]:
        """How many conversations and steps a split has."""
        row = ConversationTally.by_split(self.pk).filter(split=split).first()
        return (row["conversation_count"], row["step_count"]) if row else (0, 0)

    def recorded_websites(self, split: str, names: Collection[str] | None = None) -> list["Website"]:
        """The websites with recorded steps in a split, by domain; with `names` those alone, or ValueError where one is
        none of them."""
        counted = ConversationTally.objects.filter(dataset=self, split=split).order_by().values("website")
        recorded = counted.annotate(recorded=Sum("steps")).filter(recorded__gt=0)
        sites = list(self.websites.filter(pk__in=recorded.values("website")).order_by("domain", "subdomain", "name"))
        if names is None:
            return sites
        if unknown := sorted(set(names) - {site.name for site in sites}):
            raise ValueError(f"{self} has no {split} conversations of {', '.join(unknown)}")
        return [site for site in sites if site.name in set(names)]

    def version_problem(self, version: str) -> str:
        """What is wrong with the name of a new version; "" for nothing."""
        if not RELEASE_VERSION.fullmatch(version):
            return "Begin with a digit, then letters, digits, points, hyphens: 1.0, 2026.1, 2.0-rc1; 40 at most."
        if self.releases.filter(version=version).exists():
            return f"There is a release {version} of {self} already; releases never change: choose another version."
        return ""

    def release_problems(self, version: str, licence: str, consent: str) -> dict[str, str]:
        """Why no release of the dataset can be made now, by field."""
        errors = {}
        if problem := self.version_problem(version):
            errors["version"] = problem
        if not licence.strip():
            errors["licence"] = "Say under which licence the release may be used."
        if not consent.strip():
            errors["consent"] = "Say what the people whose data it holds have agreed to."
        if not self.conversations.exists():
            errors["__all__"] = f"{self} has no conversations to release."
        if self.jobs.imports().unfinished().exists():
            errors["__all__"] = "An import into this dataset is under way: wait for its end, or cancel it."
        return errors

    def known_page_bytes(self, steps: int, *, tests: bool) -> dict[str, int]:
        """Raw and stored bytes of the pages as last counted: a large dataset is not counted now, and {} stands before
        its first count. Without `tests` test splits do not count."""
        kept = self.page_totals
        if self.is_miscounted(steps) and steps <= COUNTED_AT_ONCE:
            kept = self.count_pages(steps)
        return kept if tests else kept.get("open", {})

    def is_miscounted(self, steps: int) -> bool:
        """Whether the pages' bytes must be counted again, as the dataset has this many steps now."""
        return self.page_totals.get("steps") != steps or "open" not in self.page_totals

    def count_pages(self, steps: int) -> dict[str, int]:
        """Count the pages' bytes of the dataset, which has this many steps now, and keep the result; `open`: the bytes
        without test splits, which everybody may know."""
        self.page_totals = self.page_bytes() | {"steps": steps, "open": self.page_bytes(tests=False)}
        Dataset.objects.filter(pk=self.pk).update(page_totals=self.page_totals)
        return self.page_totals

    def count_shared_pages(self) -> int:
        """How many pages are shown by steps of more than one split. In SQL, as a step names its pages in two columns:
        0.7 s for 100,000 steps where Django's own two queries take 1.8 s."""
        with connection.cursor() as cursor:
            cursor.execute(SHARED_PAGES_SQL, [self.pk])
            return cursor.fetchone()[0]

    def page_bytes(self, *, tests: bool = True) -> dict[str, int]:
        """`raw`: bytes of every page reference as imported; `distinct`: after deduplication; `stored`: on disk,
        dictionaries included; `pages` and `distinct_pages` count them. Without `tests` only pages of the other splits
        count. In SQL: 0.9 s for 100,000 steps of 60,000 pages where Django's own queries take 4.7 s."""
        with connection.cursor() as cursor:
            cursor.execute(PAGE_BYTES_SQL, [self.pk, tests])
            raw, pages, distinct, distinct_pages, stored, dictionaries = (int(n) for n in cursor.fetchone())
        return {
            "raw": raw,
            "pages": pages,
            "distinct": distinct,
            "distinct_pages": distinct_pages,
            "stored": stored + dictionaries,
            "dictionaries": dictionaries,
        }


class WebsiteQuerySet(models.QuerySet["Website"]):
    def counted(self) -> Self:
        """Annotate `count`, the number of a website's conversations."""
        return self.annotate(count=ConversationTally.total("conversations", website=OuterRef("pk")))


class Website(models.Model):
    """A website inside a dataset, with its place in the dataset's taxonomy."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="websites")
    name = models.CharField(max_length=200)
    domain = models.CharField(max_length=200, blank=True)
    subdomain = models.CharField(max_length=200, blank=True)
    page_dictionary = models.ForeignKey(
        "PageDictionary", models.SET_NULL, null=True, blank=True, help_text="For pages imported from now on."
    )

    objects = WebsiteQuerySet.as_manager()

    class Meta:
        ordering = [F("domain"), F("subdomain"), F("name")]
        constraints = [
            # A source may file one site under two subdomains; both are kept as given.
            models.UniqueConstraint(fields=["dataset", "name", "domain", "subdomain"], name="website_once_per_dataset")
        ]

    def __str__(self) -> str:
        return self.name

    def within(self, dataset: Dataset) -> "Website":
        """The same website as a row of another dataset, made there if there is none."""
        return Website.objects.get_or_create(
            dataset=dataset, name=self.name, domain=self.domain, subdomain=self.subdomain
        )[0]

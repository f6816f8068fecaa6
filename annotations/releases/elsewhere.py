"""Where a text that was taken out of a dataset still stands: in other datasets, as those that were made of the same
conversations, each of which is redacted for itself."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import Count
from django.urls import reverse

from annotations.access import rules
from annotations.models import Conversation, Dataset, Step, Turn
from annotations.releases.keeping import KEPT, KeptTexts
from annotations.releases.privacy import take_out
from annotations.releases.scanning import PrivateText, strings

RECORDED = (
    KeptTexts(Conversation, "", ("extra",)),
    KeptTexts(Turn, "conversation", ("instruction", "extra")),
    KeptTexts(Step, "turn__conversation", ("value", "action_repr", "extra", "snapshot", "raw_snapshot")),
)


class HoldingDataset(NamedTuple):
    """Another dataset, in how many places of it the texts stand, and the page where they can be taken out of it; "" for
    those who may not do so."""

    dataset: str
    places: int
    url: str


class OtherDatasets:
    """The datasets beside one that a user may see."""

    def __init__(self, user: rules.User, dataset: Dataset) -> None:
        self.user = user
        self.rows = rules.visible(user, Dataset.objects.exclude(pk=dataset.pk))

    def holding(self, texts: Iterable[PrivateText]) -> list[HoldingDataset]:
        """Those in which these texts stand, most often first: in words, and on pages that the dataset showed, too. What
        is hidden from the user with the gold of test splits is left out."""
        counts: Counter[int] = Counter()
        for text in texts:
            for kept in (*RECORDED, *(one for one in KEPT if one.path)):
                counts += self._count(kept, text)
        found = Dataset.objects.select_related("project").in_bulk(counts)
        return [HoldingDataset(found[pk].name, count, self._page(found[pk])) for pk, count in counts.most_common()]

    def _count(self, kept: KeptTexts, text: PrivateText) -> Counter[int]:
        """Dataset -> how often the text stands in the columns of these rows, and on how many of their pages."""
        to = f"{kept.path}__" if kept.path else ""
        gold = rules.shows_gold(self.user, f"{to}split", f"{to}dataset__project")
        rows = kept.model._base_manager.filter(gold, **{f"{to}dataset__in": self.rows}).order_by()
        names, counts = [*(kept.searched or kept.texts())], Counter[int]()
        holding = kept.holding(text.text, names, rows).values_list("pk", f"{to}dataset", *names).distinct()
        for _, dataset, *said in holding.iterator():
            counts[dataset] += sum(len(take_out(one, text.text, "")[1]) for one in strings(said))
        for name in kept.pages():
            showing = rows.filter(**{f"{name}__sha256__in": text.pages}).values_list(f"{to}dataset")
            counts.update(dict(showing.annotate(Count("pk"))))
        return +counts

    def _page(self, dataset: Dataset) -> str:
        may_redact = rules.can(self.user, "manage", dataset.project)
        return reverse("release-new", args=[dataset.name]) if may_redact else ""

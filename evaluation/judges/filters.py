"""The filters of judges' verdicts, for their page, their download and the API."""

from django.db.models import Q
from django_filters import rest_framework as filters

from evaluation.models import JudgeVerdict
from evaluation.models.judges import JudgeVerdictQuerySet

SAID = {
    "success": ("success", Q(error="", success=True)),
    "failure": ("failure", Q(error="", success=False)),
    "untold": ("cannot tell", Q(error="", success=None)),
    "unanswered": ("no answer", ~Q(error="")),
}

PEOPLE = {"success": ("success", True), "failure": ("failure", False), "untold": ("nothing, or are divided", None)}


class JudgeVerdictFilter(filters.FilterSet):
    judge = filters.CharFilter()
    model = filters.CharFilter()
    said = filters.ChoiceFilter(choices=[(key, words) for key, (words, _) in SAID.items()], method="that_say")
    people = filters.ChoiceFilter(choices=[(key, words) for key, (words, _) in PEOPLE.items()], method="of_people")
    disagrees = filters.BooleanFilter(method="that_disagree", label="Says the opposite of most people, or does not.")
    run = filters.NumberFilter(field_name="trajectory__run")
    study = filters.NumberFilter(field_name="trajectory__run__studies")
    trajectory = filters.NumberFilter()

    class Meta:
        model = JudgeVerdict
        fields = ["judge"]

    def that_say(self, rows: JudgeVerdictQuerySet, name: str, said: str) -> JudgeVerdictQuerySet:
        return rows.filter(SAID[said][1])

    def of_people(self, rows: JudgeVerdictQuerySet, name: str, said: str) -> JudgeVerdictQuerySet:
        return rows.where_people_say(PEOPLE[said][1])

    def that_disagree(self, rows: JudgeVerdictQuerySet, name: str, disagrees: bool) -> JudgeVerdictQuerySet:
        found = rows.disagreeing()
        return found if disagrees else rows.exclude(pk__in=found.values("pk"))

"""What clients may filter by: explicit fields only, each with one lookup.

Parents are given as numbers, not as choices: a choice would tell an id of another project from one that does not exist.
"""

from django_filters import rest_framework as filters

from annotations.models import Conversation, Dataset, Job, Membership, Rationale, SourceTask, Split, Step, Turn, Website


class CreatedAfter(filters.FilterSet):
    """Filters rows by when they were made, for clients that ask what is new since they last looked."""

    created_after = filters.IsoDateTimeFilter(field_name="created_at", lookup_expr="gt")


class MembershipFilter(filters.FilterSet):
    project = filters.NumberFilter()

    class Meta:
        model = Membership
        fields = ["role"]


class DatasetFilter(CreatedAfter):
    project = filters.NumberFilter()

    class Meta:
        model = Dataset
        fields = ["name"]


class WebsiteFilter(filters.FilterSet):
    dataset = filters.NumberFilter()

    class Meta:
        model = Website
        fields = ["name", "domain", "subdomain"]


class SourceTaskFilter(filters.FilterSet):
    dataset = filters.NumberFilter()

    class Meta:
        model = SourceTask
        fields = ["split", "source_id"]


class ConversationFilter(CreatedAfter):
    dataset = filters.NumberFilter()
    domain = filters.CharFilter(field_name="website__domain")
    website = filters.CharFilter(field_name="website__name")

    class Meta:
        model = Conversation
        fields = ["split", "source_id"]


class TurnFilter(filters.FilterSet):
    conversation = filters.NumberFilter()
    dataset = filters.NumberFilter(field_name="conversation__dataset")
    split = filters.ChoiceFilter(field_name="conversation__split", choices=Split.choices)

    class Meta:
        model = Turn
        fields: list[str] = []


class StepFilter(filters.FilterSet):
    """Filters of steps. There is none by operation or target: a filter by a gold field would tell hidden gold."""

    turn = filters.NumberFilter()
    conversation = filters.NumberFilter(field_name="turn__conversation")
    dataset = filters.NumberFilter(field_name="turn__conversation__dataset")
    split = filters.ChoiceFilter(field_name="turn__conversation__split", choices=Split.choices)

    class Meta:
        model = Step
        fields: list[str] = []


class RationaleFilter(CreatedAfter):
    step = filters.NumberFilter()
    conversation = filters.NumberFilter(field_name="step__turn__conversation")

    class Meta:
        model = Rationale
        fields = ["source"]


class JobFilter(CreatedAfter):
    project = filters.NumberFilter()
    dataset = filters.NumberFilter()
    finished_after = filters.IsoDateTimeFilter(field_name="finished_at", lookup_expr="gt")

    class Meta:
        model = Job
        fields = ["kind", "state"]

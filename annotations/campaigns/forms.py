"""Forms of annotation work; what is wrong is said at the field."""

import re
from typing import Any

from django import forms
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import QueryDict

from annotations.campaigns import holding_up
from annotations.campaigns.assigning import Order
from annotations.campaigns.places import FREE, NO_BATCH, STATES, state_name, taken_places
from annotations.campaigns.propose import proposing
from annotations.campaigns.quality import ORDERS, SHOWN
from annotations.forms import FilterForm, choice_field, row_field
from annotations.models import DEFAULT_RUBRIC, Assignment, Campaign, Dataset, Item, Proposal, Stage
from annotations.models.accounts.projects import User
from annotations.models.work.queue import ItemQuerySet
from annotations.text.amounts import amount

CODE = re.compile(r"[a-z][a-z0-9-]{0,39}")
COUNT: dict[str, Any] = {"min_value": 1, "max_value": 20}
FIRST_GUIDELINES = """# Guidelines

- Cut where the intent of the user changes, not where the page does.
- A sub-instruction asks for all of its steps and for no more.
- Rewrite as somebody would say it in a conversation; whoever hears it must be able to tell what is meant.
"""


class RubricField(forms.CharField):
    """A text area with a line "code | stage | question" for each entry of the rubric, a list of {code, stage,
    question}."""

    widget = forms.Textarea({"rows": 7, "spellcheck": "false"})

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return "\n".join(f"{entry['code']} | {entry['stage']} | {entry['question']}" for entry in value)

    def clean(self, value: Any) -> list[dict[str, str]]:
        rubric: list[dict[str, str]] = []
        for number, line in enumerate(super().clean(value).splitlines(), 1):
            if not line.strip():
                continue
            parts = [part.strip() for part in line.split("|", 2)]
            if len(parts) != 3 or not parts[2]:
                raise forms.ValidationError(f"Line {number}: write code | stage | question.")
            code, stage, question = parts
            if not CODE.fullmatch(code):
                raise forms.ValidationError(f"Line {number}: a code has lower-case letters, digits and hyphens.")
            if stage not in (Stage.DECOMPOSE, Stage.REWRITE):
                raise forms.ValidationError(f"Line {number}: the stage is decompose or rewrite, found “{stage}”.")
            if any(entry["code"] == code for entry in rubric):
                raise forms.ValidationError(f"Line {number}: “{code}” is there already.")
            rubric.append({"code": code, "stage": stage, "question": question})
        return rubric


class CampaignForm(forms.ModelForm):
    """Makes a new campaign or changes the rules of one; the campaign's project is that of its source dataset."""

    rubric = RubricField(
        required=False,
        help_text="One per line: code | decompose or rewrite | what a verifier checks.",
        initial=DEFAULT_RUBRIC,
    )
    overlap = forms.IntegerField(
        **COUNT,
        initial=1,
        help_text="How many people decompose and rewrite a session. A change counts for what nobody has begun.",
    )
    verify_overlap = forms.IntegerField(
        **COUNT, initial=1, label="Verifiers", help_text="All of them must accept a rewrite."
    )
    steps_per_part = forms.IntegerField(**COUNT, initial=4, help_text="n steps aim at ⌈n / this⌉ parts.")

    second_look = forms.IntegerField(
        min_value=1,
        max_value=100,
        initial=10,
        label="Second look, %",
        help_text="Of items accepted at once as all their checks are green: how many a person looks at; at least one.",
    )
    connection = forms.ChoiceField(
        required=False, label="By connection", help_text="Of proposals by a language model; prices and limits are its."
    )

    class Meta:
        model = Campaign
        fields = [
            "name",
            "source",
            "mode",
            *Campaign.RULES,
        ]
        labels = {"cap": "Cap per person", "source": "Source dataset"}

    said = ""  # what a changed number of people means for the items that are there, once it is stored

    def __init__(self, *args: Any, sources: QuerySet[Dataset], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        row_field(self, "source").queryset = sources.order_by("name")
        names = sorted(
            {*proposing.connections(), self.instance.connection} - {""}
        )  # its own is listed though it is gone
        choice_field(self, "connection").choices = [("", "what answers here"), *((name, name) for name in names)]
        if self.instance.pk and self.instance.sessions.exists():
            self.fields["source"].disabled = True
            self.fields["source"].help_text = "Fixed: there are sessions made from it."

    def clean(self) -> dict[str, Any]:
        super().clean()
        values = self.cleaned_data
        source, name = values.get("source"), values.get("name")
        if source and name:
            others = Campaign.objects.filter(project=source.project, name=name).exclude(pk=self.instance.pk)
            if others.exists():
                self.add_error("name", f"{source.project} has a campaign of this name (perhaps in the bin).")
        return values

    @transaction.atomic
    def save_for(self, user: User) -> Campaign:
        """Store it; a new campaign gets its project, its maker and first guidelines."""
        campaign = self.instance
        campaign.rubric = self.cleaned_data["rubric"]
        campaign.project = campaign.source.project
        if campaign.pk is None:
            campaign.begin(user, FIRST_GUIDELINES)
        else:
            super().save()
            self.said = self._asked_of_items(campaign)
        return campaign

    def _asked_of_items(self, campaign: Campaign) -> str:
        items, changed, kept = Item.objects.filter(session__campaign=campaign), 0, 0
        asked = {
            "overlap": items.exclude(stage=Stage.VERIFY),
            "verify_overlap": items.filter(stage=Stage.VERIFY),
        }
        for name in asked.keys() & self.changed_data:
            found = asked[name].follow(self.cleaned_data[name])
            changed, kept = changed + found[0], kept + found[1]
        if not changed and not kept:
            return ""
        keep = f"; that of {amount(kept, 'other')} stays" if kept else ""
        return f"The new number of people counts for {amount(changed, 'item')} that nobody has begun{keep}."


class GuidelineForm(forms.Form):
    """A new version of a campaign's guidelines; `version` is the one that was edited."""

    text = forms.CharField(label="Guidelines (Markdown)", widget=forms.Textarea({"rows": 24}), strip=False)
    version = forms.IntegerField(widget=forms.HiddenInput)


class ItemFilterForm(FilterForm):
    """Which items of a campaign to assign; everything is in the URL, and what makes no sense is ignored."""

    STATES = [("", "in any state"), ("untouched", "that nobody has"), ("assigned", "with places not begun")]

    stage = forms.ChoiceField(choices=Stage.choices, required=False)
    batch = forms.ChoiceField(required=False)
    website = forms.ChoiceField(required=False)
    split = forms.ChoiceField(required=False)
    state = forms.ChoiceField(choices=STATES, required=False)

    def __init__(self, data: Any, campaign: Campaign) -> None:
        super().__init__(data)
        self.campaign = campaign
        sessions = campaign.sessions.live().order_by()
        for name, path, label in (
            ("batch", "batch", "batches"),
            ("website", "website__name", "websites"),
            ("split", "split", "splits"),
        ):
            found = sorted(value for value in sessions.values_list(path, flat=True).distinct() if value)
            choice_field(self, name).choices = [("", f"all {label}"), *((value, value) for value in found)]
        self.is_valid()

    @property
    def chosen_stage(self) -> str:
        return self.cleaned_data.get("stage") or Stage.DECOMPOSE

    def items(self) -> ItemQuerySet:
        """The open items that the filter leaves; items of deleted sessions are left out."""
        items = Item.objects.filter(
            session__campaign=self.campaign, session__deleted_at=None, stage=self.chosen_stage, state=Item.State.OPEN
        )
        for name, path in (("batch", "batch"), ("website", "website__name"), ("split", "split")):
            if value := self.cleaned_data.get(name):
                items = items.filter(**{f"session__{path}": value})
        active = Assignment.objects.active()
        state = self.cleaned_data.get("state")
        if state == "untouched":
            items = items.exclude(assignments__in=active)
        elif state == "assigned":
            items = items.filter(assignments__in=active.filter(state=Assignment.State.ASSIGNED)).distinct()
        return items


class WorkFilterForm(FilterForm):
    """Which items the table of a campaign's work lists; everything is in the URL."""

    SHOWS = [
        ("", "whatever became of it"),
        *((word, label) for word, (label, _) in SHOWN.items()),
        ("What holds it up", [(word, label) for word, (label, _) in holding_up.SHOWS.items()]),
    ]
    SORTS = [(word, label) for word, (label, _) in ORDERS.items()]

    q = forms.CharField(required=False, max_length=200, label="Session")
    stage = forms.ChoiceField(choices=[("", "all stages"), *Stage.choices], required=False)
    state = forms.ChoiceField(choices=[("", "in any state"), *Item.State.choices], required=False)
    person = forms.ChoiceField(required=False)
    show = forms.ChoiceField(choices=SHOWS, required=False, label="What became of it")
    code = forms.ChoiceField(required=False, label="Defect")
    week = forms.DateField(required=False, label="Submitted in the week from", widget=forms.DateInput({"type": "date"}))
    order = forms.ChoiceField(choices=SORTS, required=False)

    def __init__(self, data: Any, people: list[str], codes: list[str]) -> None:
        super().__init__(data)
        self.fields["q"].widget.attrs |= {"type": "search", "placeholder": "Session …"}
        choice_field(self, "person").choices = [("", "everybody"), *((name, name) for name in people)]
        choice_field(self, "code").choices = [("", "any defect or none"), *((code, code) for code in codes)]
        self.is_valid()


class PlaceFilterForm(FilterForm):
    """Which places of a campaign's items are listed; everything is in the URL."""

    NAMED = [(state, state_name(state)) for state in STATES]

    stage = forms.ChoiceField(choices=[("", "all stages"), *Stage.choices], required=False)
    state = forms.ChoiceField(choices=[("", "in any state"), ("left", "left"), *NAMED], required=False)
    person = forms.ChoiceField(required=False)
    batch = forms.ChoiceField(required=False)

    def __init__(self, data: QueryDict, campaign: Campaign) -> None:
        super().__init__(data)
        people = taken_places([campaign.pk]).order_by("user__username").values_list("user__username", flat=True)
        names = [("", "everybody and nobody"), (FREE, "free"), *((name, name) for name in people.distinct())]
        choice_field(self, "person").choices = names
        batches = [(name, name) for name in campaign.sessions.live().batches()]
        choice_field(self, "batch").choices = [("", "all batches"), (NO_BATCH, "without a batch"), *batches]
        self.is_valid()


class ProposalFilterForm(FilterForm):
    """Which proposals of a campaign are listed; everything is in the URL."""

    SHOWN = {  # word of the address -> its label, and the condition
        "judged": ("judged", Q(has_passed__isnull=False)),
        "passed": ("passed as proposed", Q(has_passed=True)),
        "changed": ("judged, not passed as proposed", Q(has_passed=False)),
        "unjudged": ("not judged yet", Q(has_passed=None)),
        "measured": ("with a distance", Q(distance__isnull=False)),
    }
    OUTCOMES = [(outcome.value or "open", outcome.label) for outcome in Proposal.Outcome]

    kind = forms.ChoiceField(choices=[("", "all kinds"), *Proposal.Kind.choices], required=False)
    model = forms.ChoiceField(required=False)
    outcome = forms.ChoiceField(choices=[("", "whatever became of it"), *OUTCOMES], required=False)
    show = forms.ChoiceField(
        choices=[("", "judged or not"), *((word, label) for word, (label, _) in SHOWN.items())],
        required=False,
        label="What verifiers said",
    )

    def __init__(self, data: QueryDict, campaign: Campaign) -> None:
        super().__init__(data)
        self.proposals = campaign.proposals.all()
        models = self.proposals.order_by("model_name").values_list("model_name", flat=True).distinct()
        choice_field(self, "model").choices = [("", "all models"), *((name, name) for name in models)]
        self.is_valid()

    def rows(self) -> QuerySet[Proposal]:
        """The proposals that the filter leaves, the newest first."""
        wanted, rows = self.cleaned_data, self.proposals
        if kind := wanted.get("kind"):
            rows = rows.filter(kind=kind)
        if model := wanted.get("model"):
            rows = rows.filter(model_name=model)
        if outcome := wanted.get("outcome"):
            rows = rows.filter(outcome="" if outcome == "open" else outcome)
        if show := wanted.get("show"):
            rows = rows.filter(self.SHOWN[show][1])
        return rows


class OrderForm(forms.Form):
    """How to distribute items: to whom, how many people per item, and at most how many items each. A field weight-<pk>
    for each person holds their weight; with 0 they get nothing."""

    overlap = forms.IntegerField(**COUNT, label="People per item")
    cap = forms.IntegerField(
        min_value=0, label="At most per person", help_text="What they have had included; 0: no cap."
    )

    def __init__(self, data: Any, campaign: Campaign, stage: str) -> None:
        start = {"overlap": campaign.verify_overlap if stage == Stage.VERIFY else campaign.overlap, "cap": campaign.cap}
        super().__init__(data if data and "overlap" in data else None, initial=start)
        self.people = campaign.able_people(stage)
        for person in self.people:
            self.fields[f"weight-{person.pk}"] = forms.FloatField(
                min_value=0,
                max_value=100,
                required=False,
                initial=1,
                label=person.get_username(),
                widget=forms.NumberInput({"step": "any", "class": "weight"}),
            )

    def weights(self) -> list[forms.BoundField]:
        return [self[f"weight-{person.pk}"] for person in self.people]

    def order(self) -> Order | None:
        """The order as it was entered; None while nothing valid was sent or nobody has a weight."""
        if not self.is_valid():
            return None
        people = [(person, self.cleaned_data.get(f"weight-{person.pk}") or 0) for person in self.people]
        chosen = tuple((person, weight) for person, weight in people if weight > 0)
        return Order(chosen, self.cleaned_data["overlap"], self.cleaned_data["cap"]) if chosen else None

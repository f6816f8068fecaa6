"""What forms of several wings share."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.forms.utils import pretty_name

MOST = 2**31 - 1  # what a column of whole numbers holds
MOST_BIG = 2**63 - 1  # what one of big whole numbers holds


class FilterForm(forms.Form):
    """A form of filters, whose fields stand side by side without visible labels; each has its label as `aria-label` for
    screen readers."""

    def __init__(self, data) -> None:
        super().__init__(data)
        for name, field in self.fields.items():
            field.widget.attrs["aria-label"] = field.label or pretty_name(name)

    def active(self) -> dict[str, str]:
        """What was chosen, once the form was found valid or not: a value that makes no sense is none."""
        return {name: self.cleaned_data[name] for name in self.fields if self.cleaned_data.get(name)}


def choice_field(form: forms.BaseForm, name: str) -> forms.ChoiceField:
    """The field of this name, typed as a choice field, for callers that set its choices."""
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    return field


def offer_projects(form: forms.BaseForm, projects: QuerySet[Any]) -> None:
    """Offer these in the form's field `project`; where there is one alone, it is chosen."""
    row_field(form, "project").queryset = projects
    if len(projects) == 1:
        form.fields["project"].initial = projects[0]


def row_field(form: forms.BaseForm, name: str) -> forms.ModelChoiceField:
    """The field of this name, typed as a model choice field, for callers that set its rows."""
    field = form.fields[name]
    assert isinstance(field, forms.ModelChoiceField)
    return field

"""The form of live goals."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from agents.environments.open_web import environment as open_web
from agents.environments.protocol import NoSuchTask
from agents.environments.task_sets import OPEN, TALKING, TASK_SETS, TASKS, episode_steps
from agents.live.chosen_users import MOST_TEMPERATURE, TEMPERATURE, WORDS, ChosenUser, offered
from agents.live.goals import MOST_GOALS, MOST_SECONDS, MOST_STEPS, SECONDS
from agents.live.jobs import MOST_EPISODES, chosen_tasks, expected_seconds
from agents.llm.embedded import is_embedded
from agents.prompts.packs import PACKAGED
from annotations.forms import choice_field, offer_projects
from annotations.models import Project, Split
from annotations.shown_progress import span_text
from annotations.text.amounts import amount

OWN = "named"  # the set of tasks that are named one by one


class GoalsForm(forms.Form):
    """Which tasks, how often, and how long an episode may take. `environment` decides which tasks there are."""

    project = forms.ModelChoiceField(Project.objects.none(), empty_label=None)
    environment = forms.ChoiceField(choices=[(name, name) for name in TASKS])
    task_set = forms.ChoiceField(label="Tasks")
    tasks = forms.CharField(
        required=False,
        label="Tasks by name",
        max_length=20_000,
        help_text="Only where they are named one by one: separated by spaces; of open-web a line each, an address and "
        "what is to be done.",
        widget=forms.Textarea({"rows": 3, "spellcheck": "false"}),
    )
    episodes = forms.IntegerField(
        min_value=1, max_value=MOST_EPISODES, initial=5, help_text="Of each task, with a seed each."
    )
    first_seed = forms.IntegerField(
        min_value=0, max_value=2**31 - 1, initial=0, help_text="The same seeds are the same goals for every agent."
    )
    split = forms.ChoiceField(
        choices=Split.choices,
        initial=Split.DEV,
        help_text="Studies are run on splits; dev is for trying out. Goals of recorded conversations keep theirs.",
    )
    steps = forms.IntegerField(min_value=1, max_value=MOST_STEPS, label="Steps of an episode, at most")
    seconds = forms.IntegerField(
        min_value=1, max_value=MOST_SECONDS, initial=SECONDS, label="Seconds of an episode, at most"
    )
    user = forms.ChoiceField(
        label="Their user",
        required=False,
        help_text="Scripted: says what is written, and answers a question with the words that it asks for.",
    )
    user_words = forms.ChoiceField(
        label="It says what is to be done in",
        required=False,
        choices=WORDS.items(),
        help_text="Answers are its own words in any case.",
    )
    user_temperature = forms.FloatField(
        label="Its temperature", required=False, min_value=0, max_value=MOST_TEMPERATURE, initial=TEMPERATURE
    )
    user_max_cost = forms.FloatField(
        label="In money, a run at most",
        required=False,
        min_value=0,
        help_text="A run stops before its user costs more. Empty: no limit.",
    )
    user_pack = forms.CharField(
        label="Prompt pack that it is asked by",
        required=False,
        max_length=120,
        initial=PACKAGED,
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
        help_text="webnav, or NAME or NAME@VERSION of the project.",
    )
    name = forms.CharField(
        label="Dataset",
        max_length=100,
        help_text="A new name, or that of live goals to add to: lower-case letters, digits and hyphens.",
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, projects: QuerySet[Project], environment: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_projects(self, projects)
        self.problem, self.there = "", ""
        self.talks = environment in TALKING
        answering = [(name, "the small model in the worker" if is_embedded(name) else name) for name in offered()]
        choice_field(self, "user").choices = [("", "scripted"), *answering]
        try:
            self.known = list(TASKS[environment]())
            self.there = open_web.where_to() if environment in OPEN else ""
        except NoSuchTask as error:
            self.known, self.problem = [], f"{str(error)[0].upper()}{str(error)[1:]}."
        sets = {"all": self.known, **TASK_SETS[environment]}
        named = [(name, f"{name} ({len(tasks):,})") for name, tasks in sets.items()]
        choice_field(self, "task_set").choices = [*([] if environment in OPEN else named), (OWN, "named one by one")]
        steps = episode_steps(environment)
        self.initial = {"environment": environment, "steps": steps, "name": f"{environment}-goals", **self.initial}

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        said = values.get("tasks", "")
        is_open = values.get("environment") in OPEN
        names = list(filter(None, map(str.strip, said.splitlines()))) if is_open else said.replace(",", " ").split()
        asked = {name: values.pop(f"user_{name}", None) for name in ("words", "temperature", "max_cost", "pack")}
        user, given = values.pop("user", ""), {name: one for name, one in asked.items() if one not in ("", None)}
        values["talker"] = ChosenUser(user, **given) if user and not self.errors else None
        own = values.pop("task_set", OWN) == OWN
        values["tasks"] = list(dict.fromkeys(names)) if own else [self["task_set"].value()]
        try:
            self.chosen = chosen_tasks(values.get("environment", ""), values["tasks"])
        except ValueError as error:
            self.chosen = []
            self.add_error("tasks", f"{str(error)[0].upper()}{str(error)[1:]}.")
        return values

    def expected(self) -> str:
        """A sentence with how many goals the fields ask for and how long making them takes; "" while the fields are not
        valid. The fields come from the address, before the form is sent."""
        try:
            if not self.is_valid() and {"tasks", "episodes", "environment"} & set(self.errors):
                return ""
        except ValidationError:
            return ""
        values, tasks = self.cleaned_data, len(self.chosen)
        goals = tasks * values["episodes"]
        if goals > MOST_GOALS:
            return f"{goals:,} goals: a dataset holds at most {MOST_GOALS:,}."
        took = span_text(expected_seconds(values["environment"], tasks, goals))
        return f"{amount(goals, 'goal')} of {amount(tasks, 'task')}; about {took}."

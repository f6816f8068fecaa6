"""The JSON of a report, as `evaluation.reports.formats.objects` builds it, and of a table of live tasks."""

from rest_framework import serializers

from evaluation.models import Study


class ReportCellSerializer(serializers.Serializer):
    split = serializers.CharField(allow_blank=True, help_text="Empty: every split.")
    metric = serializers.CharField()
    value = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    n = serializers.IntegerField()
    grouping = serializers.CharField()


class PublishedCellSerializer(serializers.Serializer):
    source = serializers.CharField(  # type: ignore[assignment]  # a field may have the name of a field's option
        help_text="Where it is printed, and of which system."
    )
    split = serializers.CharField()
    metric = serializers.CharField()
    value = serializers.FloatField()


class PublishedSecondsSerializer(serializers.Serializer):
    source = serializers.CharField()  # type: ignore[assignment]  # a field may have the name of a field's option
    value = serializers.FloatField()


class ReportRowSerializer(serializers.Serializer):
    recipe = serializers.CharField()
    settings = serializers.DictField(help_text="Those that differ from the named recipe.")
    seed = serializers.IntegerField()
    limit = serializers.IntegerField(allow_null=True)
    websites = serializers.ListField(child=serializers.CharField(), help_text="Empty: all.")
    complete = serializers.BooleanField(help_text="Every step has a result.")
    differs = serializers.ListField(
        child=serializers.CharField(), help_text="What makes it another agent than was published: quirks off, say."
    )
    seconds_per_step = serializers.DictField(child=serializers.FloatField(), help_text="Split -> mean run time.")
    published_seconds_per_step = PublishedSecondsSerializer(many=True)
    cells = ReportCellSerializer(many=True)
    published = PublishedCellSerializer(many=True)


class DeviationSerializer(serializers.Serializer):
    key = serializers.CharField()
    words = serializers.CharField()
    recipes = serializers.ListField(child=serializers.CharField())


class ReportTableSerializer(serializers.Serializer):
    """The runs on one dataset."""

    dataset = serializers.CharField()
    preset = serializers.ChoiceField(choices=Study.Preset.choices)
    groupings = serializers.DictField(child=serializers.CharField(), help_text="Metric -> what it is a mean over.")
    caption = serializers.CharField()
    notes = serializers.ListField(child=serializers.CharField(), help_text="A sentence each.")
    deviations = DeviationSerializer(many=True, help_text="Where the agents still differ from what they follow.")
    splits = serializers.ListField(child=serializers.CharField(allow_blank=True))
    metrics = serializers.ListField(child=serializers.CharField())
    rows = ReportRowSerializer(many=True)


class TaskSystemSerializer(serializers.Serializer):
    name = serializers.CharField()
    about = serializers.CharField(help_text="How it came by what it can do.")


class TaskRunSerializer(serializers.Serializer):
    run = serializers.IntegerField(source="run.pk")
    recipe = serializers.CharField(source="label", help_text="With what tells it from the others.")
    state = serializers.CharField(source="run.state")


class TaskSuccessSerializer(serializers.Serializer):
    """What a run came to at a task; the interval is Wilson's, 95 %."""

    run = serializers.IntegerField()
    episodes = serializers.IntegerField(source="line.episodes")
    success = serializers.FloatField(source="line.success")
    low = serializers.FloatField(source="line.low")
    high = serializers.FloatField(source="line.high")
    reward = serializers.FloatField(source="line.reward")
    steps = serializers.FloatField(source="line.steps")
    caution = serializers.CharField(help_text="Where its interval rests on too few episodes; else empty.")
    trained = serializers.BooleanField(
        source="is_trained", allow_null=True, help_text="Its weights saw the task in training; null: nobody knows."
    )


class LiveTaskSerializer(serializers.Serializer):
    task = serializers.CharField()
    ours = TaskSuccessSerializer(source="played", many=True, help_text="Of the runs that have played it.")
    published = serializers.DictField(
        child=serializers.FloatField(allow_null=True), help_text="System -> mean success; null: it reports none."
    )


class MeanOfRunSerializer(serializers.Serializer):
    run = serializers.IntegerField()
    value = serializers.FloatField(source="rate.value")
    low = serializers.FloatField(source="rate.low")
    high = serializers.FloatField(source="rate.high")
    n = serializers.IntegerField(source="rate.n", help_text="Tasks.")


class TaskMeanSerializer(serializers.Serializer):
    """Means over the same tasks."""

    name = serializers.CharField()
    system = serializers.CharField(allow_blank=True, help_text="Whose tasks these are; empty: ours alone.")
    tasks = serializers.IntegerField(allow_null=True, help_text="How many; null: each run has its own.")
    published = serializers.FloatField(source="value", allow_null=True)
    ours = MeanOfRunSerializer(source="played", many=True, help_text="Of the runs that have played some.")


class StudyTasksSerializer(serializers.Serializer):
    """Live runs on MiniWoB++ task by task, beside published numbers."""

    where = serializers.CharField(source="table.where", help_text="Where the published numbers are printed.")
    caution = serializers.CharField(source="table.caution", help_text="Why they are no target.")
    hidden = serializers.BooleanField(help_text="Goals of test splits are left out.")
    systems = TaskSystemSerializer(source="table.systems", many=True)
    runs = TaskRunSerializer(source="table.runs", many=True)
    means = TaskMeanSerializer(source="table.means", many=True)
    tasks = LiveTaskSerializer(source="table.rows", many=True)

"""The JSON of a report, declared for the schema; `evaluation.reports.formats.objects` builds it."""

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

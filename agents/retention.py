"""What this app keeps for a time: replies of language models, and what stages recorded for the replay."""

from collections.abc import Iterable
from datetime import datetime

from django.db import connection
from django.db.models import Min, QuerySet

from agents.models import LlmReply, Run, StepPicture, TextEmbedding, TrainedModel, TrajectoryStep
from annotations.retention.kinds import TableRows

# The reply's text, from which scores are counted again, and the action, which lists of steps show, stay.
THIN_SQL = """
UPDATE agents_trajectorystep SET
branches = (SELECT coalesce(jsonb_agg(branch - 'prediction' - 'further'), '[]')
            FROM jsonb_array_elements(branches) branch),
trace = jsonb_strip_nulls(jsonb_build_object(
  'forgotten', true, 'act', trace->'act', 'seconds', trace->'seconds',
  'plan', CASE WHEN trace #> '{plan,text}' IS NOT NULL THEN jsonb_build_object('text', trace #> '{plan,text}') END
)) WHERE id = ANY(%s)
"""


class LlmReplies(TableRows):
    """Cached replies of language models. Once one is deleted, the same request is sent and paid for again."""

    name, heavy = "llm_replies", ("request", "reply")
    what = "stored replies of language models"
    stays = "replies since the oldest run that is under way began"

    def rows(self, before: datetime) -> QuerySet:
        begun = Run.objects.open().aggregate(begun=Min("created_at"))["begun"]
        return LlmReply.objects.filter(created_at__lt=min(before, begun) if begun else before)


class TextEmbeddings(TableRows):
    """Cached vectors of embedding endpoints. Once one is deleted, the same text is sent and paid for again."""

    name, heavy = "embeddings", ("vector",)
    what = "stored vectors of embedding endpoints"
    stays = "vectors of snippets, exemplars and workflows, which agents search"

    def rows(self, before: datetime) -> QuerySet:
        return TextEmbedding.objects.paid().filter(created_at__lt=before)


class ComputedEmbeddings(TableRows):
    """Vectors and scores that rankers here computed. Once one is deleted, it is computed again, and is the same."""

    name, heavy = "computed_vectors", ("vector",)
    what = "vectors and scores of elements that rankers here computed"
    stays = "rankings of runs, which hold their own scores"

    def rows(self, before: datetime) -> QuerySet:
        return TextEmbedding.objects.computed().filter(created_at__lt=before)


class Traces(TableRows):
    name, heavy = "traces", ("trace",)
    what = "what the stages of finished runs recorded for the replay"
    stays = "actions, candidates, results and replies: every score can be counted again"

    def rows(self, before: datetime) -> QuerySet:
        steps = TrajectoryStep.objects.filter(run__finished_at__lt=before).exclude(run__state__in=Run.OPEN)
        return steps.exclude(trace__has_key="forgotten")

    def _forget(self, keys: Iterable[int]) -> None:
        """Empty the traces in SQL: 0.4 s for 5,000 steps, where reading and writing them takes 12 s."""
        with connection.cursor() as cursor:
            cursor.execute(THIN_SQL, [list(keys)])


class Pictures(TableRows):
    """Screenshots of live steps; their bytes go with the pages that nothing shows any more (`forget_unused_pages`)."""

    name, heavy = "screenshots", ("boxes",)
    what = "screenshots of the steps of finished live runs"
    stays = "pages, actions and results of these steps, and screenshots that came with imported data"

    def rows(self, before: datetime) -> QuerySet:
        finished = StepPicture.objects.filter(step__run__finished_at__lt=before)
        return finished.exclude(step__run__state__in=Run.OPEN)


jobs_of_models = TrainedModel.objects.jobs
KINDS = [LlmReplies(), TextEmbeddings(), ComputedEmbeddings(), Traces(), Pictures()]

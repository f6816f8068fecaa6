"""The REST API: one router that names every viewset, the token endpoints, the schema and its page."""

from collections.abc import Callable

from django.http import HttpResponseBase
from django.urls import path
from django.views.generic import TemplateView
from drf_spectacular.views import SpectacularJSONAPIView
from rest_framework.routers import DefaultRouter
from rest_framework.viewsets import ViewSetMixin

from agents.connections.api import ConnectionViewSet
from agents.holding.api import GuardRuleViewSet
from agents.holding.held_api import HeldStepViewSet
from agents.live.api import LiveGoalsViewSet
from agents.memory.api import ExemplarViewSet, MemorySnippetViewSet, TransitionsViewSet, WorkflowViewSet
from agents.packs.api import PromptPackViewSet
from agents.recipe_pages.api import RecipeViewSet
from agents.replay.api import TrajectoryViewSet
from agents.training.trained.api import TrainedModelViewSet
from annotations.access import api as access
from annotations.access.api_rules import AnyAccept
from annotations.access.tokens.granting import MayUse
from annotations.corpus import api as annotations
from annotations.corpus.correct.api import CorrectionViewSet, TurnCorrectionViewSet
from annotations.desk.discuss.api import CommentViewSet
from annotations.desk.write.api import ProposalViewSet
from annotations.jobs import api as jobs
from annotations.releases.api import RedactionViewSet, ReleaseViewSet
from annotations.work import api as work
from annotations.work.verify.api import BulkAcceptViewSet, DisputeViewSet
from annotations.work.verify.curation_api import CurationViewSet
from evaluation.explaining.api import ExplainingViewSet
from evaluation.guard.api import GuardForecastViewSet, GuardOfDatasetViewSet
from evaluation.judges.api import JudgesOfStudyViewSet, JudgeVerdictViewSet, JudgingViewSet
from evaluation.reviews.api import ReviewQueueViewSet, ReviewViewSet
from evaluation.reviews.question_api import QuestionViewSet
from evaluation.studies import api as evaluation
from evaluation.studies.home_api import HomeView
from evaluation.studies.taking_part.showing_api import DemonstrationViewSet
from evaluation.studies.taking_part.talking_api import TypedConversationViewSet
from evaluation.teaching.api import LessonsOfDatasetViewSet

app_name = "api"

router = DefaultRouter()
router.include_format_suffixes = False
router.register("projects", annotations.ProjectViewSet)
router.register("memberships", annotations.MembershipViewSet)
router.register("access-events", access.AccessEventViewSet)
router.register("datasets", annotations.DatasetViewSet)
router.register("websites", annotations.WebsiteViewSet)
router.register("source-tasks", annotations.SourceTaskViewSet)
router.register("conversations", annotations.ConversationViewSet)
router.register("turns", annotations.TurnViewSet)
router.register("steps", annotations.StepViewSet)
router.register("snapshots", annotations.SnapshotViewSet)
router.register("screenshots", annotations.ScreenshotViewSet)
router.register("rationales", annotations.RationaleViewSet)
router.register("corrections", CorrectionViewSet)
router.register("turn-corrections", TurnCorrectionViewSet)
router.register("jobs", jobs.JobViewSet)
router.register("imports", jobs.ImportViewSet, basename="import")
router.register("exports", jobs.ExportViewSet, basename="export")
router.register("live-goals", LiveGoalsViewSet, basename="live-goals")
router.register("demonstrations", DemonstrationViewSet, basename="demonstration")
router.register("typed-conversations", TypedConversationViewSet, basename="typed-conversation")
router.register("campaigns", work.CampaignViewSet)
router.register("sessions", work.SessionViewSet)
router.register("items", work.ItemViewSet)
router.register("assignments", work.AssignmentViewSet)
router.register("proposals", ProposalViewSet)
router.register("verdicts", work.VerdictViewSet)
router.register("disputes", DisputeViewSet)
router.register("curations", CurationViewSet)
router.register("bulk-accepts", BulkAcceptViewSet)
router.register("comments", CommentViewSet)
router.register("releases", ReleaseViewSet)
router.register("redactions", RedactionViewSet, basename="redaction")
router.register("recipes", RecipeViewSet, basename="recipe")
router.register("prompt-packs", PromptPackViewSet)
router.register("connections", ConnectionViewSet)
router.register("memory-snippets", MemorySnippetViewSet)
router.register("exemplars", ExemplarViewSet)
router.register("workflows", WorkflowViewSet)
router.register("transitions", TransitionsViewSet, basename="transition")
router.register("guard-rules", GuardRuleViewSet)
router.register("held-steps", HeldStepViewSet)
router.register("guard-forecasts", GuardForecastViewSet, basename="guard-forecast")
router.register("models", TrainedModelViewSet)
router.register("runs", evaluation.ScoredRunViewSet)
router.register("trajectories", TrajectoryViewSet)
router.register("studies", evaluation.StudyViewSet)
router.register("shards", evaluation.ShardViewSet)
router.register("scores", evaluation.ScoreViewSet)
router.register("reviews", ReviewViewSet)
router.register("review-queues", ReviewQueueViewSet)
router.register("questions", QuestionViewSet)
router.register("judgings", JudgingViewSet, basename="judging")
router.register("explanations", ExplainingViewSet, basename="explanation")
router.register("judge-verdicts", JudgeVerdictViewSet)


def named_file(viewset: type[ViewSetMixin], action: str) -> Callable[..., HttpResponseBase]:
    """The view of a viewset's action whose URL ends like a file name, for which the router has no form."""
    return viewset.as_view({"get": action}, detail=True, content_negotiation_class=AnyAccept)


runs, studies = evaluation.ScoredRunViewSet, evaluation.StudyViewSet
guarded = GuardOfDatasetViewSet.as_view
urlpatterns = [
    path("auth/login/", access.LoginView.as_view(), name="login"),
    path("auth/logout/", access.LogoutView.as_view(), name="logout"),
    path("me/", access.MeView.as_view(), name="me"),
    path("home/", HomeView.as_view(), name="home"),
    path("schema/", SpectacularJSONAPIView.as_view(permission_classes=[MayUse]), name="schema"),
    path("docs/", TemplateView.as_view(template_name="api/docs.html"), name="docs"),
    path("runs/<int:pk>/metrics.csv", named_file(runs, "metrics_csv"), name="run-metrics-csv"),
    path("runs/<int:pk>/trajectories.jsonl", named_file(runs, "trajectories_jsonl"), name="run-trajectories"),
    path("studies/<int:pk>/metrics.csv", named_file(studies, "metrics_csv"), name="study-metrics-csv"),
    path("studies/<int:pk>/judges/", JudgesOfStudyViewSet.as_view({"get": "judges"}), name="study-judges"),
    path("datasets/<int:pk>/guard-labels/", guarded({"get": "labels", "post": "label"}), name="dataset-guard-labels"),
    path("datasets/<int:pk>/guard-report/", guarded({"get": "report"}), name="dataset-guard-report"),
    path("datasets/<int:pk>/lessons/", LessonsOfDatasetViewSet.as_view({"get": "lessons"}), name="dataset-lessons"),
    path("datasets/<int:pk>/lessons.jsonl", named_file(LessonsOfDatasetViewSet, "file"), name="dataset-lessons-file"),
    *router.urls,
]

"""Addresses of the evaluation app: the first page, studies."""

from django.urls import path

from evaluation.comparing import views as compare_views
from evaluation.explaining import views as explaining_views
from evaluation.guard import views as guard_views
from evaluation.judges import views as judge_views
from evaluation.reports import views as report_views
from evaluation.reviews import queue_views as review_queue_views
from evaluation.reviews import views as review_views
from evaluation.studies import views
from evaluation.studies.taking_part import showing_views, talking_views
from evaluation.teaching import views as teaching_views

urlpatterns = [
    path("", views.home_page, name="home"),
    path("studies/", views.studies, name="studies"),
    path("papers/", report_views.papers, name="papers"),
    path("papers/<slug:slug>/", report_views.paper, name="paper"),
    path("compare/", compare_views.compare, name="compare"),
    path("compare/conversations/<int:pk>/", compare_views.compare_conversation, name="compare-conversation"),
    path("studies/new/", views.study_new, name="study-new"),
    path("studies/watch/", views.watch, name="study-watch"),
    path("demonstrate/", showing_views.demonstrate, name="demonstrate"),
    path("converse/", talking_views.converse, name="converse"),
    path("trajectories/<int:pk>/again/", talking_views.converse_again, name="converse-again"),
    path("studies/<int:pk>/", views.study, name="study"),
    path("studies/<int:pk>/plots/", views.study_plots, name="study-plots"),
    path("studies/<int:pk>/plots.csv", views.study_plots_csv, name="study-plots-csv"),
    path("studies/<int:pk>/tasks/", report_views.study_tasks, name="study-tasks"),
    path("studies/<int:pk>/tasks.csv", report_views.study_tasks_csv, name="study-tasks-csv"),
    path("studies/<int:pk>/state/", views.study_state, name="study-state"),
    path("studies/<int:pk>/cancel/", views.cancel, name="study-cancel"),
    path("studies/<int:pk>/resume/", views.resume, name="study-resume"),
    path("studies/<int:pk>/judges/", judge_views.study_judges, name="study-judges"),
    path("studies/<int:pk>/judges.csv", judge_views.study_judges_csv, name="study-judges-csv"),
    path("studies/<int:pk>/judging/", judge_views.study_judging, name="study-judging"),
    path("studies/<int:pk>/budget/", views.budget, name="study-budget"),
    path("studies/<int:pk>/scores.<str:kind>", views.scores, name="study-scores"),
    path("studies/<int:pk>/report.<str:kind>", report_views.study_report, name="study-report"),
    path("guard/<slug:slug>/report/", guard_views.guard_report, name="guard-report"),
    path("guard/<slug:slug>/look/", guard_views.guard_look, name="guard-look"),
    path("guard/<slug:slug>/label/", guard_views.guard_label, name="guard-label"),
    path("guard/<slug:slug>/report.csv", guard_views.guard_report_csv, name="guard-report-csv"),
    path("studies/<int:pk>/explaining/", explaining_views.study_explaining, name="study-explaining"),
    path("studies/<int:pk>/failures/", views.failing, name="study-failures"),
    path("datasets/<slug:name>/lessons/", teaching_views.lessons, name="dataset-lessons"),
    path("datasets/<slug:name>/lessons/<slug:form>.jsonl", teaching_views.lessons_file, name="dataset-lessons-file"),
    path("trajectories/<int:pk>/reviews/", review_views.of_trajectory, name="trajectory-reviews"),
    path("questions/<int:pk>/withdraw/", review_views.change_question, {"act": "withdraw"}, name="question-withdraw"),
    path("questions/<int:pk>/seen/", review_views.change_question, {"act": "seen"}, name="question-seen"),
    path("trajectories/<int:pk>/ask/", review_views.ask_about_step, name="trajectory-ask"),
    path("reviews/", review_views.reviews, name="reviews"),
    path("reviews/queues/", review_queue_views.review_queues, name="review-queues"),
    path("reviews/queues/<int:pk>/", review_queue_views.review_queue, name="review-queue"),
    path("reviews/queues/<int:pk>/next/", review_queue_views.review_queue_next, name="review-queue-next"),
    path("reviews.csv", review_views.reviews_csv, name="reviews-csv"),
    path("reviews/reasons/<slug:slug>/", review_views.review_reasons, name="review-reasons"),
]

"""Pages of the annotations app: accounts, people, datasets and what is in them, background jobs."""

from django.urls import include, path

from annotations import job_views, people_views, rationale_views, views
from annotations.work import keymap_views

urlpatterns = [
    path("", include("annotations.access.urls")),
    path("people/", people_views.people, name="people"),
    path("people/<slug:slug>/invite/", people_views.invite_person, name="people-invite"),
    path("people/members/<int:pk>/role/", people_views.change_role, name="member-role"),
    path("people/members/<int:pk>/reset/", people_views.reset_link, name="member-reset"),
    path("people/members/<int:pk>/remove/", people_views.remove_member, name="member-remove"),
    path("people/invites/<int:pk>/withdraw/", people_views.withdraw, name="invite-withdraw"),
    path("datasets/", views.datasets, name="datasets"),
    path("datasets/import/", job_views.import_page, name="import"),
    path("datasets/<slug:name>/", views.dataset, name="dataset"),
    path("datasets/<slug:name>/export/", job_views.export_page, name="dataset-export"),
    path("conversations/<int:pk>/", views.conversation, name="conversation"),
    path("steps/<int:pk>/", views.step, name="step"),
    path("steps/<int:pk>/tree/", views.step_tree, name="step-tree"),
    path("steps/<int:pk>/rationale/", rationale_views.explain_step, name="step-rationale"),
    path("jobs/", job_views.jobs, name="jobs"),
    path("jobs/<int:pk>/", job_views.job, name="job"),
    path("jobs/<int:pk>/state/", job_views.job_state, name="job-state"),
    path("jobs/<int:pk>/cancel/", job_views.cancel_job, name="job-cancel"),
    path("jobs/<int:pk>/retry/", job_views.retry_job, name="job-retry"),
    path("jobs/<int:pk>/file/", job_views.job_file, name="job-file"),
    path("jobs/<int:pk>/errors.<str:kind>", job_views.job_errors, name="job-errors"),
    path("keys/", keymap_views.keys, name="keys"),
    path("keys/choose/", keymap_views.choose, name="keys-choose"),
    path("annotate/", include("annotations.work.queue_urls")),
    path("annotate/", include("annotations.work.organise_urls")),
    path("annotate/", include("annotations.work.document_urls")),
    path("annotate/", include("annotations.work.verify_urls")),
    path("annotate/", include("annotations.work.talk_urls")),
    path("", include("annotations.releases.urls")),
]

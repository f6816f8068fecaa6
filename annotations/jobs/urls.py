"""Pages of imports, exports and other background jobs."""

from django.urls import path

from annotations.jobs import views

urlpatterns = [
    path("datasets/import/", views.import_page, name="import"),
    path("datasets/<slug:name>/export/", views.export_page, name="dataset-export"),
    path("jobs/", views.jobs, name="jobs"),
    path("jobs/<int:pk>/", views.job, name="job"),
    path("jobs/<int:pk>/state/", views.job_state, name="job-state"),
    path("jobs/<int:pk>/cancel/", views.cancel_job, name="job-cancel"),
    path("jobs/<int:pk>/retry/", views.retry_job, name="job-retry"),
    path("jobs/<int:pk>/file/", views.job_file, name="job-file"),
    path("jobs/<int:pk>/errors.<str:kind>", views.job_errors, name="job-errors"),
]

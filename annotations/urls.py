"""Pages of the annotations app: each wing names its own."""

from django.urls import include, path

urlpatterns = [
    path("", include("annotations.access.urls")),
    path("", include("annotations.jobs.urls")),
    path("", include("annotations.corpus.urls")),
    path("", include("annotations.work.keys.urls")),
    path("annotate/", include("annotations.work.queue.urls")),
    path("annotate/", include("annotations.work.campaigns.urls")),
    path("annotate/", include("annotations.work.organise.urls")),
    path("annotate/", include("annotations.work.write.urls")),
    path("annotate/", include("annotations.work.verify.urls")),
    path("annotate/", include("annotations.work.discuss.urls")),
    path("annotate/", include("annotations.work.tell.urls")),
    path("", include("annotations.releases.urls")),
]

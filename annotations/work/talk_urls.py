"""Pages of annotation work: talk."""

urlpatterns: list = []

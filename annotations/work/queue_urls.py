"""Pages of annotation work: queue."""

urlpatterns: list = []

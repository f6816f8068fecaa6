"""Pages of annotation work: document."""

urlpatterns: list = []

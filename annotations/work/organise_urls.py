"""Pages of annotation work: organise."""

urlpatterns: list = []

"""Pages of annotation work: verify."""

urlpatterns: list = []

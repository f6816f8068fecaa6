"""Pages of releases."""

urlpatterns: list = []

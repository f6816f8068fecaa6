"""The only URLs of the snapshot host."""

from django.urls import path

from annotations.snapshot_host import snapshot_page

urlpatterns = [path("s/<str:signed>", snapshot_page, name="snapshot")]

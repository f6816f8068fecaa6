"""The site's URLs and two that fail."""

from django.contrib.auth.decorators import login_not_required
from django.urls import path
from rest_framework.decorators import api_view

from webnav_site import urls

handler500 = urls.handler500


@login_not_required
def page_that_fails(request):
    raise ZeroDivisionError("password=hunter2hunter2")


@api_view(["GET"])
def api_that_fails(request):
    raise ZeroDivisionError


urlpatterns = [path("fails", page_that_fails, name="fails"), path("api/fails/", api_that_fails), *urls.urlpatterns]

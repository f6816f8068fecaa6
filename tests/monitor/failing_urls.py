"""The site's URLs, and some that fail."""

from contextlib import closing

from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.urls import path
from rest_framework.decorators import api_view

from webnav_site import urls

handler404, handler500 = urls.handler404, urls.handler500


@login_not_required
def page_that_fails(request):
    raise ZeroDivisionError("password=hunter2hunter2")


@api_view(["GET"])
def api_that_fails(request):
    raise ZeroDivisionError


def nobody_listens(cursor):
    with closing(connection.copy()) as gone:
        gone.settings_dict |= {"HOST": "127.0.0.1", "PORT": 1}
        gone.ensure_connection()


def server_stops(cursor):
    """As an administrator who shuts the server down: every session is ended."""
    with closing(connection.copy()) as other, other.cursor() as asked:
        asked.execute("SELECT pg_backend_pid()")
        cursor.execute("SELECT pg_terminate_backend(%s)", asked.fetchone())
        asked.execute("SELECT 1")


def query_takes_too_long(cursor):
    with closing(connection.copy()) as other, other.cursor() as asked:
        asked.execute("SET statement_timeout = 1")
        asked.execute("SELECT pg_sleep(1)")


DATABASE_FAILURES = {failure.__name__: failure for failure in (nobody_listens, server_stops, query_takes_too_long)}


@login_not_required
def page_without_database(request, failure):
    with connection.cursor() as cursor:
        DATABASE_FAILURES[failure](cursor)


@api_view(["GET"])
def api_without_database(request, failure):
    with connection.cursor() as cursor:
        DATABASE_FAILURES[failure](cursor)


urlpatterns = [
    path("fails", page_that_fails, name="fails"),
    path("fails/<str:failure>", page_without_database),
    path("api/fails/", api_that_fails),
    path("api/fails/<str:failure>/", api_without_database),
    *urls.urlpatterns,
]

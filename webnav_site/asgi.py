"""Routing of HTTP and WebSockets.

Views are synchronous, so HTTP goes to Django's WSGI handler in pools of threads that keep their database connections.
Under Django's ASGI handler most middleware would change threads, and every request would open a connection of its own.
Waiting for a client, while it sends its body or reads its answer, is done outside of these threads: `webnav_site.edge`.
"""

import gc
import os
from importlib import import_module
from typing import Any, cast
from urllib.parse import urlsplit

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from annotations.environment import told_in_a_line
from webnav_site.embedded import services

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webnav_site.settings")
with told_in_a_line(exit_code=3):  # uvicorn's own for "would fail the same way again": its parent then stops too
    services.make_ready()
    services.read_settings()
wsgi = get_wsgi_application()  # before the imports below: they need the app registry

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.urls import re_path  # noqa: E402

from agents.runs.routing import websocket_urlpatterns  # noqa: E402
from annotations.access.host_secret import refuse_another  # noqa: E402
from webnav_site.edge.door import Door  # noqa: E402
from webnav_site.edge.limits import allow_as_many_files  # noqa: E402
from webnav_site.edge.sockets import OwnPages, Sockets, not_found  # noqa: E402
from webnav_site.monitor.sockets import ObservedSockets  # noqa: E402

refuse_another()
# Every host of the app, but not the one of recorded pages.
APP_HOSTS = [host for host in settings.ALLOWED_HOSTS if host != urlsplit(settings.SNAPSHOT_ORIGIN).hostname]
# ASGI applications, where Django's types expect views.
routes: list[Any] = [*websocket_urlpatterns, re_path("", cast(Any, not_found))]
socket_router = URLRouter(routes)
sockets = OwnPages(AuthMiddlewareStack(ObservedSockets(socket_router)), settings.APP_ORIGIN, APP_HOSTS)

application = ProtocolTypeRouter(
    {
        "http": Door(wsgi, settings.WEB_LIMITS, settings.FILE_UPLOAD_TEMP_DIR),
        "websocket": Sockets(sockets, settings.WEB_LIMITS),
    }
)

allow_as_many_files(settings.WEB_LIMITS)
import_module(settings.ROOT_URLCONF)  # every view is loaded now and not while the first person waits
# Loaded code stays, so it is kept out of garbage collections: there it would take a tenth of the time of a request.
gc.collect()
gc.freeze()

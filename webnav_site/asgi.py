"""HTTP and WebSocket routing.

Views are synchronous, so HTTP goes to Django's WSGI handler in a pool of threads that keep their database connections.
Under Django's ASGI handler most middleware would change threads, and every request would open a connection of its own.
"""

import gc
import os
from importlib import import_module
from urllib.parse import urlsplit

from a2wsgi import WSGIMiddleware
from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webnav_site.settings")
wsgi = get_wsgi_application()  # before the imports below: they need the app registry

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import OriginValidator  # noqa: E402

from agents.routing import websocket_urlpatterns  # noqa: E402
from webnav_site.observe.sockets import ObservedSockets  # noqa: E402

THREADS = 8  # requests at the same time in one process; as many database connections

# Every host of the app, but not the one of recorded pages.
APP_HOSTS = [host for host in settings.ALLOWED_HOSTS if host != urlsplit(settings.SNAPSHOT_ORIGIN).hostname]
_requests = WSGIMiddleware(wsgi, workers=THREADS)


async def http(scope, receive, send) -> None:
    """Requests as WSGI can tell them: no header name with `_` (`X_Forwarded_Proto` would read like the proxy's own
    `X-Forwarded-Proto`), and no body of unknown length (it would read as empty)."""
    headers = [(name, value) for name, value in scope["headers"] if b"_" not in name]
    if any(name == b"transfer-encoding" for name, _ in headers):
        await send({"type": "http.response.start", "status": 411, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": b"Send the body with a Content-Length.\n"})
    else:
        await _requests({**scope, "headers": headers}, receive, send)


application = ProtocolTypeRouter(
    {
        "http": http,
        # The browser sends cookies with cross-site WebSocket requests, so the Origin is checked first.
        "websocket": OriginValidator(AuthMiddlewareStack(ObservedSockets(URLRouter(websocket_urlpatterns))), APP_HOSTS),
    }
)

import_module(settings.ROOT_URLCONF)  # every view is loaded now and not while the first person waits
# What is loaded stays: going through it again at every collection would take a tenth of the time of a request.
gc.collect()
gc.freeze()

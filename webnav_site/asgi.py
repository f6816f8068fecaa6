"""HTTP and WebSocket routing."""

import os
from urllib.parse import urlsplit

from django.conf import settings
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webnav_site.settings")
http = get_asgi_application()  # before the imports below: they need the app registry

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import OriginValidator  # noqa: E402

from agents.routing import websocket_urlpatterns  # noqa: E402

# Every host of the app, but not the one of recorded pages.
APP_HOSTS = [host for host in settings.ALLOWED_HOSTS if host != urlsplit(settings.SNAPSHOT_ORIGIN).hostname]

application = ProtocolTypeRouter(
    {
        "http": http,
        # The browser sends cookies with cross-site WebSocket requests, so the Origin is checked first.
        "websocket": OriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)), APP_HOSTS),
    }
)

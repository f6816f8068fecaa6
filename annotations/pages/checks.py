"""System checks of the snapshot host."""

from typing import Any

from django.conf import settings
from django.core.checks import Error, Tags, Warning, register

from annotations.pages.snapshot_host import second_origin


@register(Tags.security)
def check_snapshot_origin(app_configs: Any, **kwargs: Any) -> list[Warning | Error]:
    """Rendered pages need an origin that shares no cookies with the app; without one they are shown without scripts."""
    if settings.SNAPSHOT_ORIGIN and not second_origin():
        return [
            Error(
                "SNAPSHOT_ORIGIN has the same host name as APP_ORIGIN.",
                hint="Cookies ignore ports: give recorded pages a host name (better: a domain) of their own.",
                id="annotations.E001",
            )
        ]
    if not settings.DEBUG and not second_origin():
        return [
            Warning(
                "SNAPSHOT_ORIGIN is empty: recorded pages are shown on the app's own origin, without scripts.",
                hint="Point a second domain at this server and set SNAPSHOT_ORIGIN to get marks that move and picking.",
                id="annotations.W001",
            )
        ]
    return []

"""Settings of where the site is reached: its two origins, trusted proxies, and headers that restrict browsers."""

import os
from urllib.parse import urlsplit

from csp.constants import NONE, SELF

from annotations.environment import check_origin, env, env_bool, env_list, env_networks, env_port
from webnav_site.settings_accounts import OIDC_ORIGINS

PORT = env_port("PORT", 8000)
APP_ORIGIN = env("APP_ORIGIN", f"http://localhost:{PORT}")
# Rendered pages live on a host of their own, so that no cookie of ours exists there. On one machine these two
# names reach the same server; elsewhere SNAPSHOT_ORIGIN must name another domain, or pages render without scripts.
SNAPSHOT_ORIGIN = env("SNAPSHOT_ORIGIN", f"http://127.0.0.1:{PORT}" if "APP_ORIGIN" not in os.environ else "")
for _name, _origin in (("APP_ORIGIN", APP_ORIGIN), ("SNAPSHOT_ORIGIN", SNAPSHOT_ORIGIN)):
    if _origin:
        check_origin(_name, _origin)
if APP_ORIGIN.startswith("https:") and SNAPSHOT_ORIGIN.startswith("http:"):
    raise ValueError(
        "SNAPSHOT_ORIGIN must be https, as APP_ORIGIN is: browsers show nothing of http in a page of https"
    )
ALLOWED_HOSTS = list(
    {
        *env_list("ALLOWED_HOSTS"),
        "localhost",
        "127.0.0.1",
        "[::1]",
        *(urlsplit(origin).hostname or "" for origin in (APP_ORIGIN, SNAPSHOT_ORIGIN) if origin),
    }
)
CSRF_TRUSTED_ORIGINS = [APP_ORIGIN]

HTTPS = APP_ORIGIN.startswith("https://")
SESSION_ENGINE = "annotations.access.backends"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_SSL_REDIRECT = HTTPS
# Addresses and networks of proxies whose X-Forwarded-… is believed ("unix": who may open the server's local socket).
TRUSTED_PROXIES = env_networks("TRUSTED_PROXIES", "unix")
BEHIND_PROXY = env_bool("BEHIND_PROXY")  # one that ends TLS, and says so in X-Forwarded-Proto
if BEHIND_PROXY and not TRUSTED_PROXIES:
    raise ValueError("BEHIND_PROXY=true needs TRUSTED_PROXIES: the addresses of the proxies that are believed")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
SECURE_HSTS_SECONDS = 31536000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
# Browsers' lists of https-only domains are joined by an institution, for all that is below its domain, not by an app.
SILENCED_SYSTEM_CHECKS = ["security.W021"]
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "frame-src": [SELF, *([SNAPSHOT_ORIGIN] if SNAPSHOT_ORIGIN else [])],
        "form-action": [SELF, *OIDC_ORIGINS],
    }
}

"""Settings of the tests: the real ones, except where they would only cost time or need a build step."""

import os

from webnav_site.embedded import services

services.make_ready()  # pytest is an entry point like manage.py

from webnav_site.settings import *  # noqa: E402, F403

# Static files straight from the sources: no collectstatic, no hashed names.
STORAGES = {
    "default": STORAGES["default"],  # noqa: F405
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
STATIC_ROOT = None
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# Databases of Redis for tests alone: what they publish must not wake the workers of an app that runs beside them.
# Processes of a parallel run get two each (`tests/web/test_api_health.py` needs a second one that nothing else uses).
# A test that starts a process names the one to use.
if REDIS_URL.endswith("/0"):  # noqa: F405
    number = 14 - 2 * (1 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw-1").removeprefix("gw")))
    REDIS_URL = CELERY_BROKER_URL = f"{REDIS_URL.removesuffix('/0')}/{number}"  # noqa: F405
    CHANNEL_LAYERS["default"]["CONFIG"]["hosts"] = [REDIS_URL]  # noqa: F405
    CACHES["default"]["LOCATION"] = REDIS_URL  # noqa: F405

# Nothing of a test outlives the machine: its commits do not wait for the disk, and its short queries are not compiled.
DATABASES["default"].setdefault("OPTIONS", {})["options"] = "-c synchronous_commit=off -c jit=off"  # noqa: F405

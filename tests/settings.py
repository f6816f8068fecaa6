"""Settings of the tests: the real ones, except where they would only cost time or need a build step."""

from webnav_site.settings import *  # noqa: F403

# Static files straight from the sources: no collectstatic, no hashed names.
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
STATIC_ROOT = None
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# A database of Redis for tests alone: what they publish must not wake the workers of an app that runs beside them.
# A test that starts a process names the one to use.
if REDIS_URL.endswith("/0"):  # noqa: F405
    REDIS_URL = CELERY_BROKER_URL = REDIS_URL.removesuffix("/0") + "/14"  # noqa: F405
    CHANNEL_LAYERS["default"]["CONFIG"]["hosts"] = [REDIS_URL]  # noqa: F405

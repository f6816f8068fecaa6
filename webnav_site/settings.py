"""The settings: flat constants, read from the environment. Unset values mean the embedded single-machine set-up.

Reading them starts no server and writes no file: `services.make_ready` does, which the entry points call first. Those
of accounts, the API, Celery and the site's addresses are in files of their own.
"""

import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from annotations.environment import env, env_bool, env_days, env_list, env_networks, env_number
from webnav_site import sharing
from webnav_site.edge.limits import from_environment
from webnav_site.embedded import services
from webnav_site.monitor import logs
from webnav_site.settings_accounts import *  # noqa: F403
from webnav_site.settings_api import *  # noqa: F403
from webnav_site.settings_jobs import *  # noqa: F403
from webnav_site.settings_origins import *  # noqa: F403


def postgres(url: str) -> dict:
    """Django's settings of the database at postgresql://user:password@host:port/name?host=/socket/folder."""
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ValueError(f"DATABASE_URL must start with postgresql://, got {parts.scheme}://")
    query = dict(pair.split("=", 1) for pair in parts.query.split("&") if "=" in pair)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(query.get("host", parts.hostname or "")),
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }


BASE_DIR = services.ROOT
VAR_DIR = services.VAR
DATABASE_URL, REDIS_URL = services.addresses()

DEBUG = env_bool("DEBUG")
# One for this process alone where none is kept yet: whoever only reads settings signs nothing.
SECRET_KEY = env("SECRET_KEY") or services.kept_secret("django") or secrets.token_urlsafe(50)
if len(SECRET_KEY) < 32 or SECRET_KEY.startswith("django-insecure"):
    raise ValueError("SECRET_KEY is too short or a known example: use at least 32 random characters")
SECRET_KEY_FALLBACKS = env_list("SECRET_KEY_FALLBACKS")  # older ones: what they have closed is still opened

INSTALLED_APPS = [
    "webnav_site.admin.WebNavAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "pgtrigger",
    "pghistory",
    "channels",
    "csp",
    "rest_framework",
    "knox",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.mfa",
    "allauth.usersessions",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "annotations",
    "agents",
    "evaluation",
    "webnav_site",
]

MIDDLEWARE = [
    "webnav_site.monitor.middleware.ObservedRequestMiddleware",
    # First: a request for the snapshot host must meet neither sessions nor CSRF.
    "annotations.pages.snapshot_host.SnapshotHostMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "annotations.access.middleware.AccessMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "pghistory.middleware.HistoryMiddleware",  # who changed it, on which page
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "annotations.access.json_input.DeepJsonMiddleware",
    "annotations.access.middleware.UnstorableInputMiddleware",
]

ROOT_URLCONF = "webnav_site.urls"
SNAPSHOT_URLCONF = "webnav_site.snapshot_urls"
ASGI_APPLICATION = "webnav_site.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "webnav_site.frame.context.navigation",
            ],
        },
    }
]

DATABASES = {"default": postgres(DATABASE_URL)}
CACHES = sharing.caches(sharing.redis_address(REDIS_URL))
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
AUTHENTICATION_BACKENDS = ["annotations.access.backends.PasswordBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = Path(env("STATIC_ROOT", str(VAR_DIR / "static")))
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": sharing.file_storage(env),
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
MEDIA_ROOT = VAR_DIR / "files"  # of the default storage in a folder; never served by a path
MODEL_ROOT = Path(os.environ.setdefault("MODEL_ROOT", str(VAR_DIR / "models")))  # a folder for each trained model
IMPORT_ROOT = Path(env("IMPORT_ROOT", str(VAR_DIR / "import")))
WEB_LIMITS = from_environment(os.environ)  # docs/operating.md, "Limits of the web server"
MAX_UPLOAD_BYTES = WEB_LIMITS.upload_bytes - 1024**2  # of a file; the rest is for the form's fields
DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024**2
FILE_UPLOAD_HANDLERS = ["annotations.jobs.uploads.ClosingUploadHandler"]
FILE_UPLOAD_TEMP_DIR = VAR_DIR / "uploads"

# Webhooks go to public https addresses; hosts named here may have plain http, and private ones only if that is allowed.
WEBHOOKS_HOSTS = env_list("WEBHOOKS_HOSTS")
WEBHOOKS_ALLOW_PRIVATE = env_bool("WEBHOOKS_ALLOW_PRIVATE")

CELERY_BROKER_URL = env("CELERY_BROKER_URL") or REDIS_URL
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "beat-schedule")

CHANNEL_LAYERS: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {
            "hosts": [sharing.channel_host(REDIS_URL)],
            "prefix": env("CHANNEL_PREFIX", "webnav"),
            "capacity": 1000,
        },
    }
}

# Who may read /metrics: a bearer token, or addresses and networks; nobody where neither is set.
METRICS_TOKEN = env("METRICS_TOKEN")
METRICS_ADDRESSES = env_networks("METRICS_ADDRESSES")

# An age recipient (age1…) that backups are encrypted for; empty: they are not.
BACKUP_RECIPIENT = env("BACKUP_RECIPIENT")

LIVE_SCREENSHOTS = env_bool("LIVE_SCREENSHOTS", default=True)  # whether steps of live episodes keep theirs

# Days that each kind of thing is kept: RETENTION_EXPORTS_DAYS and so on; 0: for ever. See docs/operating.md.
RETENTION_DAYS = {
    name: env_days(f"RETENTION_{name.upper()}_DAYS", days)
    for name, days in {
        "exports": 30,
        "uploads": 7,
        "idempotency_keys": 1,
        "sessions": 1,
        "deliveries": 90,
        "jobs": 0,
        "llm_replies": 0,
        "embeddings": 0,
        "computed_vectors": 30,
        "traces": 0,
        "screenshots": 0,
        "access_events": 0,
    }.items()
}

# Queries that take longer are logged and shown to the operator; 0: none.
SLOW_QUERY_MS = env_number("SLOW_QUERY_MS", 500)

LOG_FORMAT = logs.log_format(env("LOG_FORMAT"), production="APP_ORIGIN" in os.environ)
KNOWN_SECRETS = [SECRET_KEY, *SECRET_KEY_FALLBACKS, DATABASES["default"]["PASSWORD"], METRICS_TOKEN]
# `agents.llm` knows no settings and reads the environment.
KNOWN_SECRETS += [os.environ.setdefault(name, env(name)) for name in ("LLM_API_KEY", "EMBEDDING_API_KEY")]
LOGGING = logs.logging_settings(LOG_FORMAT, logs.log_level(env("LOG_LEVEL", "INFO")), KNOWN_SECRETS)

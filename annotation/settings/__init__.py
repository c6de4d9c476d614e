"""Settings, read from environment variables and nowhere else; README lists them."""

from __future__ import annotations

import os
import re
import secrets
import sys
from pathlib import Path

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from annotation import embedded
from annotation.settings import readers

BASE_DIR = Path(__file__).resolve().parent.parent.parent
VAR_DIR = Path(readers.text("VAR_DIR", str(BASE_DIR / "var")))

VERSION = re.findall(
    r"^## (\d+\.\d+\.\d+)", (BASE_DIR / "CHANGELOG.md").read_text(encoding="utf-8"), re.M
)[0]

DEBUG = readers.boolean("DEBUG", False)

# One address from which hosts, origins, the proxy header and the cookie flags follow.
_port = readers.integer("PORT", 8000, low=1, high=65535)
_url = readers.public_url("PUBLIC_URL", f"http://127.0.0.1:{_port}")
_loopback = ("localhost", "127.0.0.1", "::1")
_is_local = _url.hostname in _loopback
_is_https = _url.scheme == "https"
PUBLIC_URL = f"{_url.scheme}://{_url.netloc}"
_host = f"[{_url.hostname}]" if ":" in (_url.hostname or "") else _url.hostname
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"] if _is_local else [_host]
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
CSRF_FAILURE_VIEW = "annotation.views.errors.csrf_failure"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _is_https
SECURE_SSL_REDIRECT = _is_https
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _is_https else None
SECURE_HSTS_SECONDS = 31_536_000 if _is_https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = _is_https
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"


def _secret_key() -> str:
    """SECRET_KEY; on a loopback address one is made once and kept in var/."""
    given = readers.text("SECRET_KEY", "")
    if given:
        if len(given) < 50:
            raise ImproperlyConfigured("SECRET_KEY is shorter than 50 characters.")
        return given
    if not _is_local:
        raise ImproperlyConfigured("SECRET_KEY (or SECRET_KEY_FILE) is not set.")
    path = VAR_DIR / "secret_key"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two processes may start at once: the whole key appears under its name or not at all.
        draft = path.with_name(f"secret_key.{os.getpid()}")
        if not path.exists():
            descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(64))
            try:
                os.link(draft, path)
            except FileExistsError:
                pass
            finally:
                draft.unlink()
        return path.read_text(encoding="ascii")
    except OSError as error:
        raise ImproperlyConfigured(
            f"{path} cannot be written ({error.strerror}): set SECRET_KEY, or VAR_DIR to a folder"
            " that can be."
        ) from error


SECRET_KEY = _secret_key()

# Servers: the given ones, else the embedded ones if they run. Commands that need none still start.
_embedded = (
    {} if os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL") else embedded.urls(VAR_DIR)
)
DATABASE_URL = readers.text("DATABASE_URL", _embedded.get("DATABASE_URL", ""))
REDIS_URL = readers.text("REDIS_URL", _embedded.get("REDIS_URL", ""))
DATABASES = {
    "default": {
        **readers.postgres("DATABASE_URL", DATABASE_URL or "postgres://127.0.0.1:1/none"),
        "CONN_MAX_AGE": readers.integer("DATABASE_CONN_MAX_AGE", 600, low=0, high=86_400),
        "CONN_HEALTH_CHECKS": True,
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "annotation.apps.AnnotationConfig",
    "benchmark.apps.BenchmarkConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "django_htmx",
    "template_partials",
    "csp",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "annotation.middleware.UserLanguageMiddleware",
    "annotation.middleware.TimeZoneMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "annotation.urls"
WSGI_APPLICATION = "annotation.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "annotation.contexts.site",
            ],
        },
    }
]

# Nothing inline, nothing from elsewhere.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

AUTH_USER_MODEL = "annotation.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
SESSION_COOKIE_AGE = 14 * 24 * 3600

# Each web process keeps profiles as HTML: the nine raters of a pair read the same one.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 2_000},
    }
}

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [BASE_DIR / "annotation" / "locale"]
USE_I18N = True
USE_THOUSAND_SEPARATOR = True
TIME_ZONE = readers.time_zone("TIME_ZONE", "UTC")
USE_TZ = True

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = VAR_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "annotation.static_files.StaticFilesStorage"},
}

# Where releases are kept, a folder a campaign and version.
RELEASES_DIR = Path(readers.text("RELEASES_DIR", str(VAR_DIR / "releases")))

# A seat is held this long after the rater's last sign of life.
LEASE_SECONDS = readers.integer("LEASE_SECONDS", 20 * 60, low=30, high=24 * 3600)

CELERY_BROKER_URL = readers.redis("REDIS_URL", REDIS_URL or "redis://127.0.0.1:1/0")
CELERY_TASK_SERIALIZER = CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True  # the run row is the result
CELERY_TASK_ACKS_LATE = True  # a killed worker's job is done again by the next one
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CONCURRENCY = readers.integer("WORKER_CONCURRENCY", 1, low=1, high=64)
CELERY_TASK_SOFT_TIME_LIMIT = readers.integer("JOB_SECONDS", 1800, low=10, high=86_400)
CELERY_TASK_TIME_LIMIT = CELERY_TASK_SOFT_TIME_LIMIT + 60
# The broker hands a job out again after this long: it must exceed the hard limit.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": CELERY_TASK_TIME_LIMIT + 600,
    # A broker that takes connections and then says nothing must not hold a web request.
    "socket_timeout": 5,
    "socket_connect_timeout": 4,
}
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0.2}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_TIMEOUT = 4

LOG_LEVEL = readers.choice(
    "LOG_LEVEL", "INFO", among=("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {
            "()": "annotation.settings.logs.LineFormatter",
            "format": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        }
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "stream": sys.stderr, "formatter": "plain"}
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        "django": {"handlers": ["console"], "level": "WARNING", "propagate": False},
        "django.security.DisallowedHost": {"level": "ERROR"},
    },
}

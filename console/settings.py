"""Settings of the web and controller processes. All values come from environment variables.

| variable | meaning |
|---|---|
| `BASE_URL` | the URL that browsers use, for example `https://console.example.com` |
| `PROXY_BASE_URL` | opens pod ports in the browser, each on a subdomain; see `docs/ports.md` |
| `PORT` | port to listen on, default 8000 |
| `STATE_DIR` | directory of the SQLite file, default `.quarterdeck` |
| `SECRET_KEY` | signs cookies; required by `serve`, at least 32 characters |
| `DATABASE_URL` | sessions, saved views, changes and the audit trail; default SQLite in `STATE_DIR` |
| `ALLOWED_HOSTS` | accepted host names, comma-separated; default the host of `BASE_URL` |
| `TRUSTED_PROXIES` | networks whose `X-Forwarded-*` headers are trusted, comma-separated |
| `KUBECONFIG` | kubeconfig of the cluster, unless the process runs in the cluster |
| `CLUSTER_NAME` | display name of the cluster |
| `NAMESPACES` | namespaces to watch, comma-separated; default all (needs cluster-wide rights) |
| `PROMETHEUS_URL` | Prometheus server for usage older than one hour; default none |
| `METRICS_TOKEN` | bearer token for remote access to `/metrics`, at least 16 characters |
| `AUTHENTICATION_CONFIG` | authentication options; default `authentication.yaml` in `STATE_DIR` |
| `AUTHENTICATED_READS` | what every User may read: `nodes`, `storageclasses` or both; default neither |
| `KUBECONFIG_HOURS` | lifetime of the certificate in a user's kubeconfig, in hours; default 24 |
| `KUBECONFIG_SERVER` | address of kube-apiserver in a user's kubeconfig; default the console's own |
| `DEBUG_IMAGE` | default image of debug containers; default `busybox` |
| `NODE_SHELL_NAMESPACE` | namespace of node shell pods; node shells are disabled if unset |
| `NODE_SHELL_IMAGE` | image of node shell pods, must contain `nsenter` and `sh`; default `busybox` |
| `AUDIT_STDOUT` | `1` also writes each audit record to standard output as a line of JSON |
"""

import os
import secrets
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

import dj_database_url
from django.utils.translation import gettext_lazy as _

from accounts.signin.session_settings import cookie_settings
from console.proxying.address import ProxyBase, read_proxy_base


def _list(name: str) -> list[str]:
    return [item.strip() for item in os.environ.get(name, "").split(",") if item.strip()]


def _port() -> int:
    text = os.environ.get("PORT") or "8000"
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
        raise SystemExit(f"PORT must be a number from 1 to 65535, not {text!r}")
    return int(text)


def _authenticated_reads() -> tuple[str, ...]:
    found = tuple(_list("AUTHENTICATED_READS"))
    if not set(found) <= {"nodes", "storageclasses"}:
        raise SystemExit("AUTHENTICATED_READS can only contain nodes and storageclasses")
    return found


def _hours(name: str, default: int) -> int:
    """Read a number of hours. The maximum of one year catches mistakes; kube-apiserver signs
    certificates for at least ten minutes.
    """
    text = os.environ.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= 8784):
        raise SystemExit(f"{name} must be a number of hours from 1 to 8784, not {text!r}")
    return int(text)


def _proxy_base(base_url: str) -> ProxyBase | None:
    try:
        return read_proxy_base(os.environ.get("PROXY_BASE_URL", ""), base_url)
    except ValueError as error:
        raise SystemExit(str(error)) from error


BASE_DIR = Path(__file__).resolve().parent.parent
STATE_DIR = Path(os.environ.get("STATE_DIR", ".quarterdeck")).resolve()

PORT = _port()
BASE_URL = os.environ.get("BASE_URL", f"http://127.0.0.1:{PORT}").rstrip("/")
_base = urlsplit(BASE_URL)
#: Origins accepted for websockets and unsafe methods, compared exactly.
ORIGINS = frozenset({f"{_base.scheme}://{_base.netloc}"})
ALLOWED_HOSTS = _list("ALLOWED_HOSTS") or [_base.hostname or "localhost"]
if _base.hostname == "127.0.0.1":
    # localhost is the same machine: no other host can be reached by that name.
    ORIGINS |= {f"{_base.scheme}://localhost:{_base.port or 80}"}
    ALLOWED_HOSTS += ["localhost"]
PROXY_BASE = _proxy_base(BASE_URL)
TRUSTED_PROXIES = tuple(ip_network(item) for item in _list("TRUSTED_PROXIES"))

DEBUG = False
# Without SECRET_KEY each process generates its own; `serve` refuses to start without it.
SECRET_KEY = os.environ.get("SECRET_KEY") or secrets.token_urlsafe(48)

CLUSTER_NAME = os.environ.get("CLUSTER_NAME", "host")
METRICS_TOKEN = os.environ.get("METRICS_TOKEN", "")
if METRICS_TOKEN and len(METRICS_TOKEN) < 16:
    raise SystemExit("METRICS_TOKEN must have at least 16 characters")
PROMETHEUS_URL = os.environ.get("PROMETHEUS_URL", "")
if PROMETHEUS_URL and urlsplit(PROMETHEUS_URL).scheme not in ("http", "https"):
    raise SystemExit("PROMETHEUS_URL must be an http or https address")
AUTHENTICATION_CONFIG = os.environ.get("AUTHENTICATION_CONFIG", "")
AUTHENTICATED_READS = _authenticated_reads()
KUBECONFIG_HOURS = _hours("KUBECONFIG_HOURS", 24)
KUBECONFIG_SERVER = os.environ.get("KUBECONFIG_SERVER", "")
DEBUG_IMAGE = os.environ.get("DEBUG_IMAGE") or "busybox"
NODE_SHELL_NAMESPACE = os.environ.get("NODE_SHELL_NAMESPACE", "")
NODE_SHELL_IMAGE = os.environ.get("NODE_SHELL_IMAGE") or "busybox"
AUDIT_STDOUT = os.environ.get("AUDIT_STDOUT") == "1"

INSTALLED_APPS = [
    "channels",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "console",
    "console.audit",
    "console.drafts",
    "console.history",
    "console.operations",
    "console.proxying",
    "console.saved",
    "rbac",
    "accounts",
    "workspaces",
]

MIDDLEWARE = [
    "console.web.middleware.SecurityHeadersMiddleware",
    "console.web.middleware.CountingMiddleware",
    "console.web.middleware.OriginGateMiddleware",
    "console.web.middleware.EncodingMiddleware",
    "console.web.middleware.TrailingSlashMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "console.web.async_middleware.InlineSessionMiddleware",
    "console.web.async_middleware.InlineLocaleMiddleware",
    "accounts.oauth.middleware.CsrfMiddleware",
    "console.web.async_middleware.InlineMessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "accounts.middleware.AccountMiddleware",
    "accounts.oauth.middleware.BearerMiddleware",
    "rbac.middleware.AccessMiddleware",
    "accounts.impersonation.middleware.ViewingMiddleware",
    "console.web.middleware.DefaultViewMiddleware",
    "console.web.middleware.PinsMiddleware",
    "console.web.middleware.LevelMiddleware",
]

ROOT_URLCONF = "console.urls"
ASGI_APPLICATION = "console.asgi.application"
APPEND_SLASH = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.messages.context_processors.messages",
                "console.ui.navigation.page_frame.shell",
            ],
        },
    },
]

DATABASES = {
    "default": dj_database_url.parse(
        os.environ.get("DATABASE_URL", f"sqlite:///{STATE_DIR / 'quarterdeck.sqlite3'}"),
        # The connection is used by one thread; see console.web.handler.
        conn_max_age=None,
        conn_health_checks=True,
    )
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        "transaction_mode": "IMMEDIATE",
        # Seconds that writers wait for a lock; console.web.handler sets a shorter timeout for readers.
        "timeout": 5,
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

globals().update(cookie_settings(BASE_URL))
CSRF_FAILURE_VIEW = "console.views.errors.csrf_failure"
MESSAGE_STORAGE = "django.contrib.messages.storage.cookie.CookieStorage"
# Same value as `console.web.server.MAX_BODY`; uploads are never written to files.
DATA_UPLOAD_MAX_MEMORY_SIZE = FILE_UPLOAD_MAX_MEMORY_SIZE = 5 * 2**20

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "/static/"
STATIC_ROOT = Path(os.environ.get("STATIC_ROOT", BASE_DIR / "build" / "static"))
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "console.web.staticfiles.StaticFilesStorage"},
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": os.environ.get("LOG_LEVEL", "INFO")},
    # /metrics counts requests and the audit trail records writes.
    "loggers": {
        **{name: {"level": "WARNING"} for name in ("daphne", "aiohttp", "asyncio", "twisted")},
        # Client errors such as unknown URLs are not logged.
        "django.request": {"level": "ERROR"},
    },
}

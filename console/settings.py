"""Settings of the web and controller processes. All values come from environment variables.

| variable | meaning |
|---|---|
| `BASE_URL` | the URL that browsers use, for example `https://console.example.com` |
| `PROXY_BASE_URL` | opens pod ports in the browser, each on a subdomain; see `docs/ports.md` |
| `PORT` | port to listen on, default 8000 |
| `STATE_DIR` | directory of the SQLite file, default `.quarterdeck` |
| `SECRET_KEY` | signs cookies; required by `serve`, at least 32 characters |
| `DATABASE_URL` | sessions, saved views, changes and the audit trail; default SQLite in `STATE_DIR` |
| `ALLOWED_HOSTS` | accepted `Host` headers, comma-separated; default the host of `BASE_URL` |
| `TRUSTED_PROXIES` | networks whose `X-Forwarded-*` headers are trusted, comma-separated |
| `KUBECONFIG` | kubeconfig of the cluster, unless the process runs in the cluster |
| `CLUSTER_NAME` | display name of the cluster |
| `NAMESPACES` | namespaces to watch, comma-separated; default all (needs cluster-wide rights) |
| `PROMETHEUS_URL` | Prometheus server for usage older than one hour; default KubeSphere's |
| `METRICS_TOKEN` | bearer token for `/metrics`, at least 16 characters |
| `AUTHENTICATION_CONFIG` | authentication options; default `authentication.yaml` in `STATE_DIR` |
| `USERS_MANAGER` | roles that protect a user from user managers: `platform` (default) or `strict` |
| `INVITE_SEARCH` | users whom members find when they invite users: `all` (default) or `visible` |
| `AUTHENTICATED_READS` | what every User may read: `nodes`, `storageclasses` or both; default neither |
| `KUBECONFIG_HOURS` | lifetime of the certificate in a user's kubeconfig, in hours; default 24 |
| `KUBECONFIG_SERVER` | address of kube-apiserver in a user's kubeconfig; default the console's own |
| `GATEWAY_URL` | address of the API in kubeconfigs that use the console; default `BASE_URL` |
| `GATEWAY_CA` | PEM file with the authority of that address, for kubeconfigs; default the system's |
| `GATEWAY_CERTIFICATE` | PEM file; serves the API with TLS on a second port, see `docs/api.md` |
| `GATEWAY_KEY` | PEM file with the key of this certificate |
| `GATEWAY_PORT` | this port, default 8443 |
| `GATEWAY_CLIENT_CA` | PEM file with the authority of client certificates; default: not accepted |
| `DEBUG_IMAGE` | default image of debug containers; default `busybox` |
| `NODE_SHELL_NAMESPACE` | namespace of node shell pods; node shells are disabled if unset |
| `NODE_SHELL_IMAGE` | image of node shell pods, must contain `nsenter` and `sh`; default `busybox` |
| `REGISTRIES` | registries with private addresses or without HTTPS; see `docs/wizards.md` |
| `REGISTRY_ACCESS` | registries that users can use: `all` (default) or `listed` in `REGISTRIES` |
| `REGISTRY_CA` | PEM file with certificate authorities of registries, besides the system's |
| `AUDIT_RETENTION_DAYS` | days after which audit records are deleted, default 180; 0 keeps all |
| `AUDIT_WEBHOOK_URL` | receives audit records as JSON, see `docs/audit.md` |
| `AUDIT_WEBHOOK_SECRET` | key of the webhook's signatures, at least 16 characters |
| `AUDIT_SYSLOG` | syslog server for audit records: `tls://host`, `tcp://host` or `udp://host` |
| `AUDIT_STDOUT` | `1` also writes each audit record to standard output as a line of JSON |

`SECRET_KEY`, `DATABASE_URL`, `METRICS_TOKEN` and `AUDIT_WEBHOOK_SECRET` can also be read from a file:
set `SECRET_KEY_FILE` and so on to its path.
"""

import os
import secrets
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

import dj_database_url
from django.utils.translation import gettext_lazy as _

from accounts.signin.session_settings import cookie_settings
from console.environment import secret
from console.proxying.address import ProxyBase, read_proxy_base
from console.registries.policy import RegistryPolicy


def _list(name: str) -> list[str]:
    return [item.strip() for item in os.environ.get(name, "").split(",") if item.strip()]


def _port(name: str = "PORT", default: str = "8000") -> int:
    text = os.environ.get(name) or default
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
        raise SystemExit(f"{name} must be a number from 1 to 65535, not {text!r}")
    return int(text)


def _authenticated_reads() -> tuple[str, ...]:
    found = tuple(_list("AUTHENTICATED_READS"))
    if not set(found) <= {"nodes", "storageclasses"}:
        raise SystemExit("AUTHENTICATED_READS can only contain nodes and storageclasses")
    return found


def _choice(name: str, default: str, other: str) -> str:
    found = os.environ.get(name) or default
    if found not in (default, other):
        raise SystemExit(f"{name} must be {default} or {other}, not {found!r}")
    return found


def _registry_policy() -> RegistryPolicy:
    restricted = _choice("REGISTRY_ACCESS", "all", "listed") == "listed"
    try:
        return RegistryPolicy.of(_list("REGISTRIES"), is_restricted=restricted)
    except ValueError as error:
        raise SystemExit(str(error)) from error


def _hours(name: str, default: int) -> int:
    """Read a number of hours. The maximum of one year catches mistakes; kube-apiserver signs
    certificates for at least ten minutes.
    """
    text = os.environ.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= 8784):
        raise SystemExit(f"{name} must be a number of hours from 1 to 8784, not {text!r}")
    return int(text)


def _days(name: str, default: int) -> int:
    text = os.environ.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and int(text) <= 36600):
        raise SystemExit(f"{name} must be a number of days from 0 to 36600, not {text!r}")
    return int(text)


def _target(name: str, *schemes: str) -> str:
    """Read the URL of a receiver, which contains no credentials."""
    text = os.environ.get(name, "")
    try:
        url = urlsplit(text)
        valid = url.scheme in schemes and bool(url.hostname) and url.username is None
        valid = valid and url.port != 0
    except ValueError:
        valid = False
    if text and not valid:
        raise SystemExit(f"{name} must be a URL with {' or '.join(schemes)}, without user name")
    return text


def _allowed_host(name: str) -> str:
    """Return the name as Django compares it with the `Host` header: IPv6 addresses in brackets."""
    return f"[{name}]" if ":" in name else name


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
ALLOWED_HOSTS = _list("ALLOWED_HOSTS") or [_allowed_host(_base.hostname or "localhost")]
if _base.hostname == "127.0.0.1":
    # localhost is the same machine: no other host can be reached by that name.
    ORIGINS |= {f"{_base.scheme}://localhost:{_base.port or 80}"}
    ALLOWED_HOSTS += ["localhost"]
PROXY_BASE = _proxy_base(BASE_URL)
TRUSTED_PROXIES = tuple(ip_network(item) for item in _list("TRUSTED_PROXIES"))

DEBUG = False
# Without SECRET_KEY each process generates its own; `serve` refuses to start without it.
SECRET_KEY = secret("SECRET_KEY") or secrets.token_urlsafe(48)

CLUSTER_NAME = os.environ.get("CLUSTER_NAME", "host")
METRICS_TOKEN = secret("METRICS_TOKEN")
if METRICS_TOKEN and len(METRICS_TOKEN) < 16:
    raise SystemExit("METRICS_TOKEN must have at least 16 characters")
PROMETHEUS_URL = os.environ.get("PROMETHEUS_URL", "")
if PROMETHEUS_URL and urlsplit(PROMETHEUS_URL).scheme not in ("http", "https"):
    raise SystemExit("PROMETHEUS_URL must be an http or https address")
AUTHENTICATION_CONFIG = os.environ.get("AUTHENTICATION_CONFIG", "")
AUTHENTICATED_READS = _authenticated_reads()
USERS_MANAGER = _choice("USERS_MANAGER", "platform", "strict")
INVITE_SEARCH = _choice("INVITE_SEARCH", "all", "visible")
KUBECONFIG_HOURS = _hours("KUBECONFIG_HOURS", 24)
KUBECONFIG_SERVER = os.environ.get("KUBECONFIG_SERVER", "")
GATEWAY_URL = os.environ.get("GATEWAY_URL", BASE_URL).rstrip("/")
GATEWAY_CA = os.environ.get("GATEWAY_CA", "")
GATEWAY_CERTIFICATE = os.environ.get("GATEWAY_CERTIFICATE", "")
GATEWAY_KEY = os.environ.get("GATEWAY_KEY", "")
GATEWAY_CLIENT_CA = os.environ.get("GATEWAY_CLIENT_CA", "")
GATEWAY_PORT = _port("GATEWAY_PORT", "8443")
DEBUG_IMAGE = os.environ.get("DEBUG_IMAGE") or "busybox"
NODE_SHELL_NAMESPACE = os.environ.get("NODE_SHELL_NAMESPACE", "")
NODE_SHELL_IMAGE = os.environ.get("NODE_SHELL_IMAGE") or "busybox"
REGISTRY_CA = os.environ.get("REGISTRY_CA", "")
if REGISTRY_CA and not Path(REGISTRY_CA).is_file():
    raise SystemExit(f"REGISTRY_CA must be a file with certificates, not {REGISTRY_CA!r}")
REGISTRY_POLICY = _registry_policy()
AUDIT_RETENTION_DAYS = _days("AUDIT_RETENTION_DAYS", 180)
AUDIT_WEBHOOK_URL = _target("AUDIT_WEBHOOK_URL", "http", "https")
AUDIT_WEBHOOK_SECRET = secret("AUDIT_WEBHOOK_SECRET")
if AUDIT_WEBHOOK_SECRET and len(AUDIT_WEBHOOK_SECRET) < 16:
    raise SystemExit("AUDIT_WEBHOOK_SECRET must have at least 16 characters")
AUDIT_SYSLOG = _target("AUDIT_SYSLOG", "tls", "tcp", "udp")
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
    "console.web.middleware.HostMiddleware",
    "console.web.middleware.AddressMiddleware",
    "console.web.middleware.OriginGateMiddleware",
    "console.web.middleware.EncodingMiddleware",
    "console.web.middleware.TrailingSlashMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "console.web.async_middleware.InlineSessionMiddleware",
    "console.web.async_middleware.InlineLocaleMiddleware",
    "accounts.csrf.CsrfMiddleware",
    "console.web.async_middleware.InlineMessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "accounts.middleware.AccountMiddleware",
    "accounts.oauth.middleware.BearerMiddleware",
    "rbac.middleware.AccessMiddleware",
    "accounts.impersonation.middleware.ViewingMiddleware",
    "console.web.middleware.DefaultViewMiddleware",
    "console.web.middleware.PinsMiddleware",
    "console.web.middleware.RecentMiddleware",
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
                "accounts.csrf.csrf_token",
            ],
        },
    },
]

DATABASES = {
    "default": dj_database_url.parse(
        secret("DATABASE_URL") or f"sqlite:///{STATE_DIR / 'quarterdeck.sqlite3'}",
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
DATA_UPLOAD_MAX_MEMORY_SIZE = FILE_UPLOAD_MAX_MEMORY_SIZE = 12 * 2**20

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
        # Errors of requests to /mcp are logged by the console.
        "mcp": {"level": "ERROR"},
        # Client errors such as unknown URLs and too many parameters are not logged.
        "django.request": {"level": "ERROR"},
        **{
            f"django.security.{name}": {"level": "CRITICAL"}
            for name in ("RequestDataTooBig", "TooManyFieldsSent", "TooManyFilesSent")
        },
    },
}

"""Credentials of the console's identities for kube-apiserver."""

import logging
import os
import ssl
import time
from pathlib import Path
from threading import Lock

from kubernetes import client as official
from kubernetes import config as official_config

from console.kube.errors import Unavailable
from console.kube.kubeconfig import ISSUER, replace_token
from console.kube.messages import Message
from console.kube.tokens import RenewedToken, claims_of, is_issuer_token, request_token

#: Minimum seconds between two reloads of the credentials, however many calls receive a 401.
RELOAD_INTERVAL = 5.0
#: Lifetime of the credential in a kubeconfig in seconds. The console renews it after half of it.
KUBECONFIG_LIFETIME = 30 * 24 * 3600

log = logging.getLogger(__name__)

_renewing = Lock()


class NoCluster(Exception):
    """Neither a kubeconfig nor a service account was found. `str()` says what to set."""


class Credentials:
    """The connection settings and credentials of one identity, read by the official client's
    loaders.

    - With a kubeconfig that has the context `issuer`, or in a pod of that service account, the
      identity's token is requested from the server (`console.kube.tokens`).
    - With a kubeconfig that has a context named like the identity, that context is used.
    - Otherwise the default context or service account is used for all identities.

    The loaders run exec plugins, refresh their tokens before they expire, and re-read a pod's
    token. They read a `tokenFile` only once, so a 401 makes the client reload everything.
    """

    def __init__(self, role: str, kubeconfig: str | None = None) -> None:
        self.role = role
        self._path = kubeconfig or os.environ.get("KUBECONFIG") or _default_kubeconfig()
        self._lock = Lock()
        self._loaded_at = 0.0
        self._requested: RenewedToken | None = None
        #: Incremented by each reload.
        self.generation = 0
        self._load()

    def _load(self) -> None:
        configuration, issues = _read(self._path, self.role)
        self._configuration = configuration
        if not issues:
            self._requested = None
        elif self._requested is None:
            self._requested = RenewedToken(self._ask)
        else:
            self._requested.invalidate()
        self._loaded_at = time.monotonic()

    def reload(self) -> bool:
        """Reload everything unless that happened within `RELOAD_INTERVAL`. Return True if reloaded."""
        with self._lock:
            if time.monotonic() - self._loaded_at < RELOAD_INTERVAL:
                return False
            self._load()
            self.generation += 1
            return True

    @property
    def host(self) -> str:
        return str(self._configuration.host)

    @property
    def ca_file(self) -> Path | None:
        """Return the path of the certificate authority for the server's certificate, if configured."""
        return Path(self._configuration.ssl_ca_cert) if self._configuration.ssl_ca_cert else None

    @property
    def proxy(self) -> str | None:
        return self._configuration.proxy or None

    @property
    def tls_server_name(self) -> str | None:
        return self._configuration.tls_server_name or None

    @property
    def uses_requested_tokens(self) -> bool:
        """Return True if the token is requested from the server and expires within an hour."""
        return self._requested is not None

    @property
    def is_current(self) -> bool:
        """True if `authorization` returns without running a program or calling the server."""
        if self._requested is not None:
            return self._requested.is_current
        return self._configuration.refresh_api_key_hook is None

    def authorization(self) -> str | None:
        """Return the Authorization header, refreshed if necessary.

        It may run a program or call the server, so do not call it on an event loop unless
        `is_current` is True. Raise `ApiError`.
        """
        requested = self._requested
        if requested is not None:
            return f"Bearer {requested.get()}"
        with self._lock:
            value = self._configuration.get_api_key_with_prefix("BearerToken")
        return str(value) if value else None

    def ssl_context(self) -> ssl.SSLContext | bool:
        c = self._configuration
        context = ssl.create_default_context(
            cafile=c.ssl_ca_cert or None, cadata=c.ca_cert_data or None
        )
        # Certificates of many clusters lack the key-usage extensions that Python's strict mode
        # requires.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if not c.verify_ssl:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        # kube-apiserver prefers a client certificate to a token, and the certificate belongs to the
        # issuer.
        if c.cert_file and self._requested is None:
            context.load_cert_chain(c.cert_file, c.key_file)
        return context

    def _ask(self) -> str:
        """Request a token for the role.

        The kubeconfig is read each time because another process may have renewed its credential.
        """
        try:
            issuer, _issues = _read(self._path, self.role)
        except NoCluster as error:
            log.warning("%s", error)
            raise Unavailable(Message("The console's kubeconfig could not be read")) from error
        token = request_token(issuer, self.role)
        if self._path:
            _renew(Path(self._path), issuer)
        return token


def _read(path: str | None, role: str) -> tuple[official.Configuration, bool]:
    """Return the configuration and True if it is the issuer's. Raise `NoCluster`."""
    configuration = official.Configuration()
    try:
        if not path:
            official_config.load_incluster_config(configuration)
            return configuration, is_issuer_token(_bearer(configuration))
        contexts, _ = official_config.list_kube_config_contexts(path)
        names = {context["name"] for context in contexts}
        context = next((name for name in (ISSUER, role) if name in names), None)
        official_config.load_kube_config(
            path, context, client_configuration=configuration, persist_config=False
        )
        return configuration, context == ISSUER
    except (official_config.ConfigException, OSError) as error:
        raise _no_cluster(str(error)) from error
    except Exception as error:  # A file that is being written can cause any exception.
        raise _no_cluster("the file is not a valid kubeconfig") from error


def _no_cluster(why: str) -> NoCluster:
    return NoCluster(f"No cluster found: set KUBECONFIG to a kubeconfig file ({why})")


def _renew(path: Path, issuer: official.Configuration) -> None:
    """Replace the token in the kubeconfig once half of its lifetime has passed.

    Errors are only logged: the old token is still valid, and the next token request retries.
    """
    old = _bearer(issuer)
    claims = claims_of(old)
    left = claims.expires - time.time()
    if not claims.lifetime or left > claims.lifetime / 2:
        return
    # One identity renews it for the whole process.
    if not _renewing.acquire(blocking=False):
        return
    try:
        if not replace_token(path, old, request_token(issuer, ISSUER, KUBECONFIG_LIFETIME)):
            log.info("The token in %s was already replaced", path)
    except Exception as error:  # noqa: BLE001  a partially written file can cause any exception
        log.warning(
            "Cannot renew the credential in %s, which expires in %.0f h: %r",
            path,
            left / 3600,
            error,
        )
    finally:
        _renewing.release()


def _bearer(configuration: official.Configuration) -> str:
    """Return the token without its scheme, which the official package writes in lower case in a pod."""
    value = str(configuration.get_api_key_with_prefix("BearerToken") or "")
    scheme, _, token = value.partition(" ")
    return token if scheme.casefold() == "bearer" else value


def _default_kubeconfig() -> str | None:
    path = Path("~/.kube/config").expanduser()
    return str(path) if path.exists() else None

"""Differences between the supported Kubernetes versions, in one place.

The console is written for the newest version. `OLDER_VERSIONS` lists the types that old servers serve
in another version with the same fields, `LIMITATIONS` lists what old servers lack and the console
can't replace. docs/kubernetes-versions.md describes both for users.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import msgspec

from console.kube.gvr import GVR, HORIZONTAL_POD_AUTOSCALERS
from console.kube.messages import Message
from console.kube.store import UNREADABLE

Release = tuple[int, int]

#: The oldest supported release, and the newest one that the console was tested with.
OLDEST: Release = (1, 21)
NEWEST: Release = (1, 36)

#: The version with the same fields in which older servers serve a type. No other type of the group
#: has the console's version.
#: https://kubernetes.io/docs/reference/using-api/deprecation-guide/
OLDER_VERSIONS: Mapping[GVR, str] = {HORIZONTAL_POD_AUTOSCALERS: "v2beta2"}

#: The first release that accepts evictions of `policy/v1`. Earlier ones accept `policy/v1beta1`.
_EVICTION_V1: Release = (1, 22)
#: The first release with ephemeral containers.
EPHEMERAL_CONTAINERS: Release = (1, 23)
#: The first release that answers `kubectl auth whoami`.
WHOAMI: Release = (1, 28)
#: The first release that limits certificates to the requested duration.
CERTIFICATE_DURATION: Release = (1, 22)

ADMISSION_POLICIES = GVR("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies")

_VERSION = re.compile(r"v?([0-9]{1,4})\.([0-9]{1,4})(?:[.+-].*)?", re.ASCII)


class ServerVersion(NamedTuple):
    """The version of a kube-apiserver. `name` is its own text, such as `v1.24.17`."""

    release: Release
    name: str

    @property
    def supported(self) -> bool:
        """True for `OLDEST` and later releases, including releases that were not tested yet."""
        return self.release >= OLDEST


class _Version(msgspec.Struct):
    gitVersion: str = ""
    major: str = ""
    minor: str = ""


def read_version(body: bytes) -> ServerVersion | None:
    """Parse the response of `/version`. Return None if it contains no version."""
    try:
        found = msgspec.json.decode(body, type=_Version)
    except UNREADABLE:
        return None
    # A server that was built without version information has an empty gitVersion, and some
    # distributions add "+" to the minor version.
    for name in (found.gitVersion, f"{found.major}.{found.minor.rstrip('+')}"):
        if match := _VERSION.fullmatch(name):
            return ServerVersion((int(match[1]), int(match[2])), name)
    return None


def release_text(release: Release) -> str:
    return f"{release[0]}.{release[1]}"


def before(version: ServerVersion | None, release: Release) -> bool:
    """Return True if the server is older than a release. An unknown version counts as the newest."""
    return version is not None and version.release < release


@dataclass(frozen=True, slots=True)
class ApiVersions:
    """Translates between the API versions of the console and of one server.

    Requests are translated just before they are sent, and objects in responses afterwards, so all
    other code uses the console's versions only. `older` maps the types that the server serves only in
    an older version.
    """

    eviction: str = "policy/v1"
    older: Mapping[GVR, GVR] = field(default_factory=dict)

    @classmethod
    def of(cls, version: ServerVersion | None, serves: Callable[[GVR], bool]) -> "ApiVersions":
        """Return the versions of a server. `serves` returns True for the types in discovery."""
        older = {gvr: replace(gvr, version=name) for gvr, name in OLDER_VERSIONS.items()}
        return cls(
            "policy/v1beta1" if before(version, _EVICTION_V1) else "policy/v1",
            {gvr: old for gvr, old in older.items() if not serves(gvr) and serves(old)},
        )

    def served(self, gvr: GVR) -> GVR:
        """Return the type in the version to request."""
        return self.older.get(gvr, gvr)

    def served_version(self, group: str, version: str) -> str:
        """Return the version to request from the discovery API."""
        for gvr, old in self.older.items():
            if (gvr.group, gvr.version) == (group, version):
                return old.version
        return version

    def sent(self, body: Any) -> Any:
        """Return a request body in the server's version. Other values are returned unchanged."""
        return self._converted(body, self.older)

    def received(self, found: dict[str, Any]) -> dict[str, Any]:
        """Return an object of a response in the console's version."""
        converted: dict[str, Any] = self._converted(
            found, {old: new for new, old in self.older.items()}
        )
        return converted

    @staticmethod
    def _converted(body: Any, versions: Mapping[GVR, GVR]) -> Any:
        if isinstance(body, dict):
            for source, target in versions.items():
                if body.get("apiVersion") == source.group_version:
                    return {**body, "apiVersion": target.group_version}
        return body


@dataclass(frozen=True, slots=True)
class Limitation:
    """A feature of Kubernetes that servers before the release `since` lack. `protection`: the console
    loses a protection against its users or its own credentials.
    """

    since: Release
    text: Message
    protection: bool = False


#: The first release with admission policies. Discovery decides whether they are missing.
_POLICIES: Release = (1, 30)
LIMITATIONS = (
    Limitation(
        _POLICIES,
        Message(
            "No admission policy limits which permissions the service account quarterdeck-console can "
            "grant. Its credentials are as powerful as those of an administrator."
        ),
        protection=True,
    ),
    Limitation(
        _POLICIES,
        Message(
            "Project administrators can assign their project to another workspace, and can change its "
            "share of the workspace quota and its network isolation."
        ),
        protection=True,
    ),
    Limitation(
        _POLICIES,
        Message(
            "Users who can create pods or request tokens in the namespace quarterdeck-system can act as "
            "the console."
        ),
        protection=True,
    ),
    Limitation(
        _POLICIES,
        Message(
            "Users who can change RoleBases can grant themselves permissions in every project."
        ),
        protection=True,
    ),
    Limitation(
        (1, 24),
        Message(
            "Kubernetes stores a token that doesn't expire in a Secret for each service account of the "
            "console. Users who can read all Secrets can act as the console."
        ),
        protection=True,
    ),
    Limitation(
        (1, 25),
        Message("Fields that the cluster doesn't know are ignored instead of rejected."),
    ),
    Limitation((1, 24), Message("The YAML editor has no completion and no validation.")),
    Limitation(EPHEMERAL_CONTAINERS, Message("Debug containers are not available.")),
    Limitation(
        CERTIFICATE_DURATION,
        Message(
            "The cluster's signer determines how long certificates of kubeconfigs are valid, usually a "
            "year."
        ),
    ),
)


def limitations(
    version: ServerVersion | None, serves: Callable[[GVR], bool | None]
) -> tuple[Limitation, ...]:
    """Return the limitations of a server. `serves` returns None until discovery is read."""
    unprotected = serves(ADMISSION_POLICIES) is False
    return tuple(
        one
        for one in LIMITATIONS
        if (unprotected if one.since == _POLICIES else before(version, one.since))
    )

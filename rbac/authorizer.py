"""Who may do what, answered from the cache.

First cut: holders of the GlobalRole `platform-admin` may do everything, everybody else nothing.

Promises:
- Fails closed. No proof is a no: an informer that has not synced, an exception, an unknown user.
- A right that was removed ends with the watch event that says so: nothing is remembered but the cache.
- While the cache may differ from the server, reading goes on for `STALE_READS` and nothing else does.
- The user must exist and be able to sign in; groups are those of the `Identity`, which no user can
  edit. `User.spec.groups` grants nothing.

Answers are in memory and quick; any thread may ask.
"""

import logging
from dataclasses import dataclass
from datetime import timedelta

from console.kube.clock import Clock, SystemClock
from console.kube.gvr import GLOBAL_ROLE_BINDINGS, GVR, USERS, Key
from console.kube.identity import Identity
from console.kube.informer import Freshness
from console.kube.projections import GlobalRoleBinding, User
from console.kube.runtime import Reads
from console.kube.store import Snapshot, Store

log = logging.getLogger(__name__)

PLATFORM_ADMIN = "platform-admin"
#: How long reading is allowed without proof of life from kube-apiserver.
STALE_READS = timedelta(minutes=5)

_READS = frozenset({"get", "list", "watch"})
#: Reading these is acting, or reveals what must not be shown on old rights.
_LIVE_SUBRESOURCES = frozenset({"attach", "exec", "log", "portforward", "proxy"})
_LIVE_RESOURCES = frozenset({"secrets"})
#: `status.state` of a User that may be signed in; "" is one whom no controller has seen yet. A lock for
#: failed attempts keeps people out, but throws nobody out: anybody could lock anybody.
USABLE_STATES = frozenset({"Active", "AuthLimitExceeded", ""})


@dataclass(frozen=True, slots=True)
class _Admins:
    """Subjects of the bindings to platform-admin, in one version of the store."""

    version: int
    users: frozenset[str]
    groups: frozenset[str]


class Authorizer:
    def __init__(self, source: Reads, *, clock: Clock | None = None) -> None:
        self._source = source
        self._clock = clock or SystemClock()
        self._admins: _Admins | None = None

    def access_for(self, identity: Identity) -> "RoleAccess":
        return RoleAccess(identity, self)

    def allows(self, identity: Identity, verb: str, gvr: GVR, subresource: str = "") -> bool:
        """Never raises."""
        try:
            return self._decide(identity, _needs_live(verb, gvr, subresource))
        except Exception:  # noqa: BLE001  whatever went wrong, nobody has shown a right
            log.exception("Refused %s, because the decision failed", identity.name)
            return False

    def _decide(self, identity: Identity, live: bool) -> bool:
        users = self._source.informer(USERS)
        bindings = self._source.informer(GLOBAL_ROLE_BINDINGS)
        if not all(self._fresh(item.freshness, live) for item in (users, bindings)):
            return False
        entry = users.store.get(Key("", identity.name))
        if entry is None or not is_usable(entry.projection):
            return False
        admins = self._admins_of(bindings.store)
        return identity.name in admins.users or not admins.groups.isdisjoint(identity.groups)

    def _fresh(self, freshness: Freshness, live: bool) -> bool:
        if not freshness.synced:
            return False
        if freshness.stale_since is None:
            return True
        return not live and self._clock.now() - freshness.stale_since < STALE_READS

    def _admins_of(self, bindings: Store[GlobalRoleBinding]) -> _Admins:
        """Worked out once per version; a race between threads works it out twice."""
        admins = self._admins
        if admins is None or admins.version != bindings.version:
            admins = self._admins = _admins_in(bindings.snapshot())
        return admins


@dataclass(frozen=True, slots=True)
class RoleAccess:
    """One viewer's `console.ui.access.Access`."""

    identity: Identity
    authorizer: Authorizer

    def can(
        self, verb: str, gvr: GVR, *, namespace: str = "", name: str = "", subresource: str = ""
    ) -> bool:
        return self.authorizer.allows(self.identity, verb, gvr, subresource)

    def namespaces_where(self, verb: str, gvr: GVR) -> frozenset[str] | None:
        return None if self.authorizer.allows(self.identity, verb, gvr) else frozenset()

    def names_where(self, verb: str, gvr: GVR) -> frozenset[Key]:
        """None: an administrator needs no rules for single objects, and others have no rules yet."""
        return frozenset()


def is_admin_binding(binding: GlobalRoleBinding) -> bool:
    """The group in `roleRef` is not looked at: KubeSphere's own manifests write it in two ways."""
    return binding.role == PLATFORM_ADMIN and binding.role_kind in ("GlobalRole", "")


def is_usable(user: User) -> bool:
    """True if the user may be signed in: neither disabled nor on the way out."""
    return user.deleted is None and user.state in USABLE_STATES


def is_reserved(name: str) -> bool:
    """True for names that are Kubernetes' own, or none: no binding of ours reaches them."""
    return not name or name.startswith("system:")


def _admins_in(snapshot: Snapshot[GlobalRoleBinding]) -> _Admins:
    names: dict[str, set[str]] = {"User": set(), "Group": set()}
    for entry in snapshot.entries.values():
        if is_admin_binding(entry.projection):
            for subject in entry.projection.subjects:
                if subject.kind in names and not is_reserved(subject.name):
                    names[subject.kind].add(subject.name)
    return _Admins(snapshot.version, frozenset(names["User"]), frozenset(names["Group"]))


def _needs_live(verb: str, gvr: GVR, subresource: str) -> bool:
    return (
        verb not in _READS
        or subresource in _LIVE_SUBRESOURCES
        or (gvr.group == "" and gvr.resource in _LIVE_RESOURCES)
    )

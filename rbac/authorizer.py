"""Authorization decisions, made from the cached roles and bindings with the same result as
kube-apiserver.

Only native Kubernetes roles and bindings grant permissions. KubeSphere's roles count through the
native objects that the controllers create from them (`rbac.projection`), so kube-apiserver
decides the same (ADR 8).

Guarantees:
- Fails closed: access is denied if an informer has not synced, an exception is raised, or the
  user is unknown.
- A revoked permission stops counting when the watch event arrives: each decision compares the
  cached results with the versions of the stores.
- While the cache may be out of date, read requests are allowed for `STALE_READS` and all other
  requests are denied.
- The user must exist and be able to sign in. Groups are taken from the `Identity`, which users
  cannot edit. `User.spec.groups` grants nothing.

Decisions use in-memory data only. Thread-safe.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from threading import Lock
from typing import Any, TypeVar

from console.kube.clock import Clock, SystemClock
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GVR,
    NAMESPACES,
    ROLE_BINDINGS,
    ROLES,
    USERS,
    Key,
)
from console.kube.identity import AUTHENTICATED_GROUP, Identity
from console.kube.informer import Freshness, Informer
from console.kube.projections import GlobalRoleBinding, User
from console.kube.runtime import Reads
from rbac.explanation import Explanation, explain, granters
from rbac.grant_index import GrantIndex, SubjectKey
from rbac.rules import AccessQuestion, normalize_question
from rbac.subject_rights import Grant, SubjectRights

log = logging.getLogger(__name__)

PLATFORM_ADMIN = "platform-admin"
#: How long read requests are allowed after the connection to kube-apiserver was lost.
STALE_READS = timedelta(minutes=5)
#: Resource types that decisions are based on. A process that makes decisions must watch them.
SOURCES = (USERS, ROLES, CLUSTER_ROLES, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS)

#: Values of `status.state` with which a User may have a session. "" means that no controller has
#: processed the user yet. AuthLimitExceeded (too many failed sign-in attempts) blocks new sign-ins
#: but keeps existing sessions, because otherwise any visitor could sign out any user.
SESSION_STATES = frozenset({"Active", "AuthLimitExceeded", ""})

T = TypeVar("T")
READS = frozenset({"get", "list", "watch"})
#: Reading these subresources and resources performs an action or reveals sensitive data, so they
#: require an up-to-date cache.
_SUBRESOURCES = frozenset({"attach", "exec", "log", "portforward", "proxy"})
_RESOURCES = frozenset({"secrets"})


class _AuthorizationCache:
    """The informers in use, and the permissions calculated from them."""

    def __init__(self, informers: tuple[Informer[Any], ...]) -> None:
        self.informers = informers
        self.stores = tuple(informer.store for informer in informers)
        self.users = self.stores[0]
        self.index = GrantIndex(*self.stores[1:])
        #: The freshness of all informers when they were last found to be up to date.
        self.fresh: tuple[Freshness, ...] | None = None
        #: Store versions for which `rights` is valid.
        self.versions: tuple[int, ...] = ()
        self.rights: dict[Identity, SubjectRights] = {}
        #: Held while `versions` or `rights` change, so that outdated permissions are not stored.
        self.lock = Lock()


class Authorizer:
    """Authorization decisions for one cluster."""

    def __init__(self, source: Reads, *, clock: Clock | None = None) -> None:
        self._source = source
        self._clock = clock or SystemClock()
        self._known: _AuthorizationCache | None = None

    def access_for(self, identity: Identity, cluster: Any = None) -> "RoleAccess":
        """Return the permissions of `identity`. `cluster` is the `console.ui.core.clusters.Cluster` that
        they apply to; it is passed through unchanged.
        """
        return RoleAccess(identity, self, cluster)

    def allows(
        self,
        identity: Identity,
        verb: str,
        gvr: GVR,
        subresource: str = "",
        namespace: str = "",
        name: str = "",
    ) -> bool:
        """Return True if `identity` may perform the request. Never raises."""
        try:
            rights = self._rights(identity, verb, gvr, subresource)
            if rights is None:
                return False
            if name and gvr.resource == "namespaces" and not gvr.group:
                namespace = name
            asked = (verb, gvr.group, gvr.resource, subresource, namespace, name)
            found = rights.answers.get(asked)
            return found if found is not None else rights.allows(AccessQuestion(*asked))
        except Exception:  # noqa: BLE001  whatever went wrong, nobody has shown a right
            return _failed(identity, False)

    def allows_path(self, identity: Identity, verb: str, path: str) -> bool:
        """Return True if `identity` may request the non-resource URL `path`. Never raises."""
        return self._ask(
            identity, verb, NAMESPACES, False, lambda rights: rights.allows_path(verb, path)
        )

    def namespaces_where(
        self, identity: Identity, verb: str, gvr: GVR, subresource: str = ""
    ) -> frozenset[str] | None:
        def work_out(rights: SubjectRights) -> frozenset[str] | None:
            return rights.namespaces_where(verb, gvr.group, gvr.resource, subresource)

        nothing: frozenset[str] | None = frozenset()
        return self._ask(identity, verb, gvr, nothing, work_out, subresource)

    def names_where(
        self, identity: Identity, verb: str, gvr: GVR, subresource: str = ""
    ) -> frozenset[Key]:
        def work_out(rights: SubjectRights) -> frozenset[Key]:
            return _names(rights, verb, gvr, subresource)

        return self._ask(identity, verb, gvr, frozenset[Key](), work_out, subresource)

    def current_rights(self, identity: Identity) -> tuple[SubjectRights, bool] | None:
        """Return the permissions that count for read requests, or None if there are none.

        The `SubjectRights` object is replaced when permissions change. The second value is True if all
        informers are up to date, so that the permissions count for every request. Never raises.
        """

        def work_out(rights: SubjectRights) -> tuple[SubjectRights, bool]:
            known = self._known
            return rights, known is not None and known.fresh is not None

        return self._ask(identity, "list", NAMESPACES, None, work_out)

    def permissions_stale(self) -> bool:
        """Return True while the cached roles and bindings may differ from the cluster. Never
        raises.
        """
        try:
            known = self._sources()
            # A type that has not been listed yet grants nothing, but may grant permissions a moment
            # later.
            listed = all(informer.freshness.synced for informer in known.informers)
            return not (listed and self._may_answer(known, live=True))
        except Exception:  # noqa: BLE001  as above
            return True

    def grants(self, identity: Identity, *, acting: bool) -> tuple[Grant, ...]:
        """Return all grants of `identity` with their origin, or an empty tuple if they are
        uncertain.

        Set `acting` for decisions about a change: grants from before a connection loss then
        don't count. Never raises.
        """
        nothing: tuple[Grant, ...] = ()

        def work_out(_rights: SubjectRights) -> tuple[Grant, ...]:
            return self._sources().index.grants_of(_subject_of(identity))

        return self._ask(identity, "create" if acting else "get", NAMESPACES, nothing, work_out)

    def grants_of_name(self, identity: Identity) -> tuple[Grant, ...] | None:
        """Return the grants that bindings give to this username and these groups, or None if they
        are uncertain.

        The user may be disabled or not exist. Never raises.
        """
        try:
            known = self._certain_sources()
            return known.index.grants_of(_subject_of(identity)) if known is not None else None
        except Exception:  # noqa: BLE001  as above
            return _failed(identity, None)

    def who_may(self, asked: AccessQuestion) -> tuple[Grant, ...] | None:
        """Return the grants of every subject that allow the request, or None if the grants are
        uncertain. Subjects may be users who may not sign in. The result is sensitive: show it only
        to viewers who may list bindings. Never raises.
        """
        try:
            known = self._certain_sources()
            return known.index.who_may(normalize_question(asked)) if known is not None else None
        except Exception:  # noqa: BLE001  as above
            log.exception("Could not determine who may %s", asked)
            return None

    def granters(self, asked: AccessQuestion) -> tuple[str, ...]:
        """Return the subjects that could grant the permission, in the form `User ann` or `Group
        ops`. The result is sensitive: show it only to viewers who may list bindings.
        """
        return granters(self._sources().index, normalize_question(asked))

    def explain(self, identity: Identity, asked: AccessQuestion) -> Explanation:
        """Explain the decision, limited to what `identity` may know. Never raises."""
        gvr = GVR(asked.group, "", asked.resource)

        def work_out(rights: SubjectRights) -> Explanation:
            return explain(
                rights, normalize_question(asked), self._sources().index, _subject_of(identity)
            )

        return self._ask(identity, asked.verb, gvr, Explanation(asked), work_out, asked.subresource)

    def _ask(
        self,
        identity: Identity,
        verb: str,
        gvr: GVR,
        nothing: T,
        work_out: Callable[[SubjectRights], T],
        subresource: str = "",
    ) -> T:
        try:
            rights = self._rights(identity, verb, gvr, subresource)
            return nothing if rights is None else work_out(rights)
        except Exception:  # noqa: BLE001  as above
            return _failed(identity, nothing)

    def _rights(
        self, identity: Identity, verb: str, gvr: GVR, subresource: str
    ) -> SubjectRights | None:
        """Return the permissions that count for this request, or None if none do."""
        known = self._known
        if known is None or known.fresh is None or not _is_unchanged(known):
            known = self._sources()
            if not self._may_answer(known, requires_fresh_cache(verb, gvr, subresource)):
                return None
        a, b, c, d, e = known.stores
        versions = (a.version, b.version, c.version, d.version, e.version)
        if versions != known.versions:
            self._catch_up(known, versions)
        rights = known.rights.get(identity)
        if rights is None or rights.stale:
            rights = self._load_rights(known, identity)
        return rights

    def _sources(self) -> _AuthorizationCache:
        """Return the current informers. An informer may have been replaced, because a KubeSphere
        type can be removed and installed again.
        """
        informers = tuple(self._source.informer(gvr) for gvr in SOURCES)
        known = self._known
        if known is None or known.informers != informers:
            known = self._known = _AuthorizationCache(informers)
        return known

    def _certain_sources(self) -> _AuthorizationCache | None:
        """Return the current informers, or None if any is not loaded or may be out of date."""
        known = self._sources()
        found = [informer.freshness for informer in known.informers]
        return known if all(one.synced and one.stale_since is None for one in found) else None

    def _may_answer(self, known: _AuthorizationCache, live: bool) -> bool:
        found = tuple(informer.freshness for informer in known.informers)
        known.fresh = None
        if not found[0].synced:
            return False
        # A type that has not been listed yet has no objects, which grants nothing.
        doubtful = [one.stale_since for one in found if one.synced and one.stale_since is not None]
        if not doubtful:
            known.fresh = found
            return True
        return not live and self._clock.now() - min(doubtful) < STALE_READS

    def _catch_up(self, known: _AuthorizationCache, versions: tuple[int, ...]) -> None:
        with known.lock:
            known.index.catch_up()
            # A change of users may have disabled, deleted or created a user, so all cached
            # permissions are discarded.
            kept = known.rights if versions[:1] == known.versions[:1] else {}
            known.rights = {who: rights for who, rights in kept.items() if not rights.stale}
            known.versions = versions

    def _load_rights(self, known: _AuthorizationCache, identity: Identity) -> SubjectRights | None:
        with known.lock:
            entry = known.users.get(Key("", identity.name))
            if entry is None or not is_usable(entry.projection):
                return None
            rights = known.index.rights_of(_subject_of(identity))
            known.rights[identity] = rights
            return rights


@dataclass(frozen=True, slots=True)
class RoleAccess:
    """A viewer's permissions in one cluster. Implements `console.ui.core.access.Access`."""

    identity: Identity
    authorizer: Authorizer
    cluster: Any = None

    def can(
        self, verb: str, gvr: GVR, *, namespace: str = "", name: str = "", subresource: str = ""
    ) -> bool:
        return self.authorizer.allows(self.identity, verb, gvr, subresource, namespace, name)

    def namespaces_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[str] | None:
        return self.authorizer.namespaces_where(self.identity, verb, gvr, subresource)

    def names_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[Key]:
        return self.authorizer.names_where(self.identity, verb, gvr, subresource)

    def rights_version(self) -> tuple[SubjectRights, bool] | None:
        return self.authorizer.current_rights(self.identity)

    def permissions_stale(self) -> bool:
        return self.authorizer.permissions_stale()

    def granters(
        self, verb: str, gvr: GVR, *, namespace: str = "", subresource: str = ""
    ) -> tuple[str, ...]:
        """Implement `console.ui.core.access.GrantersAccess`."""
        asked = AccessQuestion(verb, gvr.group, gvr.resource, subresource, namespace)
        return self.authorizer.explain(self.identity, asked).granters


def _names(rights: SubjectRights, verb: str, gvr: GVR, subresource: str) -> frozenset[Key]:
    names = rights.names_where(verb, gvr.group, gvr.resource, subresource)
    if gvr.resource != "namespaces" or gvr.group or subresource:
        return names
    # Project permissions don't include listing projects. The console's list shows the projects that
    # the viewer may read individually.
    single = "get" if verb in READS else verb
    inside = rights.namespaces_where(single, gvr.group, gvr.resource) or ()
    named = rights.names_where(single, gvr.group, gvr.resource)
    within = {key.name for key in named if key.namespace == key.name}
    outside = {key.name for key in (*names, *named) if not key.namespace}
    return frozenset(Key("", name) for name in (*inside, *within, *outside))


def is_admin_binding(binding: GlobalRoleBinding) -> bool:
    """Return True if the binding grants `platform-admin`. The group in `roleRef` is ignored,
    because KubeSphere's own manifests use two different groups.
    """
    return binding.role == PLATFORM_ADMIN and binding.role_kind in ("GlobalRole", "")


def is_usable(user: User) -> bool:
    """Return True if the user may have a session: neither disabled nor being deleted."""
    return user.deleted is None and user.state in SESSION_STATES


def is_reserved(name: str) -> bool:
    """Return True if the name is empty or reserved by Kubernetes (`system:`). The console's
    bindings never apply to these names.
    """
    return not name or name.startswith("system:")


def _is_unchanged(known: _AuthorizationCache) -> bool:
    """Return True if the informers' freshness objects are the ones that were checked before."""
    a, b, c, d, e = known.informers
    fresh = known.fresh
    return fresh is not None and (
        a.freshness is fresh[0]
        and b.freshness is fresh[1]
        and c.freshness is fresh[2]
        and d.freshness is fresh[3]
        and e.freshness is fresh[4]
    )


def _subject_of(identity: Identity) -> SubjectKey:
    """Return the subject as kube-apiserver sees it under impersonation."""
    groups = (group for group in identity.groups if not is_reserved(group))
    return (identity.name, (*groups, AUTHENTICATED_GROUP))


def _failed(identity: Identity, nothing: T) -> T:
    log.exception("Denied access for %s because the authorization check failed", identity.name)
    return nothing


def requires_fresh_cache(verb: str, gvr: GVR, subresource: str) -> bool:
    return (
        verb not in READS
        or subresource in _SUBRESOURCES
        or (gvr.group == "" and gvr.resource in _RESOURCES)
    )

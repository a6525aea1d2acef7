"""Who may do what, answered from the cache as kube-apiserver would answer.

Native roles and bindings decide, and nothing beside them: KubeSphere's levels count through what the
controllers make of them (`rbac.projection`), so that kube-apiserver says the same (ADR 8).

Promises:
- Fails closed. No proof is a no: an informer that has not synced, an exception, an unknown user.
- A right that was removed ends with the watch event that says so: whatever is remembered is compared
  with the versions of the stores at each question.
- While the cache may differ from the server, reading goes on for `STALE_READS` and nothing else does.
- The user must exist and be able to sign in; groups are those of the `Identity`, which no user can
  edit. `User.spec.groups` grants nothing.

Answers are in memory and quick; any thread may ask.
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
from rbac.index import Index, Who
from rbac.resolver import Grant, Rights
from rbac.rules import Question, as_requested

log = logging.getLogger(__name__)

PLATFORM_ADMIN = "platform-admin"
#: How long reading is allowed without proof of life from kube-apiserver.
STALE_READS = timedelta(minutes=5)
#: What the answers come from, and what a process that answers must follow.
SOURCES = (USERS, ROLES, CLUSTER_ROLES, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS)

#: `status.state` of a User that may be signed in; "" is one whom no controller has seen yet. A lock for
#: failed attempts keeps people out, but throws nobody out: anybody could lock anybody.
USABLE_STATES = frozenset({"Active", "AuthLimitExceeded", ""})

T = TypeVar("T")
READS = frozenset({"get", "list", "watch"})
#: Reading these is acting, or reveals what must not be shown on old rights.
_SUBRESOURCES = frozenset({"attach", "exec", "log", "portforward", "proxy"})
_RESOURCES = frozenset({"secrets"})


class _Sources:
    """The informers that are followed now, and what was worked out from them."""

    def __init__(self, informers: tuple[Informer[Any], ...]) -> None:
        self.informers = informers
        self.stores = tuple(informer.store for informer in informers)
        self.users = self.stores[0]
        self.index = Index(*self.stores[1:])
        #: All of them were fresh when these were.
        self.fresh: tuple[Freshness, ...] | None = None
        #: Up to here `rights` is true.
        self.versions: tuple[int, ...] = ()
        self.rights: dict[Identity, Rights] = {}
        #: Held by whoever changes `versions` or `rights`: nobody keeps what was true before.
        self.lock = Lock()


class Authorizer:
    def __init__(self, source: Reads, *, clock: Clock | None = None) -> None:
        self._source = source
        self._clock = clock or SystemClock()
        self._known: _Sources | None = None

    def access_for(self, identity: Identity, cluster: Any = None) -> "RoleAccess":
        """`cluster`: the `console.ui.clusters.Cluster` that it is about, which nothing here looks at."""
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
        """Never raises."""
        try:
            rights = self._rights(identity, verb, gvr, subresource)
            if rights is None:
                return False
            if name and gvr.resource == "namespaces" and not gvr.group:
                namespace = name
            asked = (verb, gvr.group, gvr.resource, subresource, namespace, name)
            found = rights.answers.get(asked)
            return found if found is not None else rights.allows(Question(*asked))
        except Exception:  # noqa: BLE001  whatever went wrong, nobody has shown a right
            return _failed(identity, False)

    def allows_path(self, identity: Identity, verb: str, path: str) -> bool:
        """For a request to kube-apiserver that is about no resource. Never raises."""
        return self._ask(
            identity, verb, NAMESPACES, False, lambda rights: rights.allows_path(verb, path)
        )

    def namespaces_where(
        self, identity: Identity, verb: str, gvr: GVR, subresource: str = ""
    ) -> frozenset[str] | None:
        def work_out(rights: Rights) -> frozenset[str] | None:
            return rights.namespaces_where(verb, gvr.group, gvr.resource, subresource)

        nothing: frozenset[str] | None = frozenset()
        return self._ask(identity, verb, gvr, nothing, work_out, subresource)

    def names_where(
        self, identity: Identity, verb: str, gvr: GVR, subresource: str = ""
    ) -> frozenset[Key]:
        def work_out(rights: Rights) -> frozenset[Key]:
            return _names(rights, verb, gvr, subresource)

        return self._ask(identity, verb, gvr, frozenset[Key](), work_out, subresource)

    def standing(self, identity: Identity) -> tuple[Rights, bool] | None:
        """The rights that count for reading; others take their place when they change. True beside them:
        they are beyond doubt, so that they count for everything. Never raises."""

        def work_out(rights: Rights) -> tuple[Rights, bool]:
            known = self._known
            return rights, known is not None and known.fresh is not None

        return self._ask(identity, "list", NAMESPACES, None, work_out)

    def in_doubt(self) -> bool:
        """True while what rights are made of is not known to be what the cluster has. Never raises."""
        try:
            known = self._sources()
            # What has not been listed yet grants nothing, and may do so in a moment.
            listed = all(informer.freshness.synced for informer in known.informers)
            return not (listed and self._may_answer(known, live=True))
        except Exception:  # noqa: BLE001  as above
            return True

    def grants(self, identity: Identity, *, acting: bool) -> tuple[Grant, ...]:
        """Everything that counts for `identity`, and from where; nothing on any doubt. `acting`: to
        decide about a change, for which rights from before an outage do not count. Never raises."""
        nothing: tuple[Grant, ...] = ()

        def work_out(_rights: Rights) -> tuple[Grant, ...]:
            return self._sources().index.grants_of(_who(identity))

        return self._ask(identity, "create" if acting else "get", NAMESPACES, nothing, work_out)

    def bound_to(self, identity: Identity) -> tuple[Grant, ...] | None:
        """What bindings give to this name and these groups, whether or not anybody may sign in as that;
        None on any doubt. Never raises."""
        try:
            known = self._sources()
            found = [informer.freshness for informer in known.informers]
            if not all(one.synced and one.stale_since is None for one in found):
                return None
            return known.index.grants_of(_who(identity))
        except Exception:  # noqa: BLE001  as above
            return _failed(identity, None)

    def granters(self, asked: Question) -> tuple[str, ...]:
        """Who could allow it, as `User ann` or `Group ops`. Not for everybody to know."""
        return granters(self._sources().index, as_requested(asked))

    def explain(self, identity: Identity, asked: Question) -> Explanation:
        """Why, as far as `identity` may know it. Never raises."""
        gvr = GVR(asked.group, "", asked.resource)

        def work_out(rights: Rights) -> Explanation:
            return explain(rights, as_requested(asked), self._sources().index, _who(identity))

        return self._ask(identity, asked.verb, gvr, Explanation(asked), work_out, asked.subresource)

    def _ask(
        self,
        identity: Identity,
        verb: str,
        gvr: GVR,
        nothing: T,
        work_out: Callable[[Rights], T],
        subresource: str = "",
    ) -> T:
        try:
            rights = self._rights(identity, verb, gvr, subresource)
            return nothing if rights is None else work_out(rights)
        except Exception:  # noqa: BLE001  as above
            return _failed(identity, nothing)

    def _rights(self, identity: Identity, verb: str, gvr: GVR, subresource: str) -> Rights | None:
        """Those that count for such a question; None if nothing does."""
        known = self._known
        if known is None or known.fresh is None or not _same(known):
            known = self._sources()
            if not self._may_answer(known, needs_live(verb, gvr, subresource)):
                return None
        a, b, c, d, e = known.stores
        versions = (a.version, b.version, c.version, d.version, e.version)
        if versions != known.versions:
            self._catch_up(known, versions)
        rights = known.rights.get(identity)
        if rights is None or rights.stale:
            rights = self._look_up(known, identity)
        return rights

    def _sources(self) -> _Sources:
        """An informer may have been replaced: a type of KubeSphere's can go and come back."""
        informers = tuple(self._source.informer(gvr) for gvr in SOURCES)
        known = self._known
        if known is None or known.informers != informers:
            known = self._known = _Sources(informers)
        return known

    def _may_answer(self, known: _Sources, live: bool) -> bool:
        found = tuple(informer.freshness for informer in known.informers)
        known.fresh = None
        if not found[0].synced:
            return False
        # One without a list yet has no objects, which grants nothing.
        doubtful = [one.stale_since for one in found if one.synced and one.stale_since is not None]
        if not doubtful:
            known.fresh = found
            return True
        return not live and self._clock.now() - min(doubtful) < STALE_READS

    def _catch_up(self, known: _Sources, versions: tuple[int, ...]) -> None:
        with known.lock:
            known.index.catch_up()
            # After a change of users somebody may have been locked, deleted, or made.
            kept = known.rights if versions[:1] == known.versions[:1] else {}
            known.rights = {who: rights for who, rights in kept.items() if not rights.stale}
            known.versions = versions

    def _look_up(self, known: _Sources, identity: Identity) -> Rights | None:
        with known.lock:
            entry = known.users.get(Key("", identity.name))
            if entry is None or not is_usable(entry.projection):
                return None
            rights = known.index.rights_of(_who(identity))
            known.rights[identity] = rights
            return rights


@dataclass(frozen=True, slots=True)
class RoleAccess:
    """One viewer's `console.ui.access.Access`."""

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

    def standing(self) -> tuple[Rights, bool] | None:
        return self.authorizer.standing(self.identity)

    def in_doubt(self) -> bool:
        return self.authorizer.in_doubt()

    def granters(
        self, verb: str, gvr: GVR, *, namespace: str = "", subresource: str = ""
    ) -> tuple[str, ...]:
        """Those of `console.ui.access.Explaining`."""
        asked = Question(verb, gvr.group, gvr.resource, subresource, namespace)
        return self.authorizer.explain(self.identity, asked).granters


def _names(rights: Rights, verb: str, gvr: GVR, subresource: str) -> frozenset[Key]:
    names = rights.names_where(verb, gvr.group, gvr.resource, subresource)
    if gvr.resource != "namespaces" or gvr.group or subresource:
        return names
    # No right of a project lets its holder list projects. The console's list has those that they may
    # read one by one.
    single = "get" if verb in READS else verb
    inside = rights.namespaces_where(single, gvr.group, gvr.resource) or ()
    named = rights.names_where(single, gvr.group, gvr.resource)
    within = {key.name for key in named if key.namespace == key.name}
    outside = {key.name for key in (*names, *named) if not key.namespace}
    return frozenset(Key("", name) for name in (*inside, *within, *outside))


def is_admin_binding(binding: GlobalRoleBinding) -> bool:
    """The group in `roleRef` is not looked at: KubeSphere's own manifests write it in two ways."""
    return binding.role == PLATFORM_ADMIN and binding.role_kind in ("GlobalRole", "")


def is_usable(user: User) -> bool:
    """True if the user may be signed in: neither disabled nor on the way out."""
    return user.deleted is None and user.state in USABLE_STATES


def is_reserved(name: str) -> bool:
    """True for names that are Kubernetes' own, or none: no binding of ours reaches them."""
    return not name or name.startswith("system:")


def _same(known: _Sources) -> bool:
    """The informers' freshness is the very one that was looked at."""
    a, b, c, d, e = known.informers
    fresh = known.fresh
    return fresh is not None and (
        a.freshness is fresh[0]
        and b.freshness is fresh[1]
        and c.freshness is fresh[2]
        and d.freshness is fresh[3]
        and e.freshness is fresh[4]
    )


def _who(identity: Identity) -> Who:
    """As kube-apiserver sees somebody who is impersonated."""
    groups = (group for group in identity.groups if not is_reserved(group))
    return (identity.name, (*groups, AUTHENTICATED_GROUP))


def _failed(identity: Identity, nothing: T) -> T:
    log.exception("Refused %s, because the decision failed", identity.name)
    return nothing


# Which questions are answered only while the cache is known to follow the server.


def needs_live(verb: str, gvr: GVR, subresource: str) -> bool:
    return (
        verb not in READS
        or subresource in _SUBRESOURCES
        or (gvr.group == "" and gvr.resource in _RESOURCES)
    )

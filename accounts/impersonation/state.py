"""State of viewing the console as another user, validated at each use.

Guarantees:

- The user of a session never changes; only the permissions that apply to a request do.
- If viewing is no longer allowed, it ends and never silently continues with the viewer's own
  permissions. A `Viewing` without `identity` marks a request intended for the other user.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from accounts.users.directory import users
from console.kube.gvr import GVR, Key
from console.kube.host_runtime import get_runtime
from console.kube.identity import Identity
from rbac.memberships import usable_identity
from rbac.process_clusters import get_authorizer, get_role_levels
from rbac.rules import Rules

#: Session key.
VIEWING = "viewing"
LIFETIME = timedelta(hours=1)
#: Kubernetes' virtual resource for the verb `impersonate`.
PEOPLE = GVR("", "v1", "users")


@dataclass(frozen=True, slots=True)
class Viewing:
    """User whom the session views the console as.

    `identity` is None if viewing ended or is not allowed. `writes` is True if changes were
    confirmed.
    """

    name: str
    identity: Identity | None
    writes: bool = False


def viewing_of(content: Mapping[str, Any], viewer: Identity, now: datetime) -> Viewing | None:
    """Return the session's viewing state, or None if it has none. Raise `UsersNotCached`."""
    kept = content.get(VIEWING)
    if not isinstance(kept, dict):
        return None
    name = str(kept.get("name"))
    if not _in_time(kept, now):
        return Viewing(name, None)
    target = target_of(name)
    entry = users().store.get(Key("", name))
    same = entry is not None and entry.projection.uid == kept.get("uid")
    if target is None or not same or refusal_of(viewer, target) is not None:
        return Viewing(name, None)
    return Viewing(name, target, kept.get("writes") is True)


def target_of(name: str) -> Identity | None:
    """Return the identity of a user who may sign in, or None. Raise `UsersNotCached`."""
    entry = users().store.get(Key("", name))
    return usable_identity(get_runtime(), entry.projection) if entry is not None else None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Reason why a user may not be viewed as. `beyond` contains permissions that the viewer doesn't
    have.
    """

    is_self: bool = False
    beyond: Rules = ()


def may_view(viewer: Identity, name: str) -> bool:
    """Return True if Kubernetes allows the viewer to impersonate this user. The user may not exist."""
    return get_authorizer().allows(viewer, "impersonate", PEOPLE, name=name)


def refusal_of(viewer: Identity, target: Identity) -> Refusal | None:
    """Return the reason why the viewer may not view as `target`, or None."""
    if target.name == viewer.name:
        return Refusal(is_self=True)
    if not may_view(viewer, target.name):
        return Refusal()
    beyond = get_role_levels().excess_of_user(viewer, target)
    return Refusal(beyond=beyond) if beyond else None


def _in_time(kept: Mapping[str, Any], now: datetime) -> bool:
    try:
        since = datetime.fromtimestamp(float(kept["since"]), UTC)
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return False
    return timedelta() <= now - since < LIFETIME

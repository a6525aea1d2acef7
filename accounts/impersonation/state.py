"""As whom a session views the console, decided anew at each use.

Promises:
- Whoever a session is of never changes; only the rights that count for a request do.
- What is not allowed any more ends, and never turns into the viewer's own rights unseen: `Viewing`
  without an `identity` says that the request was meant for somebody else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from accounts.users.directory import users
from console.kube.current import get_runtime
from console.kube.gvr import GVR, Key
from console.kube.identity import Identity, InvalidIdentity
from rbac.authorizer import is_usable
from rbac.current import get_authorizer, get_levels
from rbac.memberships import identity_of
from rbac.rules import Rules

#: In the session.
VIEWING = "viewing"
LIFETIME = timedelta(hours=1)
#: Whom Kubernetes lets somebody act as, by the verb `impersonate`; they are no objects of its own.
PEOPLE = GVR("", "v1", "users")


@dataclass(frozen=True, slots=True)
class Viewing:
    """`identity` is None when it has ended or is not allowed. `writes`: changes were confirmed."""

    name: str
    identity: Identity | None
    writes: bool = False


def content_of(name: str, uid: str, since: datetime, *, writes: bool = False) -> dict[str, Any]:
    """What a session keeps."""
    return {"name": name, "uid": uid, "since": since.timestamp(), "writes": writes}


def viewing_of(content: Mapping[str, Any], viewer: Identity, now: datetime) -> Viewing | None:
    """None for a session that views as nobody else. Raises `UsersUnknown`."""
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
    """A user who may sign in. Raises `UsersUnknown`."""
    entry = users().store.get(Key("", name))
    if entry is None or not is_usable(entry.projection):
        return None
    try:
        return identity_of(get_runtime(), name)
    except InvalidIdentity:
        return None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why somebody may not be viewed as. `beyond`: rights of theirs that the viewer has not."""

    is_self: bool = False
    beyond: Rules = ()


def may_view(viewer: Identity, name: str) -> bool:
    """Kubernetes' own right to act as this user, whether or not there is one."""
    return get_authorizer().allows(viewer, "impersonate", PEOPLE, name=name)


def refusal_of(viewer: Identity, target: Identity) -> Refusal | None:
    """None if the viewer may."""
    if target.name == viewer.name:
        return Refusal(is_self=True)
    if not may_view(viewer, target.name):
        return Refusal()
    beyond = get_levels().beyond(viewer, target)
    return Refusal(beyond=beyond) if beyond else None


def _in_time(kept: Mapping[str, Any], now: datetime) -> bool:
    try:
        since = datetime.fromtimestamp(float(kept["since"]), UTC)
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return False
    return timedelta() <= now - since < LIFETIME

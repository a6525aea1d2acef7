"""Writing roles and bindings: as the user, or as the console where only we can decide.

Promises: the right is decided before anything is written; nobody gives what they do not hold; a record is
in the audit trail before the request leaves; the next page sees the result.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from access.roles.places import informer_of, may_by_role, may_natively
from console.audit.trail import record, request_action
from console.kube.cachewait import wait_for_cache
from console.kube.client import ObjectClient
from console.kube.current import get_runtime
from console.kube.gvr import GVR, Key
from console.ui.decisions import Denied
from console.ui.http import ConsoleRequest
from console.views.guard import access_of
from rbac.authorizer import PLATFORM_ADMIN
from rbac.covering import uncovered
from rbac.current import get_levels
from rbac.levels import NATIVE, TYPES, Level, RoleScope
from rbac.rules import Rule, Rules

Manifest = dict[str, Any]
Write = Callable[[ObjectClient, str], Awaitable[Manifest | None]]


class Escalation(Exception):
    """Somebody is about to give what they do not hold: `beyond`."""

    def __init__(self, beyond: Rules) -> None:
        self.beyond = beyond
        super().__init__(f"{len(beyond)} rights beyond those of the giver")


def require_held(
    request: ConsoleRequest, place: RoleScope, name: str, rules: Iterable[Rule]
) -> None:
    """Raises `Escalation`. kube-apiserver compares native roles itself, and lets those through who may
    `escalate`; here it is said before."""
    access, gvr = access_of(request), TYPES[place.level].roles
    if place.level in NATIVE and may_natively(access, "escalate", gvr, place, name):
        return
    beyond = uncovered(get_levels().held(access.identity, place), rules)
    if beyond:
        raise Escalation(beyond)


def require_bindable(request: ConsoleRequest, place: RoleScope, role: str, rules: Rules) -> None:
    """The same for giving somebody a role."""
    access, gvr = access_of(request), TYPES[place.level].roles
    if place.level in NATIVE and may_natively(access, "bind", gvr, place, role):
        return
    require_held(request, place, role, rules)
    if place.level is Level.GLOBAL and role == PLATFORM_ADMIN:
        # Whoever holds the words of that role does not have its rights (ADR 8).
        bindings = TYPES[place.level].bindings
        if not may_natively(access, "create", bindings, place):
            raise Denied("create", bindings)


async def write(
    request: ConsoleRequest,
    verb: str,
    gvr: GVR,
    place: RoleScope,
    name: str,
    do: Write,
    *,
    decided: bool = False,
) -> Manifest | None:
    """`do` gets the client and the audit id, and returns the object as it is now, None if it is gone; so
    does this. `decided`: the right is shown, by one to another type. Raises `Denied`, `ApiError`,
    `AuditUnavailable`."""
    access, named = access_of(request), name if verb != "create" else ""
    client: ObjectClient = get_runtime().console
    if may_natively(access, verb, gvr, place, named):
        client = get_runtime().as_user(access.identity)
    elif not decided and not may_by_role(access, verb, gvr, place, named):
        raise Denied(verb, gvr, place.namespace)
    action = request_action(request, verb, gvr, namespace=place.namespace, name=name)
    async with record(action) as recording:
        written = await do(client, recording.audit_id)
    version = written["metadata"]["resourceVersion"] if written else ""
    await wait_for_cache(informer_of(gvr), Key(place.namespace, name), version)
    return written

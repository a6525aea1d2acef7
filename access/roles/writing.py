"""Write roles and bindings with the user's identity or, where Kubernetes RBAC cannot decide, with
the console's identity.

Guarantees:
- Permissions are checked before each write.
- Users cannot grant permissions that they don't have.
- The audit record is written before the request is sent.
- The next page shows the result.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from access.roles.lookup import informer_of, is_allowed_by_role, is_allowed_natively
from console.audit.trail import record, request_action
from console.kube.cachewait import wait_for_cache
from console.kube.clients import ObjectClient
from console.kube.gvr import GVR, Key
from console.kube.host_runtime import get_runtime
from console.ui.core.permissions import Denied
from console.ui.core.requests import ConsoleRequest
from console.views.guard import access_of
from rbac.authorizer import PLATFORM_ADMIN
from rbac.escalation_check import uncovered
from rbac.levels import NATIVE, TYPES, Level, RoleScope
from rbac.process_clusters import get_role_levels
from rbac.rules import Rule, Rules

Manifest = dict[str, Any]
Write = Callable[[ObjectClient, str], Awaitable[Manifest | None]]


class Escalation(Exception):
    """Privilege escalation: the user would grant permissions (`beyond`) that the user does not
    have.
    """

    def __init__(self, beyond: Rules) -> None:
        self.beyond = beyond
        super().__init__(f"{len(beyond)} permissions exceed those of the user who grants them")


def require_held(
    request: ConsoleRequest, place: RoleScope, name: str, rules: Iterable[Rule]
) -> None:
    """Raise `Escalation` if the rules exceed the user's permissions.

    kube-apiserver performs the same check for native roles, except for users who may `escalate`.
    The check here reports the error before the write.
    """
    access, gvr = access_of(request), TYPES[place.level].roles
    if place.level in NATIVE and is_allowed_natively(access, "escalate", gvr, place, name):
        return
    beyond = uncovered(get_role_levels().held_rules(access.identity, place), rules)
    if beyond:
        raise Escalation(beyond)


def require_bindable(request: ConsoleRequest, place: RoleScope, role: str, rules: Rules) -> None:
    """Raise `Escalation` if the user may not grant the role to a subject."""
    access, gvr = access_of(request), TYPES[place.level].roles
    if place.level in NATIVE and is_allowed_natively(access, "bind", gvr, place, role):
        return
    require_held(request, place, role, rules)
    if place.level is Level.GLOBAL and role == PLATFORM_ADMIN:
        # Holding the rules of `platform-admin` does not include its permissions (ADR 8).
        bindings = TYPES[place.level].bindings
        if not is_allowed_natively(access, "create", bindings, place):
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
    """Run a write operation and return the object after it, or None if it was deleted.

    `do` is called with the client and the audit ID and returns the same value. Set `decided` if
    the permission was established through another type. Raise `Denied`, `ApiError`,
    `AuditUnavailable`.
    """
    access, named = access_of(request), name if verb != "create" else ""
    client: ObjectClient = get_runtime().console
    if is_allowed_natively(access, verb, gvr, place, named):
        client = get_runtime().as_user(access.identity)
    elif not decided and not is_allowed_by_role(access, verb, gvr, place, named):
        raise Denied(verb, gvr, place.namespace)
    action = request_action(request, verb, gvr, namespace=place.namespace, name=name)
    async with record(action) as recording:
        written = await do(client, recording.audit_id)
    version = written["metadata"]["resourceVersion"] if written else ""
    await wait_for_cache(informer_of(gvr), Key(place.namespace, name), version)
    return written

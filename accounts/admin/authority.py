"""Who administers the accounts of others by a role of the platform, and whose.

KubeSphere lets whoever manages users change all of them. In Kubernetes itself no role of the platform
gives that, since it would be the right to be any of them (ADR 8): the console does it for its holder,
once it has compared what both hold.

Promises:
- Nobody makes or changes somebody who holds, in any cluster, what they do not hold: whoever sets a
  password can be that user.
- What bindings name counts, whether or not the user may sign in now, and whether or not there is one:
  whoever is disabled may be enabled, and bindings may name somebody who is yet to be made.
- Fails closed: while anything that gives rights has not arrived, or may be old, everybody holds more.
"""

from django.utils.translation import gettext as _

from console.kube.current import get_runtime
from console.kube.gvr import USERS
from console.kube.identity import InvalidIdentity
from console.ui.access import Access
from console.ui.clusters import HOST
from console.ui.decisions import Exempt
from console.ui.text import visible
from rbac.current import beyond_anywhere, get_levels
from rbac.memberships import are_known, identity_of
from rbac.rules import Question, Rules, any_allows

CREATE = ("create",)
#: KubeSphere's own server asks for the one, Kubernetes for the other.
CHANGE = ("patch", "update")


def administers(access: Access, verbs: tuple[str, ...], name: str = "") -> bool:
    """True if a role of the platform lets the viewer do so to users; whoever holds more is another
    question. What somebody may not see they do not change."""
    if access.cluster.name != HOST or not access.can("get", USERS, name=name):
        return False
    rules = get_levels().of_platform(access.identity)
    group, resource = USERS.group, USERS.resource
    return any(any_allows(rules, Question(verb, group, resource, name=name)) for verb in verbs)


def may_create(access: Access) -> bool:
    """By Kubernetes, or by a role of the platform."""
    return access.can("create", USERS) or administers(access, CREATE)


def may_change(access: Access, name: str) -> bool:
    """The same, whether or not the user is theirs to change."""
    return access.can("patch", USERS, name=name) or administers(access, CHANGE, name)


def check_holds_no_more(access: Access, name: str) -> None:
    """Raises `Exempt` for somebody who holds what the viewer does not, there or not."""
    runtime = get_runtime()
    try:
        beyond = (
            beyond_anywhere(access.identity, identity_of(runtime, name))
            if are_known(runtime)
            else None
        )
    except InvalidIdentity:
        beyond = None
    check_not_beyond(beyond, name)


def check_not_beyond(beyond: Rules | None, name: str) -> None:
    """`beyond`: what `name` holds and the viewer does not, None where nobody knows. Raises `Exempt`."""
    if beyond is None:
        raise Exempt(_("It is not known what %(name)s may do.") % {"name": visible(name)})
    if beyond:
        text = _(
            "%(name)s has rights that you do not have, and is for those to change who have them."
        )
        raise Exempt(text % {"name": visible(name)})

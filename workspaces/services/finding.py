"""Whom somebody may invite, found by a part of the name or of the address.

Nobody learns here of whom there is: whoever may not list users finds those whom they see elsewhere, by
their names alone, as members of workspaces whose members they may list. Anybody else can still be invited
by the whole name.
"""

from collections.abc import Iterator
from typing import NamedTuple

from accounts.users.directory import users
from console.kube.current import get_runtime
from console.kube.gvr import USERS, WORKSPACES
from console.kube.projections import User
from console.ui.access import Access
from console.ui.projects import may_see_workspace
from rbac.authorizer import is_usable
from workspaces.rights import MEMBERS, bindings_of, rights_in

#: Users that are shown of one look, and characters of a part.
MOST, LONGEST = 20, 100


class Person(NamedTuple):
    """`email` is "" for those whose address is not the viewer's to know."""

    name: str
    email: str


class Found(NamedTuple):
    """`more`: there are others beside these `people`. `by_address`: they are found by that, too."""

    people: list[Person]
    more: bool
    by_address: bool


def find(access: Access, workspace: str, part: str) -> Found:
    """Users who may sign in and are no members yet, by their names; nobody for no part. Raises
    `UsersUnknown`."""
    wanted, by_address = part.strip().casefold()[:LONGEST], access.can("list", USERS)
    if not wanted:
        return Found([], False, by_address)
    taken = _members(workspace)
    found = [
        one
        for one in _seen(access, by_address)
        if one.name not in taken and (wanted in one.name or wanted in one.email.casefold())
    ]
    found.sort()
    return Found(found[:MOST], len(found) > MOST, by_address)


def _seen(access: Access, everybody: bool) -> Iterator[Person]:
    names = None if everybody else _colleagues(access)
    for entry in users().store.snapshot().entries.values():
        user: User = entry.projection
        if is_usable(user) and (names is None or user.name in names):
            yield Person(user.name, user.email if everybody else "")


def _colleagues(access: Access) -> frozenset[str]:
    """Whoever is in a workspace whose members the viewer may list."""
    there = get_runtime().informer(WORKSPACES).store.snapshot().entries
    seen = (key.name for key in there if may_see_workspace(access, key.name))
    listed = (name for name in seen if rights_in(access, name).may("list", MEMBERS))
    return frozenset(user for name in listed for user in _members(name))


def _members(workspace: str) -> frozenset[str]:
    return frozenset(user for one in bindings_of(workspace) for user in one.projection.users)

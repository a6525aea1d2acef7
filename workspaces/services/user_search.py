"""Search for users to invite, by a part of the username or email address.

The search does not reveal the existence of users. A viewer who may not list users finds only
users in workspaces whose members the viewer may list, and only by username. Other users can be
invited by their full username.
"""

from typing import NamedTuple

from accounts.users.directory import users
from console.kube.gvr import USERS, WORKSPACES
from console.kube.host_runtime import get_runtime
from console.kube.projections import User
from console.ui.core.access import Access
from console.ui.navigation.projects import may_see_workspace
from rbac.authorizer import is_usable
from workspaces.rights import MEMBERS, bindings_of, workspace_rights

#: Maximum number of results, and maximum length of the search text.
MOST, LONGEST = 20, 100


class FoundUser(NamedTuple):
    """A search result. `email` is "" if the viewer may not see it."""

    name: str
    email: str


class SearchResult(NamedTuple):
    """Search results. `more` is True if there are further results. `by_address` is True if email
    addresses were searched.
    """

    people: list[FoundUser]
    more: bool
    by_address: bool


def find_users(access: Access, workspace: str, part: str) -> SearchResult:
    """Return users who may sign in and are not members yet, sorted by name. An empty search returns
    no users. Raise `UsersNotCached`.
    """
    wanted, by_address = part.strip().casefold()[:LONGEST], access.can("list", USERS)
    if not wanted:
        return SearchResult([], False, by_address)
    taken = _members(workspace)
    names, found = None if by_address else _colleagues(access), []
    for entry in users().store.snapshot().entries.values():
        user: User = entry.projection
        email = user.email if by_address else ""
        if (
            not is_usable(user)
            or user.name in taken
            or (names is not None and user.name not in names)
        ):
            continue
        if wanted in user.name or wanted in email.casefold():
            found.append(FoundUser(user.name, email))
    found.sort()
    return SearchResult(found[:MOST], len(found) > MOST, by_address)


def _colleagues(access: Access) -> frozenset[str]:
    """Return the members of all workspaces whose members the viewer may list."""
    there = get_runtime().informer(WORKSPACES).store.snapshot().entries
    seen = (key.name for key in there if may_see_workspace(access, key.name))
    listed = (name for name in seen if workspace_rights(access, name).is_allowed("list", MEMBERS))
    return frozenset(user for name in listed for user in _members(name))


def _members(workspace: str) -> frozenset[str]:
    return frozenset(user for one in bindings_of(workspace) for user in one.projection.users)

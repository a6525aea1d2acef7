"""Search for users to invite, by a part of the username or email address.

A viewer who may not list users finds users only by username, and sees no email addresses. With
`INVITE_SEARCH=visible`, such a viewer finds only users in workspaces whose members the viewer may
list, so that the search does not reveal the existence of users. Other users can be invited by their
full username. Searches are limited per account.
"""

import time
from functools import lru_cache
from typing import NamedTuple

from django.conf import settings

from accounts.users.directory import users
from console.kube.gvr import USERS, WORKSPACES
from console.kube.host_runtime import get_runtime
from console.kube.projections import User
from console.kube.tokenbucket import TokenBucket
from console.ui.core.access import Access
from console.ui.navigation.projects import may_see_workspace
from rbac.authorizer import is_usable
from workspaces.rights import MEMBERS, bindings_of, workspace_rights

#: Maximum number of results, and maximum length of the search text.
MOST, LONGEST = 20, 100
#: Searches of an account that may be sent in a burst, and per second on average. The search field
#: sends at most four per second while the user types. Number of accounts whose searches are counted.
BURST, PER_SECOND, _MAX_ACCOUNTS = 40, 1.0, 1000


class FoundUser(NamedTuple):
    """A search result. `email` is "" if the viewer may not see it."""

    name: str
    email: str


class SearchResult(NamedTuple):
    """Search results.

    - `more`: there are further results.
    - `by_address`: email addresses were searched.
    - `of_all`: all users were searched.
    - `refused`: the account sent too many searches, so no users were searched.
    """

    people: list[FoundUser]
    more: bool
    by_address: bool
    of_all: bool
    refused: bool = False


def find_users(access: Access, account: str, workspace: str, part: str) -> SearchResult:
    """Return users who may sign in and are not members yet, sorted by name. An empty search returns
    no users. Raise `UsersNotCached`.
    """
    wanted, by_address = part.strip().casefold()[:LONGEST], access.can("list", USERS)
    of_all = by_address or settings.INVITE_SEARCH == "all"
    refused = bool(wanted) and not _bucket(account).take(time.monotonic())
    if not wanted or refused:
        return SearchResult([], False, by_address, of_all, refused)
    taken = _members(workspace)
    names, found = None if of_all else _colleagues(access), []
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
    return SearchResult(found[:MOST], len(found) > MOST, by_address, of_all)


@lru_cache(_MAX_ACCOUNTS)
def _bucket(_account: str) -> TokenBucket:
    return TokenBucket(burst=BURST, per_second=PER_SECOND)


def _colleagues(access: Access) -> frozenset[str]:
    """Return the members of all workspaces whose members the viewer may list."""
    there = get_runtime().informer(WORKSPACES).store.snapshot().entries
    seen = (key.name for key in there if may_see_workspace(access, key.name))
    listed = (name for name in seen if workspace_rights(access, name).is_allowed("list", MEMBERS))
    return frozenset(user for name in listed for user in _members(name))


def _members(workspace: str) -> frozenset[str]:
    return frozenset(user for one in bindings_of(workspace) for user in one.projection.users)

"""Exclude disabled users, and users that are being deleted, from the bindings that the controllers
write.

The console rejects these users, but kube-apiserver accepts a client certificate until it
expires, with every permission of its user name. The controllers therefore leave these users out
of their bindings. Bindings created directly in Kubernetes are not changed. Group permissions
remain for every certificate that names the group.

A name without a User object belongs to a client certificate of the cluster and stays in the
binding.
"""

from collections.abc import Iterable

from console.kube.gvr import Key
from console.kube.projections import Subject, User
from console.kube.store import Store
from rbac.authorizer import is_usable


class DisabledSubjects:
    """The users that one projector excluded. Use on the core event loop only."""

    def __init__(self, users: Store[User]) -> None:
        self._users = users
        # Never emptied: a projection that is being written may still exclude these users.
        self._left_out: set[str] = set()

    def exclude(self, subjects: Iterable[Subject]) -> tuple[Subject, ...]:
        """Return the subjects that are not excluded."""
        found = []
        for subject in subjects:
            if subject.kind == "User" and self._is_out(subject.name):
                self._left_out.add(subject.name)
            else:
                found.append(subject)
        return tuple(found)

    def affects(self, name: str) -> bool:
        """Return True if a change of this user may change a binding. Most user changes are sign-ins
        and don't.
        """
        return name in self._left_out or self._is_out(name)

    def _is_out(self, name: str) -> bool:
        entry = self._users.get(Key("", name))
        return entry is not None and not is_usable(entry.projection)

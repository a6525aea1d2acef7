"""Who is in a binding of a role and gets nothing from it: users who are disabled, or on their way out.

The console lets them in no more, but a client certificate goes on to count for kube-apiserver until it
expires, with whatever the name may do. So the bindings that the controllers write leave them out. What
was given in Kubernetes itself is not ours to take, and a group's rights stay with everybody whose
certificate names it.

A name without a User is somebody with a certificate of the cluster's own, and stays.
"""

from collections.abc import Iterable

from console.kube.gvr import Key
from console.kube.projections import Subject, User
from console.kube.store import Store
from rbac.authorizer import is_usable


class DisabledSubjects:
    """What one projector left out. On the core's loop."""

    def __init__(self, users: Store[User]) -> None:
        self._users = users
        # Never emptied: a projection that is being written may still be one without them.
        self._left_out: set[str] = set()

    def without(self, subjects: Iterable[Subject]) -> tuple[Subject, ...]:
        """Those of `subjects` who get something."""
        found = []
        for subject in subjects:
            if subject.kind == "User" and self._is_out(subject.name):
                self._left_out.add(subject.name)
            else:
                found.append(subject)
        return tuple(found)

    def concerns(self, name: str) -> bool:
        """True if a change of this user may change a binding: most are logins."""
        return name in self._left_out or self._is_out(name)

    def _is_out(self, name: str) -> bool:
        entry = self._users.get(Key("", name))
        return entry is not None and not is_usable(entry.projection)

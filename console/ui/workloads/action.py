"""Base class for actions on workloads."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from console.kube.store import Entry
from console.ui.actions import Action
from console.ui.facts import Fact, ready_fact
from console.ui.kind import ResourceKind
from console.ui.text import escape_invisible


class WorkloadAction(Action):
    def facts(self, kind: ResourceKind, entry: Entry[Any]) -> Sequence[Fact]:
        """Return the facts of the object, including the owner that may revert changes."""
        item, found = entry.projection, [*super().facts(kind, entry)]
        if hasattr(item, "desired"):
            found.append(ready_fact(item.ready, item.desired))
        if item.owner:
            found.append((_("Managed by"), escape_invisible(item.owner)))
        return found

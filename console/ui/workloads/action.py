"""What the actions on workloads have in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from console.kube.store import Entry
from console.ui.actions import Action
from console.ui.facts import ready_fact, status_fact
from console.ui.kind import Fact, ResourceKind
from console.ui.text import visible


@dataclass(frozen=True, kw_only=True)
class WorkloadAction(Action):
    def facts(self, kind: ResourceKind, entry: Entry[Any]) -> Sequence[Fact]:
        """How it is, and what may undo what is done to it."""
        item = entry.projection
        found = [status_fact(item.status)]
        if hasattr(item, "desired"):
            found.append(ready_fact(item.ready, item.desired))
        if item.owner:
            found.append((_("Managed by"), visible(item.owner)))
        return found

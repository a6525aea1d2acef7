"""Drawing of the connections that a NetworkPolicy changes.

The drawing has the width of its column: horizontal positions are percentages, so it is readable on
phones without a second version.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from console.kube.network_policies import INGRESS, PortSet
from console.ui.core.text import escape_invisible
from console.ui.wizard.state import FieldScope
from console.wizards.reach import Evaluation, Peer, Reach, ports_text

#: Pixels: height of a row, space between rows, and space for the headings.
ROW, GAP, TOP = 44, 12, 20
#: Minimum height of the box of the pods.
LEAST_HEIGHT = 62
BEFORE, AFTER = "before", "after"
WHEN: Sequence[tuple[str, str | Promise]] = (
    (BEFORE, gettext_lazy("Before")),
    (AFTER, gettext_lazy("After")),
)


@dataclass(frozen=True, slots=True)
class DrawnPeer:
    """A row of a drawing. `y` is its top and `end` the height at which its line meets the pods."""

    peer: Peer
    ports: PortSet
    y: int
    end: int
    is_marked: bool

    @property
    def mid(self) -> int:
        return self.y + ROW // 2

    @property
    def text(self) -> str:
        return ports_text(self.ports)

    @property
    def text_y(self) -> int:
        """Top of the text beside the line: above a line that falls, below one that rises."""
        return self.mid - 18 if self.end >= self.mid else self.mid + 2


@dataclass(frozen=True, slots=True)
class Drawing:
    """Connections before or after. `y` and `tall` are top and height of the box of the pods."""

    id: str
    when: str
    reach: Reach
    rows: Sequence[DrawnPeer]
    y: int
    tall: int

    @property
    def is_incoming(self) -> bool:
        return self.reach.direction == INGRESS

    @property
    def rows_x(self) -> str:
        return "0%" if self.is_incoming else "60%"

    @property
    def pods_x(self) -> str:
        return "64%" if self.is_incoming else "0%"

    @property
    def lines_x(self) -> str:
        return "40%" if self.is_incoming else "36%"

    @property
    def to_x(self) -> str:
        """Where lines end."""
        return self.pods_x if self.is_incoming else self.rows_x

    @property
    def height(self) -> int:
        return max(TOP + len(self.rows) * (ROW + GAP) - GAP, self.y + self.tall) + 1

    @property
    def name_y(self) -> int:
        return self.y + self.tall // 2 - 18

    @property
    def pods(self) -> str:
        count = self.reach.count
        words = ngettext("%(n)d pod", "%(n)d pods", count) % {"n": count}
        return words if count else _("No pods match now")

    @property
    def description(self) -> str:
        """The drawing in words."""
        words = (f"{one.peer.name} ({one.peer.place}): {one.text}" for one in self.rows)
        return escape_invisible("; ".join(words))


def drawing_of(reach: Reach, id: str, when: str) -> Drawing:
    ports = [one.before if when == BEFORE else one.after for one in reach.peers]
    lines = sum(map(bool, ports))
    tall = max(LEAST_HEIGHT, 16 * (lines + 1))
    middle = TOP + (len(ports) * (ROW + GAP) - GAP) // 2
    y = max(TOP, middle - tall // 2)
    rows, line = [], 0
    for number, (peer, held) in enumerate(zip(reach.peers, ports, strict=True)):
        line += bool(held)
        end = y + tall * line // (lines + 1)
        is_marked = when == AFTER and peer.is_changed
        rows.append(DrawnPeer(peer, held, TOP + number * (ROW + GAP), end, is_marked))
    return Drawing(f"{id}-{when}", when, reach, rows, y, tall)


@dataclass(frozen=True)
class BoundReach:
    """The drawings on a page. They are computed when they are displayed."""

    evaluation: Evaluation
    name: str

    template = "wizard/reach.html"
    errors = 0
    children: Sequence[Any] = ()

    @property
    def when(self) -> Sequence[tuple[str, str | Promise]]:
        return WHEN

    @cached_property
    def drawings(self) -> list[list[Drawing]]:
        """Drawings before and after, for each direction and each group of pods."""
        return [
            [drawing_of(reach, f"reach-{number}", when) for when, _label in WHEN]
            for number, reach in enumerate(self.evaluation.all())
        ]

    @property
    def notes(self) -> list[str]:
        found = []
        if not self.evaluation.may_list:
            found.append(
                _("You can't list the network policies of this project, so others are left out.")
            )
        if self.drawings and (self.evaluation.is_partial or self.evaluation.hides_projects):
            found.append(_("Pods and projects that you can't list are left out."))
        found.append(_("Policies of other projects can also block connections."))
        return found


@dataclass(frozen=True, kw_only=True)
class ReachPart:
    """Shows who can connect to the pods that the policy selects. It has no fields."""

    id: str = "reach"

    def bind(self, scope: FieldScope) -> BoundReach:
        return BoundReach(
            Evaluation.of(scope.state.context, scope.document), f"{scope.prefix}{self.id}"
        )

    def apply(self, scope: FieldScope) -> None:
        return

    def strip(self, scope: FieldScope) -> None:
        return

    def drop_unused(self, scope: FieldScope) -> None:
        return

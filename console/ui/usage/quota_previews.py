"""Quotas before and after a change: what objects add to the usage, compared with the limits."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from django.utils.translation import gettext as _

from console.kube.quantity import Amounts, parse_amounts
from console.ui.core.access import Access
from console.ui.core.clusters import Kinds
from console.ui.core.kind_names import amount_text, resource_label
from console.ui.core.manifests import mapping
from console.ui.core.text import escape_invisible

#: Percent of a quota from which a change gets a warning.
NEARLY_FULL = 90
_ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class QuotaLimits:
    """Limits and the current usage.

    - `title`: heading of the quota.
    - `replaces`: name of the ResourceQuota that follows these limits and is not shown itself.
    """

    title: str
    hard: Amounts
    used: Amounts
    replaces: str = ""


#: Returns limits of a project besides its ResourceQuotas.
LimitsSource = Callable[[Access, str], Iterable[QuotaLimits]]
_SOURCES: list[LimitsSource] = []


def limits_source(source: LimitsSource) -> LimitsSource:
    """Decorate a function that returns limits of projects."""
    _SOURCES.append(source)
    return source


@dataclass(frozen=True, slots=True)
class QuotaChange:
    """One resource of a quota: usage now, what is added, and the limit."""

    resource: str
    label: str
    used: Decimal
    added: Decimal
    hard: Decimal

    @property
    def after(self) -> Decimal:
        return self.used + self.added

    @property
    def is_exceeded(self) -> bool:
        return self.added > 0 and self.after > self.hard

    @property
    def share(self) -> int:
        return int(self.after * 100 / self.hard) if self.hard else 100 if self.after else 0

    @property
    def level(self) -> Literal["", "warn", "error"]:
        if self.is_exceeded:
            return "error"
        return "warn" if self.share > NEARLY_FULL and self.added > 0 else ""

    @property
    def width(self) -> float:
        """The usage now in percent, for the bar."""
        return self._percent(self.used)

    @property
    def added_width(self) -> float:
        return max(0.0, round(self._percent(self.after) - self.width, 1))

    def _percent(self, amount: Decimal) -> float:
        whole = float(amount * 100 / self.hard) if self.hard else 100.0
        return max(0.0, min(100.0, round(whole, 1)))

    @property
    def texts(self) -> Mapping[str, str]:
        """Formatted amounts: `used`, `after`, `hard`, `added`, and `over` above the limit."""
        amounts = {
            "used": self.used,
            "after": self.after,
            "hard": self.hard,
            "added": abs(self.added),
            "over": max(self.after - self.hard, _ZERO),
        }
        return {name: amount_text(self.resource, amount) for name, amount in amounts.items()}

    @property
    def sign(self) -> str:
        return "−" if self.added < 0 else "+"


@dataclass(frozen=True, slots=True)
class QuotaPreview:
    """The changed resources of a quota."""

    title: str
    changes: Sequence[QuotaChange]

    @property
    def is_exceeded(self) -> bool:
        return any(one.is_exceeded for one in self.changes)


def project_limits(quota: Mapping[str, Any]) -> QuotaLimits | None:
    """Return the limits of a ResourceQuota, or None if it has a scope and counts some pods only."""
    spec = mapping(quota, "spec")
    if spec.get("scopes") or spec.get("scopeSelector"):
        return None
    name = str(mapping(quota, "metadata").get("name", ""))
    words = {"name": escape_invisible(name)}
    return QuotaLimits(
        _("Quota %(name)s of the project") % words,
        parse_amounts(mapping(spec, "hard")),
        parse_amounts(mapping(quota, "status", "used")),
    )


def quota_previews(
    kinds: Kinds, limits: Iterable[QuotaLimits], added: Amounts
) -> list[QuotaPreview]:
    """Return the quotas that limit resources of `added`."""
    found = []
    for one in limits:
        changes = [
            QuotaChange(
                name,
                escape_invisible(resource_label(kinds, name)),
                one.used.get(name, _ZERO),
                added[name],
                hard,
            )
            for name, hard in one.hard.items()
            if added.get(name)
        ]
        if changes:
            found.append(QuotaPreview(one.title, changes))
    return found


def limits_in(
    access: Access, namespace: str, quotas: Iterable[Mapping[str, Any]]
) -> Iterator[QuotaLimits]:
    """Yield the limits of a project: first from the sources, then from its ResourceQuotas."""
    others = [one for source in _SOURCES for one in source(access, namespace)] if namespace else []
    yield from others
    replaced = {one.replaces for one in others}
    for quota in quotas:
        if mapping(quota, "metadata").get("name") not in replaced:
            found = project_limits(quota)
            if found is not None:
                yield found

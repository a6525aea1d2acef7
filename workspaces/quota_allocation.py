"""Allocation of a workspace quota to its projects. Pure functions.

Each project has a ResourceQuota that the console manages and kube-apiserver enforces: its share.
A share consists of the project's usage and a portion of the free capacity. When a project has
nearly used up its portion, all shares are recalculated. They are also recalculated when
kube-apiserver refused a request that exceeds the project's share but not the workspace quota.

Guarantees:
- The sum of all shares never exceeds the quota, even during changes or when Kubernetes counts
  usage late. Capacity is given to a project only after it was taken from others and
  kube-apiserver has confirmed the lower limit (`QuotaShare.held`).
- Refused requests are granted completely before capacity is reserved for others, if the capacity
  is unused. They are granted in the order of the refusals; requests that don't fit are skipped.
- The capacity that a project may use according to its own quota is reserved for it while there
  is enough.
- If the usage exceeds the quota, no share grows until the usage is lower.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

ZERO = Decimal(0)
#: CPU is counted in thousandths. All other resources are whole bytes or whole objects.
_MILLI = Decimal("0.001")
#: Binary units and their exponents of 2, largest first.
_BINARY = {"Ei": 60, "Pi": 50, "Ti": 40, "Gi": 30, "Mi": 20, "Ki": 10}
#: A project gets more capacity if its free capacity is below this fraction of what it could be.
_LOW = Decimal("0.9")


@dataclass(frozen=True, slots=True)
class RefusedNeed:
    """The amount that a project would need for a refused request, and the time of the first
    refusal.
    """

    amount: Decimal
    since: float = 0.0


@dataclass(frozen=True, slots=True)
class QuotaShare:
    """One project's share of one resource.

    - `requested`: the share's current spec, or None if it has none yet
    - `enforced` and `used`: the limit and usage that kube-apiserver last reported
    - `own_quota`: the project's own quota, if it has one
    - `needs`: the amounts that the project was refused
    """

    requested: Decimal | None
    enforced: Decimal | None
    used: Decimal = ZERO
    own_quota: Decimal | None = None
    needs: tuple[RefusedNeed, ...] = ()

    @property
    def highest_limit(self) -> Decimal:
        """The highest limit that kube-apiserver may currently enforce."""
        return max(self.requested or ZERO, self.enforced or ZERO)

    @property
    def highest_usage(self) -> Decimal:
        """The highest usage that the project can reach. It may exceed the limit, because Kubernetes
        sometimes counts a new pod late and the share may be reduced at that moment.
        """
        return max(self.highest_limit, self.used)


Shares = Mapping[str, QuotaShare]


def allocate(resource: str, total: Decimal, shares: Shares) -> dict[str, Decimal]:
    """Return the share that each project should have now. Call again after a share changes, until
    nothing has to be changed.
    """
    needs = _needs(resource, total, shares)
    goals = _goals(resource, total, shares, needs)
    if not _is_due(total, shares, goals, needs):
        return {name: share.requested or ZERO for name, share in shares.items()}
    free = total - sum((share.highest_usage for share in shares.values()), ZERO)
    found = {}
    for name in sorted(shares):
        share, goal = shares[name], goals[name]
        # Shares shrink immediately and grow only by free capacity. While more is held than the
        # quota allows, no share grows, not even to its current usage: other shares must shrink
        # first.
        step = max(ZERO, min(goal - share.highest_usage, free))
        found[name] = min(
            goal, (share.highest_usage if free >= ZERO else share.highest_limit) + step
        )
        free -= step
    return found


def _is_due(
    total: Decimal, shares: Shares, goals: Mapping[str, Decimal], needs: Mapping[str, Decimal]
) -> bool:
    """Return True if the shares must be recalculated. Shares that are sufficient are kept, because
    otherwise they would change with every pod.
    """
    asked = [share.requested for share in shares.values()]
    if None in asked or sum((one or ZERO for one in asked), ZERO) > total:
        return True
    if any((share.requested or ZERO) < needs[name] for name, share in shares.items()):
        return True
    return any(_is_low(shares[name], goals[name]) for name in shares)


def _is_low(share: QuotaShare, goal: Decimal) -> bool:
    asked = share.requested or ZERO
    if share.own_quota is not None:
        return asked != goal
    return asked < goal and asked - share.used < (goal - share.used) * _LOW


def _needs(resource: str, total: Decimal, shares: Shares) -> dict[str, Decimal]:
    """Return each project's usage, plus its refused requests if the free capacity is sufficient."""
    free = total - sum((share.used for share in shares.values()), ZERO)
    found = {name: share.used for name, share in shares.items()}
    waiting = [
        # Every user may have written the amount, and kube-apiserver accepts no fractions of a pod.
        (need.since, name, _round(resource, need.amount, ROUND_CEILING))
        for name in shares
        for need in shares[name].needs
        if need.amount <= total
    ]
    for _since, name, amount in sorted(waiting):
        own = shares[name].own_quota
        # The project's own quota would still reject amounts above it.
        more = amount - found[name] if own is None or amount <= own else ZERO
        if ZERO < more <= free:
            found[name] += more
            free -= more
    return found


def _goals(
    resource: str, total: Decimal, shares: Shares, needs: Mapping[str, Decimal]
) -> dict[str, Decimal]:
    """Return the shares after all pending changes have been applied."""
    used = sum((share.used for share in shares.values()), ZERO)
    if used > total:
        return {name: _round(resource, share.used * total / used) for name, share in shares.items()}
    kept = {name: max(needs[name], share.own_quota or ZERO) for name, share in shares.items()}
    wanted = sum(kept.values(), ZERO)
    if wanted > total:
        needed = sum(needs.values(), ZERO)
        ratio = (total - needed) / (wanted - needed)
        return {
            name: needs[name] + _round(resource, (kept[name] - needs[name]) * ratio)
            for name in shares
        }
    return _with_rest(resource, total - wanted, kept, shares)


def _with_rest(
    resource: str, rest: Decimal, kept: dict[str, Decimal], shares: Shares
) -> dict[str, Decimal]:
    """Distribute the unreserved capacity equally to the projects without their own quota.

    The remainder goes to the projects with the highest usage, so that small amounts held by idle
    projects don't block a project that needs the full capacity.
    """
    open_ended = [name for name, share in shares.items() if share.own_quota is None]
    open_ended.sort(key=lambda name: (-shares[name].used, name))
    if not open_ended:
        return kept
    part = _round(resource, rest / len(open_ended))
    goals = {name: kept[name] + part if name in open_ended else kept[name] for name in kept}
    left, unit = rest - part * len(open_ended), _unit(resource)
    for name in open_ended:
        if left < unit:
            break
        goals[name] += unit
        left -= unit
    return goals


def _round(resource: str, amount: Decimal, rounding: str = ROUND_FLOOR) -> Decimal:
    unit = _unit(resource)
    return (amount / unit).to_integral_value(rounding=rounding) * unit


def _unit(resource: str) -> Decimal:
    return (
        _MILLI
        if resource.removeprefix("requests.").removeprefix("limits.") == "cpu"
        else Decimal(1)
    )


def quantity_text(resource: str, amount: Decimal) -> str:
    """Format a quantity as Kubernetes does: bytes in the largest binary unit that divides them,
    other amounts as integers or thousandths.
    """
    if resource.endswith(("memory", "storage")) and amount > 0:
        unit = next((unit for unit in _BINARY if not amount % (1 << _BINARY[unit])), None)
        if unit is not None:
            return f"{int(amount) >> _BINARY[unit]}{unit}"
    if amount == amount.to_integral_value():
        return str(int(amount))
    return f"{int((amount * 1000).to_integral_value(rounding=ROUND_FLOOR))}m"

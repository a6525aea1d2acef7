"""How a workspace's quota is dealt out to its projects. Pure.

Every project has a ResourceQuota of the console's, which kube-apiserver enforces: its share. Each share
is what the project uses, and a step of what is free above that. When a project has nearly climbed its
step, all are dealt out anew. So they are when kube-apiserver has refused a project something that its
share has no room for, but the quota has.

Promises:
- The shares never exceed the quota together, not while they change either, nor when Kubernetes counts
  late: what one project is to get must have been taken from the others before, and kube-apiserver must
  have said so (`Share.held`).
- What a project was refused it gets as a whole, before anything is kept for others, if nobody uses it:
  in the order of the refusals, those that do not fit left out.
- What a project may use by its own quota is kept for it, as long as there is enough.
- If more is used than the quota allows, nobody gets anything until it is less.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

ZERO = Decimal(0)
#: What Kubernetes counts in parts: everything else is whole bytes, or pieces.
_MILLI = Decimal("0.001")
#: Units of bytes and the bits that each has, the largest first.
_BINARY = {"Ei": 60, "Pi": 50, "Ti": 40, "Gi": 30, "Mi": 20, "Ki": 10}
#: A project whose room is less than this part of what it could be gets more.
_LOW = Decimal("0.9")


@dataclass(frozen=True, slots=True)
class Need:
    """How much a project would have to have for something that was refused, and since when."""

    amount: Decimal
    since: float = 0.0


@dataclass(frozen=True, slots=True)
class Share:
    """One project's part of one resource. `asked`: what its share says, None if it says nothing yet;
    `enforced` and `used`: what kube-apiserver said last; `own`: its own quota, if it has one; `needs`:
    what it was refused."""

    asked: Decimal | None
    enforced: Decimal | None
    used: Decimal = ZERO
    own: Decimal | None = None
    needs: tuple[Need, ...] = ()

    @property
    def given(self) -> Decimal:
        """The most that kube-apiserver may admit."""
        return max(self.asked or ZERO, self.enforced or ZERO)

    @property
    def held(self) -> Decimal:
        """The most that the project can come to use. It may use more than it was given: Kubernetes counts
        a new pod a moment late, now and then, and its share may be cut in that moment."""
        return max(self.given, self.used)


Shares = Mapping[str, Share]


def deal(resource: str, total: Decimal, shares: Shares) -> dict[str, Decimal]:
    """What every project's share should say now, by project. To be asked again when any of them has
    changed, until nothing is to be done."""
    needs = _needs(resource, total, shares)
    goals = _goals(resource, total, shares, needs)
    if not _is_due(total, shares, goals, needs):
        return {name: share.asked or ZERO for name, share in shares.items()}
    free = total - sum((share.held for share in shares.values()), ZERO)
    found = {}
    for name in sorted(shares):
        share, goal = shares[name], goals[name]
        # Down at once; up by no more than what is nobody's. While more is held than there is, nobody goes
        # up, not even to what they use already: others have to give way first.
        step = max(ZERO, min(goal - share.held, free))
        found[name] = min(goal, (share.held if free >= ZERO else share.given) + step)
        free -= step
    return found


def _is_due(
    total: Decimal, shares: Shares, goals: Mapping[str, Decimal], needs: Mapping[str, Decimal]
) -> bool:
    """Shares are left alone while each is good enough: they would change with every pod otherwise."""
    asked = [share.asked for share in shares.values()]
    if None in asked or sum((one or ZERO for one in asked), ZERO) > total:
        return True
    if any((share.asked or ZERO) < needs[name] for name, share in shares.items()):
        return True
    return any(_is_low(shares[name], goals[name]) for name in shares)


def _is_low(share: Share, goal: Decimal) -> bool:
    asked = share.asked or ZERO
    if share.own is not None:
        return asked != goal
    return asked < goal and asked - share.used < (goal - share.used) * _LOW


def _needs(resource: str, total: Decimal, shares: Shares) -> dict[str, Decimal]:
    """What each uses, or needs if there is that much that nobody uses."""
    free = total - sum((share.used for share in shares.values()), ZERO)
    found = {name: share.used for name, share in shares.items()}
    waiting = [
        # Anybody may have written the amount, and kube-apiserver takes no half of a pod.
        (need.since, name, _part(resource, need.amount, ROUND_CEILING))
        for name in shares
        for need in shares[name].needs
        if need.amount <= total
    ]
    for _since, name, amount in sorted(waiting):
        own = shares[name].own
        # What its own quota does not allow would be refused all the same.
        more = amount - found[name] if own is None or amount <= own else ZERO
        if ZERO < more <= free:
            found[name] += more
            free -= more
    return found


def _goals(
    resource: str, total: Decimal, shares: Shares, needs: Mapping[str, Decimal]
) -> dict[str, Decimal]:
    """The shares once everybody has followed."""
    used = sum((share.used for share in shares.values()), ZERO)
    if used > total:
        return {name: _part(resource, share.used * total / used) for name, share in shares.items()}
    kept = {name: max(needs[name], share.own or ZERO) for name, share in shares.items()}
    wanted = sum(kept.values(), ZERO)
    if wanted > total:
        needed = sum(needs.values(), ZERO)
        ratio = (total - needed) / (wanted - needed)
        return {
            name: needs[name] + _part(resource, (kept[name] - needs[name]) * ratio)
            for name in shares
        }
    return _with_rest(resource, total - wanted, kept, shares)


def _with_rest(
    resource: str, rest: Decimal, kept: dict[str, Decimal], shares: Shares
) -> dict[str, Decimal]:
    """What nobody has asked for goes to those without a quota of their own, in equal parts; what does not
    divide to those who use most, so that one who needs all of it is not stopped by a part that idle
    ones hold."""
    open_ended = [name for name, share in shares.items() if share.own is None]
    open_ended.sort(key=lambda name: (-shares[name].used, name))
    if not open_ended:
        return kept
    part = _part(resource, rest / len(open_ended))
    goals = {name: kept[name] + part if name in open_ended else kept[name] for name in kept}
    left, unit = rest - part * len(open_ended), _unit(resource)
    for name in open_ended:
        if left < unit:
            break
        goals[name] += unit
        left -= unit
    return goals


def _part(resource: str, amount: Decimal, rounding: str = ROUND_FLOOR) -> Decimal:
    unit = _unit(resource)
    return (amount / unit).to_integral_value(rounding=rounding) * unit


def _unit(resource: str) -> Decimal:
    return (
        _MILLI
        if resource.removeprefix("requests.").removeprefix("limits.") == "cpu"
        else Decimal(1)
    )


def quantity_text(resource: str, amount: Decimal) -> str:
    """As Kubernetes writes it: bytes in the largest binary unit of which they are so many, all else whole
    or in thousandths."""
    if resource.endswith(("memory", "storage")) and amount > 0:
        unit = next((unit for unit in _BINARY if not amount % (1 << _BINARY[unit])), None)
        if unit is not None:
            return f"{int(amount) >> _BINARY[unit]}{unit}"
    if amount == amount.to_integral_value():
        return str(int(amount))
    return f"{int((amount * 1000).to_integral_value(rounding=ROUND_FLOOR))}m"

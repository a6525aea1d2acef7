"""What can be done to an account with one button: the write, and what ends or begins with it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from asgiref.sync import sync_to_async
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from accounts.factors import register as factors
from accounts.protection import attempts
from accounts.protection.endings import end_everything, ended_patch
from accounts.states import ACTIVE, DISABLED
from accounts.time import now
from accounts.writing import Manifest, state_status

After = Callable[[str], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Act:
    """`patch` makes the change; `after` is done once kube-apiserver has taken it. `on_self`: also to the
    account of whoever does it."""

    label: str | Promise
    done: str | Promise
    patch: Callable[[], Manifest]
    after: After | None = None
    on_self: bool = True


async def _end(name: str) -> None:
    await end_everything(name, "EndedByAdministrator", now())


async def _forget_failures(name: str) -> None:
    await sync_to_async(attempts.forget)(name)


async def _reset_factor(name: str) -> None:
    await sync_to_async(factors.turn_off)(name)
    await _end(name)
    await _forget_failures(name)


def _disable() -> Manifest:
    return {"status": state_status(DISABLED, now())}


def _activate() -> Manifest:
    """Failed attempts from before count no more, since this is a new beginning of the state."""
    return {"status": state_status(ACTIVE, now())}


#: By the last part of their address. Disabling ends everything a second time when the change arrives, see
#: `Endings`; here it is over before the administrator has an answer.
ACTS = {
    "enable": Act(
        gettext_lazy("Enable user"),
        gettext_lazy("Enabled user %(name)s."),
        _activate,
        on_self=False,
    ),
    "disable": Act(
        gettext_lazy("Disable user"),
        gettext_lazy("Disabled user %(name)s. All sessions and tokens have ended."),
        _disable,
        _end,
        on_self=False,
    ),
    "unlock": Act(
        gettext_lazy("Unlock user"),
        gettext_lazy("Unlocked user %(name)s."),
        _activate,
        _forget_failures,
    ),
    "end-sessions": Act(
        gettext_lazy("End all sessions"),
        gettext_lazy("Ended all sessions and tokens of user %(name)s."),
        lambda: ended_patch(now()),
        _end,
    ),
    "reset-second-factor": Act(
        gettext_lazy("Reset second factor"),
        gettext_lazy(
            "Reset the second factor of user %(name)s. All sessions and tokens have ended."
        ),
        lambda: ended_patch(now()),
        _reset_factor,
        on_self=False,
    ),
}

"""The one place where a code of a second factor is compared: counted first, like a password."""

from dataclasses import dataclass

from asgiref.sync import sync_to_async
from django.http import HttpRequest

from accounts.factors import register
from accounts.oauth.options import options
from accounts.protection import attempts
from accounts.protection.origins import origin_of
from accounts.time import now
from console.kube.projections import User

#: Longer than any code, with room for how people write them.
MAX_CODE = 64


@dataclass(frozen=True, slots=True)
class Checked:
    """`wait`: seconds until there may be another attempt, where there were too many."""

    is_right: bool
    wait: float | None = None


async def has_factor(user: User) -> bool:
    """Raises DatabaseError."""
    return await sync_to_async(register.is_on)(user.name, user.uid)


async def check_code(request: HttpRequest, user: User, code: str) -> Checked:
    """Uses the code up if it is right. Raises DatabaseError."""
    moment, network = now(), origin_of(request).network
    ticket = await sync_to_async(attempts.begin)(
        user.name, network, options().limits, moment, kind=attempts.CODE
    )
    if ticket.wait is not None:
        return Checked(False, ticket.wait)
    if not await sync_to_async(register.use)(user.name, user.uid, code[:MAX_CODE], moment):
        return Checked(False)
    await sync_to_async(attempts.succeeded)(ticket)
    return Checked(True)

"""LoginRecords: who tried to log in, when and from where, as KubeSphere keeps it.

There is one for each success, and one for each wrong password of a user who exists; none for names that
nobody has, which may be passwords. They are written without anybody waiting, so that no answer takes
longer for a user who exists, and as the console: nobody else may write one.
"""

import logging
from dataclasses import dataclass

from accounts.protection.origins import Origin
from console.kube.client import ObjectClient
from console.kube.current import get_runtime
from console.kube.errors import ApiError
from console.kube.gvr import LOGIN_RECORDS
from console.kube.projections.tenancy import USER_LABEL

log = logging.getLogger(__name__)

#: `spec.type`: with a password by HTTP Basic, for a token or a session, through an identity provider.
BASIC, TOKEN, OAUTH = "Password", "Token", "OAuth"
#: Kubernetes' limit for a label's value.
MAX_LABEL = 63


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """`user`: the name of one who exists. `reason`: why it failed, for the reader of the record."""

    user: str
    origin: Origin
    type: str = TOKEN
    provider: str = ""
    reason: str = ""


def note(attempt: LoginAttempt) -> None:
    """Has the record written."""
    runtime = get_runtime()
    runtime.spawn(_write(runtime.console, attempt))


def manifest(attempt: LoginAttempt) -> dict[str, object]:
    return {
        "apiVersion": LOGIN_RECORDS.group_version,
        "kind": "LoginRecord",
        "metadata": {"generateName": f"{attempt.user}-", "labels": {USER_LABEL: attempt.user}},
        "spec": {
            "type": attempt.type,
            "provider": attempt.provider,
            "sourceIP": attempt.origin.address,
            "userAgent": attempt.origin.user_agent,
            "success": not attempt.reason,
            "reason": attempt.reason or "authenticated successfully",
        },
    }


async def _write(client: ObjectClient, attempt: LoginAttempt) -> None:
    if len(attempt.user) > MAX_LABEL:
        return
    try:
        await client.create(LOGIN_RECORDS, manifest(attempt))
    except ApiError as error:
        log.warning("No login record of %s: %s", attempt.user, error)

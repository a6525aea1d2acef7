"""The last logins of a user, from LoginRecords."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from console.kube.current import get_runtime
from console.kube.factory import NeverCached, UnknownKind
from console.kube.gvr import LOGIN_RECORDS
from console.kube.indexes import indexes_of
from console.kube.informer import Informer
from console.kube.projections.tenancy import USER_LABEL, LoginRecord

SHOWN = 50
#: Seconds that a page waits for records that nobody has looked at for a while.
PATIENCE = 1.5
_BEFORE = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class History:
    """`records`: the newest first. `known` is False while they have not arrived from the cluster."""

    records: Sequence[LoginRecord] = ()
    known: bool = True


async def history_of(name: str) -> History:
    try:
        await get_runtime().wait_synced(LOGIN_RECORDS, timeout=PATIENCE)
        informer: Informer[LoginRecord] = get_runtime().informer(LOGIN_RECORDS)
    except (NeverCached, UnknownKind):
        return History(known=False)
    if not informer.freshness.synced:
        return History(known=False)
    found = [
        one.projection for one in indexes_of(informer.store).by_label.get(f"{USER_LABEL}={name}")
    ]
    found.sort(key=lambda one: (one.created or _BEFORE, one.name), reverse=True)
    return History(found[:SHOWN])

"""Check that every write as a user names the object's UID, and also its resource version if the
object was read first. The cluster then rejects a write to an object that was recreated or
changed in the meantime.
"""

from typing import Any

import pytest

from console.kube.clients import UserClient
from console.kube.gvr import GVR

#: Writes of values that the user chose. They don't depend on the object that was read.
_CHOSEN = ("iam.kubesphere.io/role", "'/spec/template'")


def watched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that collects all writes without these preconditions. All requests of one
    action share an audit ID.
    """
    wrong: list[str] = []
    read: set[tuple[str, ...]] = set()
    get = UserClient.get

    def place(gvr: GVR, given: dict[str, Any]) -> tuple[str, ...]:
        return given.get("audit_id", ""), gvr.qualified, given.get("namespace", ""), given["name"]

    async def getting(self: UserClient, gvr: GVR, **given: Any) -> Any:
        if given.get("audit_id"):
            read.add(place(gvr, given))
        return await get(self, gvr, **given)

    def watch(verb: str) -> None:
        write = getattr(UserClient, verb)

        async def writing(self: UserClient, gvr: GVR, *body: Any, **given: Any) -> Any:
            said = f"{body} {given.get('uid') and 'uid'}"
            whole = "resourceVersion" in said or (
                "uid" in said and (place(gvr, given) not in read or verb == "delete")
            )
            if not whole and not any(one in said for one in _CHOSEN):
                wrong.append(f"{verb} {gvr.qualified} {given['name']}: {said}")
            return await write(self, gvr, *body, **given)

        monkeypatch.setattr(UserClient, verb, writing)

    monkeypatch.setattr(UserClient, "get", getting)
    for verb in ("patch", "replace", "delete"):
        watch(verb)
    return wrong

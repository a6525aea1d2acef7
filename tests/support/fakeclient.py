"""A client that records deletions and patches instead of sending them."""

from typing import Any

from console.kube.errors import ApiError
from console.kube.gvr import GVR
from console.kube.identity import Identity


class FakeClient:
    """Record deletions and patches. Raise the exception in `failures` for a name."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, str]] = []
        self.failures: dict[str, ApiError] = {}
        self.patches: dict[str, dict[str, Any]] = {}
        self.identity = Identity("nobody")

    def as_user(self, identity: Identity) -> Any:
        self.identity = identity
        return self

    async def delete(
        self, gvr: GVR, *, namespace: str, name: str, uid: str, audit_id: str, **_chosen: Any
    ) -> dict[str, Any]:
        assert audit_id
        if name in self.failures:
            raise self.failures[name]
        self.calls.append((self.identity.name, f"{namespace}/{name}", uid))
        return {}

    async def get(self, gvr: GVR, *, namespace: str, name: str) -> dict[str, Any]:
        return self._object(namespace, name)

    async def patch(
        self, gvr: GVR, body: dict[str, Any], *, namespace: str, name: str, **_chosen: Any
    ) -> dict[str, Any]:
        self.patches[f"{namespace}/{name}"] = body
        return self._object(namespace, name)

    def _object(self, namespace: str, name: str) -> dict[str, Any]:
        return {"metadata": {"namespace": namespace, "name": name}}

"""Writes of pods straight into etcd, as another kube-apiserver of the same cluster would make them.

A kube-apiserver that shares two cores with everything else takes some 150 changes a second, and has no
processor left then. What is measured here is the way from a change to people, for which it does not
matter who wrote it: the kube-apiserver under test learns of these changes as it learns of all.
"""

import base64
import ssl
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from bench.writing import WRITERS, Access, WriteRefused

_LIST_SECONDS = 300.0


class _Meta(msgspec.Struct):
    name: str
    namespace: str


class _Header(msgspec.Struct):
    revision: str


class _Put(msgspec.Struct):
    header: _Header


class _Pod(msgspec.Struct):
    metadata: msgspec.Raw
    spec: msgspec.Raw


class _List(msgspec.Struct):
    items: list[_Pod]


_meta = msgspec.json.Decoder(_Meta)
_put = msgspec.json.Decoder(_Put)


class PodWriter:
    """Changes the statuses of pods that it has read before. Use within one event loop."""

    def __init__(self, etcd_url: str, pods: dict[tuple[str, str], _Pod]) -> None:
        self._url = f"{etcd_url}/v3/kv/put"
        self._pods = pods
        self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=WRITERS))

    @classmethod
    async def reading(cls, access: Access, etcd_url: str, selector: str = "") -> "PodWriter":
        """Of all pods, or of those that `selector` chooses. Raises `WriteRefused`."""
        return cls(etcd_url, await _read(access, selector))

    async def close(self) -> None:
        await self._session.close()

    async def set_status(self, namespace: str, name: str, status: dict[str, Any]) -> str:
        """The pod's new resourceVersion, once etcd has it. Raises `WriteRefused`."""
        pod = self._pods[namespace, name]
        # kube-apiserver reads JSON as well as its own encoding; the resourceVersion in it is ignored.
        value = b'{"kind":"Pod","apiVersion":"v1","metadata":%b,"spec":%b,"status":%b}' % (
            bytes(pod.metadata),
            bytes(pod.spec),
            msgspec.json.encode(status),
        )
        key = f"/registry/pods/{namespace}/{name}".encode()
        body = {"key": base64.b64encode(key).decode(), "value": base64.b64encode(value).decode()}
        async with self._session.post(self._url, data=msgspec.json.encode(body)) as response:
            answer = await response.read()
            if response.status != 200:
                raise WriteRefused(f"etcd: {response.status} {answer[:500]!r}")
        return _put.decode(answer).header.revision


async def _read(access: Access, selector: str) -> dict[tuple[str, str], _Pod]:
    tls = ssl.create_default_context(cafile=str(Path(access.ca_file)))
    params = {"resourceVersion": "0", **({"labelSelector": selector} if selector else {})}
    headers = {"Authorization": f"Bearer {access.token}", "Accept": "application/json"}
    timeout = aiohttp.ClientTimeout(total=_LIST_SECONDS)
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=tls), timeout=timeout) as session,
        session.get(f"{access.url}/api/v1/pods", params=params, headers=headers) as response,
    ):
        answer = await response.read()
        if response.status != 200:
            raise WriteRefused(f"list of pods: {response.status} {answer[:500]!r}")
    found: dict[tuple[str, str], _Pod] = {}
    for pod in msgspec.json.decode(answer, type=_List).items:
        meta = _meta.decode(pod.metadata)
        # Raw keeps the whole answer alive, which the copies do not.
        found[meta.namespace, meta.name] = _Pod(
            msgspec.Raw(bytes(pod.metadata)), msgspec.Raw(bytes(pod.spec))
        )
    return found

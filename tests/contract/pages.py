"""Helpers for tests of console pages that act on a cluster, for a user with permissions in both."""

import html
import json
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from console.audit.models import AuditRecord
from console.kube.gvr import GVR, NAMESPACES, Key
from console.kube.identity import Identity
from console.kube.runtime import Runtime
from console.kube.store import Entry
from console.ui.core.links import action_url, detail_url
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.contract.cleanup import Cleanup
from tests.contract.client import Obj
from tests.contract.cluster import Cluster
from tests.contract.grants import Grants
from tests.contract.objects import unique
from tests.controlplane.waiting import eventually
from tests.kube.clusters import live
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs, SignedIn
from tests.views.viewers import VIEWERS

JSON = {"Accept": "application/json"}


@contextmanager
def console_on(cluster: Cluster, types: Collection[GVR]) -> Iterator[Runtime]:
    """Run the console on the cluster and watch these resource types. Yield the runtime."""
    runtime = Runtime(kubeconfig=str(cluster.kubeconfig))
    runtime.start()
    try:
        runtime.require([NAMESPACES, *types])
        eventually(lambda: all(live(runtime.informer(gvr)) for gvr in types), "all is known")
        set_host_cluster(runtime)
        yield runtime
    finally:
        unset_host_cluster()
        runtime.stop()


def kubectl_line(page: str) -> str:
    """Return the kubectl command that an HTML page shows. It is the first code after its label."""
    found = re.search(r"<code>(.*?)</code>", page.rpartition("kubectl command:")[2], re.DOTALL)
    assert "kubectl command:" in page and found is not None, page
    return html.unescape(found[1])


def known(runtime: Runtime, gvr: GVR, made: Obj) -> Entry[Any]:
    """Wait until the cache holds this version of the object or a newer one, and return its entry."""
    meta = made["metadata"]
    key, store = Key(meta.get("namespace", ""), meta["name"]), runtime.informer(gvr).store

    def there() -> Entry[Any] | None:
        entry = store.get(key)
        known = entry and int(entry.resource_version) >= int(meta["resourceVersion"])
        return entry if known else None

    entry = eventually(there, f"{gvr.resource} {key} is known")
    assert entry is not None
    return entry


def _said(html: str) -> str:
    """Return the content of the page's `main` element. The navigation around it would fill the
    assertion message.
    """
    return html.partition("<main")[2].partition("</main>")[0] or html


@dataclass(frozen=True)
class Page:
    """The page of one action on one object, requested as one user."""

    who: str
    url: str
    uid: str

    def client(self, **headers: str) -> SignedIn:
        return ClientAs()(self.who, **headers)

    async def asks(self) -> str:
        """Return the HTML of the confirmation page."""
        answer = await self.client().get(self.url)
        text = await text_of(answer)
        assert answer.status_code == 200, _said(text)
        return text

    async def does(self, **data: Any) -> Any:
        """Submit the action, check that the response is a redirect, and return it."""
        answer = await self.client().post(self.url, {"uid": self.uid, **data})
        assert answer.status_code == 302, _said(await text_of(answer))
        return answer

    async def refuses(self, code: int, **data: Any) -> str:
        """Submit the action, check that it fails with this status code, and return the page's HTML."""
        answer = await self.client().post(self.url, {"uid": self.uid, **data})
        text = await text_of(answer)
        assert answer.status_code == code, _said(text)
        return text

    async def status(self, **data: Any) -> dict[str, Any]:
        """Submit the action as an API client and return the Kubernetes Status of the response."""
        answer = await self.client(**JSON).post(self.url, {"uid": self.uid, **data})
        found: dict[str, Any] = json.loads(await text_of(answer))
        assert found["kind"] == "Status" and found["code"] == answer.status_code
        return found

    async def is_offered(self, segment: str, key: Key) -> bool:
        client = self.client()
        page = await client.get(detail_url("host", segment, key))
        if page.status_code == 302:
            # The object's detail URL redirects to a separate page.
            page = await client.get(page["Location"])
        return f'href="{self.url}"' in await text_of(page)


@dataclass(frozen=True)
class Person:
    """A user with the permissions of `rules` in the cluster, and with all permissions in the
    console.
    """

    name: str
    grants: Grants

    def on(self, action: str, segment: str, made: Obj) -> Page:
        meta = made["metadata"]
        key = Key(meta.get("namespace", ""), meta["name"])
        return Page(self.name, action_url(action, "host", segment, key), meta["uid"])


def person(
    monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup, namespace: str, *rules: Obj
) -> Person:
    access, grants = FakeAccess(unique("editor"), get_in=None), Grants(cleanup, namespace)
    if rules:
        join(access, grants.team(*rules))
    name = access.identity.name
    monkeypatch.setitem(VIEWERS, name, lambda: access)
    return Person(name, grants)


def join(access: FakeAccess, team: str) -> None:
    """Add the user to this group. The user's requests to the cluster carry it."""
    access.identity = Identity(access.identity.name, (team,))


async def recorded() -> list[tuple[str, str, str, str, int | None]]:
    """Return actor, verb, subresource, name, and status code of all audit records, in order."""
    return [
        (one.actor, one.verb, one.subresource, one.name, one.code)
        async for one in AuditRecord.objects.order_by("time", "pk")
    ]


async def refused_to_strangers(page: Page, noun: str) -> None:
    """Check that charlie (no permissions) and bob (read-only) are both refused with 403."""
    for who in ("charlie", "bob"):
        other = Page(who, page.url, page.uid)
        assert f"{noun}" in await other.refuses(403)
        status = await other.status()
        assert (status["code"], status["reason"]) == (403, "Forbidden")

"""People with rights on a real node's cluster, and the console for them."""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from console.kube.gvr import GVR, NAMESPACES, Key
from console.kube.runtime import Runtime
from console.ui.links import action_url
from rbac.current import no_host, use_host
from tests.contract.pages import Page
from tests.controlplane.waiting import eventually
from tests.kube.clusters import live
from tests.node.node import RealNode
from tests.ui.support import FakeAccess
from tests.views.cast import CAST

_GROUP = "rbac.authorization.k8s.io"

#: Names, and what each may do in the whole cluster.
Rights = Mapping[str, list[dict[str, Any]]]


@contextmanager
def console_for(node: RealNode, rights: Rights, types: Collection[GVR]) -> Iterator[Runtime]:
    """Knows the objects of these types."""
    body = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(_granting(rights))})
    done = node.cluster.kubectl("create", "-f", "-", input=body)
    assert done.returncode == 0, done.stderr
    runtime = Runtime(kubeconfig=str(node.cluster.kubeconfig))
    runtime.start()
    try:
        runtime.require([NAMESPACES, *types])
        eventually(lambda: all(live(runtime.informer(gvr)) for gvr in types), "all is known")
        use_host(runtime)
        yield runtime
    finally:
        no_host()
        runtime.stop()
        node.cluster.kubectl("delete", "-f", "-", input=body)


def _granting(rights: Rights) -> Iterator[dict[str, Any]]:
    for name, rules in rights.items():
        about = {"apiVersion": f"{_GROUP}/v1", "metadata": {"name": name}}
        yield {**about, "kind": "ClusterRole", "rules": rules}
        yield {
            **about,
            "kind": "ClusterRoleBinding",
            "roleRef": {"apiGroup": _GROUP, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": _GROUP, "kind": "User", "name": name}],
        }


def believe(monkeypatch: pytest.MonkeyPatch, rights: Rights) -> None:
    """As far as the console knows they may do everything, so that the cluster decides."""
    for name in rights:
        monkeypatch.setitem(CAST, name, partial(FakeAccess, name, get_in=None))


def page_of(console: Runtime, who: str, action: str, gvr: GVR, key: Key) -> Page:
    """An action on an object, once the console knows that."""
    objects = console.informer(gvr).store
    entry = eventually(lambda: objects.get(key), f"{key} is known")
    assert entry is not None
    return Page(who, action_url(action, "host", gvr.resource, key), entry.projection.uid)

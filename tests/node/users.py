"""Users with permissions in a real node's cluster, and the console for them."""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from console.kube.gvr import GVR, NAMESPACES, Key
from console.kube.identity import Identity
from console.kube.runtime import Runtime
from console.ui.core.clusters import clusters
from console.ui.core.links import action_url
from rbac.authorizer import SOURCES
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.contract.pages import Page
from tests.controlplane.waiting import eventually
from tests.kube.clusters import live
from tests.node.node import RealNode
from tests.rbac.objects import user
from tests.ui.support import FakeAccess
from tests.views.viewers import VIEWERS

_GROUP = "rbac.authorization.k8s.io"
_DEFINITIONS = Path(__file__).parents[2] / "manifests" / "crds.yaml"
_USERS = "users.iam.kubesphere.io"

#: User names and their cluster-wide RBAC rules.
Rights = Mapping[str, list[dict[str, Any]]]


@contextmanager
def console_for(node: RealNode, rights: Rights, types: Collection[GVR]) -> Iterator[Runtime]:
    """Create the roles and run a console that watches these resource types."""
    body = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(_granting(rights))})
    done = node.cluster.kubectl("create", "-f", "-", input=body)
    assert done.returncode == 0, done.stderr
    runtime = Runtime(kubeconfig=str(node.cluster.kubeconfig))
    runtime.start()
    try:
        runtime.require([NAMESPACES, *types])
        eventually(lambda: all(live(runtime.informer(gvr)) for gvr in types), "all is known")
        set_host_cluster(runtime)
        yield runtime
    finally:
        unset_host_cluster()
        runtime.stop()
        node.cluster.kubectl("delete", "-f", "-", input=body)


@contextmanager
def console_of(node: RealNode, rights: Rights, types: Collection[GVR]) -> Iterator[Runtime]:
    """Like `console_for`, but the console's own authorizer decides and these users exist in the
    console. Use it with `decide`.
    """
    with _users(node, rights), console_for(node, rights, [*SOURCES, *types]) as found:
        yield found


@contextmanager
def _users(node: RealNode, names: Collection[str]) -> Iterator[None]:
    definitions = yaml.safe_load_all(_DEFINITIONS.read_text())
    [definition] = [one for one in definitions if one["metadata"]["name"] == _USERS]
    made = [user(name) for name in names]
    for one in made:
        one["metadata"] = {"name": one["metadata"]["name"]}
    people = json.dumps({"apiVersion": "v1", "kind": "List", "items": made})
    kubectl = node.cluster.kubectl
    done = [kubectl("create", "-f", "-", input=json.dumps(definition))]
    try:
        done.append(kubectl("wait", "--for=condition=established", f"crd/{_USERS}"))
        done.append(kubectl("create", "-f", "-", input=people))
        assert not any(one.returncode for one in done), [one.stderr for one in done]
        yield
    finally:
        kubectl("delete", "crd", _USERS)


def rights_of(name: str) -> Any:
    """Return the user's current access from the console's authorizer."""
    return clusters.host.access_for(Identity(name))


def decide(monkeypatch: pytest.MonkeyPatch, rights: Rights) -> None:
    """Sign in the users with their own permissions."""
    for name in rights:
        monkeypatch.setitem(VIEWERS, name, partial(rights_of, name))


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
    """Let the console allow these users everything, so that only the cluster decides."""
    for name in rights:
        monkeypatch.setitem(VIEWERS, name, partial(FakeAccess, name, get_in=None))


def page_of(console: Runtime, who: str, action: str, gvr: GVR, key: Key) -> Page:
    """Return the page of an action after the console has loaded the object."""
    objects = console.informer(gvr).store
    entry = eventually(lambda: objects.get(key), f"{key} is known")
    assert entry is not None
    return Page(who, action_url(action, "host", gvr.resource, key), entry.projection.uid)

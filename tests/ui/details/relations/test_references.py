"""References of an object, computed from its projection and from the whole object."""

from typing import Any

import pytest

from console.kube import gvr as types
from console.kube.gvr import GVR, Key
from console.kube.store import Entry
from console.ui.core.kind import ResourceKind
from console.ui.core.registry import kinds
from console.ui.details.relations.references import references, referring_types
from console.ui.details.relations.visible_type import HOW
from tests.kinds.world import informer_of, objects_of
from tests.support.informers import preloaded
from tests.ui.details.relations.shop import Obj, a_pod, everything, named, spec, targets

NAMING = [kind for kind in kinds if kind.referenced_types]


def entry_of(gvr: GVR, key: Key) -> Entry[Any]:
    found = preloaded(gvr, everything()[gvr]).store.get(key)
    assert found is not None
    return found


def test_pod_references_everything_in_its_spec() -> None:
    found = references(types.PODS, entry_of(types.PODS, Key("shop", "web-2-aaaaa")))
    said = {(ref.gvr.resource, str(ref.key), ref.how, ref.where, ref.optional) for ref in found}
    assert said == {
        ("configmaps", "shop/web-conf", "volume", "conf", False),
        ("secrets", "shop/web-tls", "volume", "tls", False),
        ("persistentvolumeclaims", "shop/web-data", "volume", "data", False),
        ("persistentvolumeclaims", "shop/web-2-aaaaa-scratch", "volume", "scratch", False),
        ("secrets", "shop/web-token", "volume", "both", False),
        ("configmaps", "shop/web-ca", "volume", "both", True),
        ("secrets", "shop/csi-key", "volume", "remote", False),
        ("configmaps", "shop/setup-conf", "env-from", "setup", False),
        ("secrets", "shop/web-env", "env-from", "app", False),
        ("secrets", "shop/web-tls", "env", "app", False),
        ("configmaps", "shop/web-conf", "env", "app", False),
        ("secrets", "shop/debug-env", "env-from", "debug", False),
        ("secrets", "shop/registry", "pull", "", False),
        ("serviceaccounts", "shop/web", "account", "", False),
        ("priorityclasses", "urgent", "priority", "", False),
        ("nodes", "node-1", "node", "", False),
    }


def test_template_has_the_references_of_a_pod_except_the_pods_own() -> None:
    def found(gvr: GVR, name: str) -> set[tuple[GVR, Key]]:
        return {(ref.gvr, ref.key) for ref in references(gvr, entry_of(gvr, Key("shop", name)))}

    pod, deployment = found(types.PODS, "web-2-aaaaa"), found(types.DEPLOYMENTS, "web")
    assert pod - deployment == {
        (types.PERSISTENT_VOLUME_CLAIMS, Key("shop", "web-2-aaaaa-scratch")),
        (types.SECRETS, Key("shop", "debug-env")),
        (types.NODES, Key("", "node-1")),
    }
    assert deployment < pod


def test_template_of_a_cron_job_is_found() -> None:
    inner = everything()[types.DEPLOYMENTS][0]["spec"]
    item = {
        "metadata": {"name": "nightly", "namespace": "shop"},
        "spec": {"jobTemplate": {"spec": {"template": inner["template"]}}},
    }
    entry = preloaded(types.CRON_JOBS, [item]).store.get(Key("shop", "nightly"))
    assert entry is not None
    found = {(ref.gvr, ref.key) for ref in references(types.CRON_JOBS, entry)}
    assert (types.SECRETS, Key("shop", "web-env")) in found
    assert found == targets(types.CRON_JOBS, entry.projection)


@pytest.mark.parametrize(
    ("gvr", "name", "expected"),
    [
        (
            types.INGRESSES,
            "front",
            {
                (types.SERVICES, "shop/web", "backend"),
                (types.SECRETS, "shop/front-tls", "certificate"),
                (types.INGRESS_CLASSES, "nginx", "class"),
            },
        ),
        (
            types.PERSISTENT_VOLUME_CLAIMS,
            "web-data",
            {(types.PERSISTENT_VOLUMES, "pv-1", "bound"), (types.STORAGE_CLASSES, "fast", "class")},
        ),
        (
            types.HORIZONTAL_POD_AUTOSCALERS,
            "web-hpa",
            {(types.DEPLOYMENTS, "shop/web", "scales")},
        ),
        (
            types.ROLE_BINDINGS,
            "view-web",
            {
                (types.ROLES, "shop/viewer", "role"),
                (types.SERVICE_ACCOUNTS, "shop/web", "subject"),
                (types.USERS, "alice", "subject"),
            },
        ),
        (types.ENDPOINT_SLICES, "web-x", {(types.SERVICES, "shop/web", "endpoints")}),
        (types.SERVICE_ACCOUNTS, "web", {(types.SECRETS, "shop/web-token", "secret")}),
    ],
    ids=lambda value: getattr(value, "resource", None),
)
def test_references_of_other_kinds(gvr: GVR, name: str, expected: set[Any]) -> None:
    found = references(gvr, entry_of(gvr, Key("shop", name)))
    assert {(ref.gvr, str(ref.key), ref.how) for ref in found} == expected


def test_route_may_reference_other_namespaces() -> None:
    item = {
        "metadata": {"name": "r", "namespace": "shop"},
        "spec": {
            "parentRefs": [
                {"name": "edge", "namespace": "infra"},
                {"group": "", "kind": "Service", "name": "mesh"},
                {"kind": "Service", "name": "not-in-the-group-of-gateways"},
            ],
            "rules": [{"backendRefs": [{"name": "web"}, {"kind": "Bucket", "name": "pictures"}]}],
        },
    }
    entry = preloaded(types.HTTP_ROUTES, [item]).store.get(Key("shop", "r"))
    assert entry is not None
    assert [(ref.gvr, str(ref.key)) for ref in references(types.HTTP_ROUTES, entry)] == [
        (types.GATEWAYS, "infra/edge"),
        (types.SERVICES, "shop/mesh"),
        (types.SERVICES, "shop/web"),
    ]


@pytest.mark.parametrize("kind", NAMING, ids=lambda kind: kind.segment)
def test_both_computations_agree_on_every_fixture(kind: ResourceKind) -> None:
    """The fixtures include hostile objects."""
    count = 0
    for entry in (
        informer_of(kind, [*objects_of(kind), _naming(kind)]).store.snapshot().entries.values()
    ):
        found = references(kind.gvr, entry)
        count += len(found)
        assert {ref.gvr for ref in found} <= set(kind.referenced_types)
        assert {ref.how for ref in found} <= HOW.keys()
        expected = {(ref.gvr, ref.key) for ref in found if ref.gvr != types.NODES}
        assert targets(kind.gvr, entry.projection) == expected
    assert count


def _naming(kind: ResourceKind) -> Obj:
    """Return an object of any kind with a pod template."""
    holder = item = named("naming")
    *parts, last = kind.pod_spec if kind.has_pod_template else ("spec",)
    for part in parts:
        holder[part] = {}
        holder = holder[part]
    holder[last] = spec() if kind.has_pod_template else {}
    return item


def test_kinds_that_can_reference_a_kind_are_known() -> None:
    secrets, events = kinds.by_type(types.SECRETS), kinds.by_type(types.EVENTS)
    assert secrets is not None and events is not None
    assert set(referring_types(secrets)) >= {types.PODS, types.DEPLOYMENTS, types.INGRESSES}
    assert referring_types(events) == ()


@pytest.mark.parametrize(
    "spec",
    [None, {"volumes": None}, {"volumes": [{"name": "v"}]}, {"containers": [{"env": [{}]}]},
     {"volumes": [{"configMap": {}}, {"secret": None}, {"projected": {"sources": [{}]}}]}],
    ids=str,
)  # fmt: skip
def test_empty_reference_is_ignored(spec: Any) -> None:
    item = {**a_pod("p"), "spec": spec}
    if spec is None:
        del item["spec"]
    entry = preloaded(types.PODS, [item]).store.get(Key("shop", "p"))
    assert entry is not None
    assert references(types.PODS, entry) == ()


def test_slash_in_a_name_does_not_change_the_namespace() -> None:
    item = a_pod("p", "team-b")
    item["spec"] = {"volumes": [{"name": "v", "secret": {"secretName": "shop/web-tls"}}]}
    entry = preloaded(types.PODS, [item]).store.get(Key("team-b", "p"))
    assert entry is not None
    expected = (types.SECRETS, Key("team-b", "shop/web-tls"))
    assert targets(types.PODS, entry.projection) == {expected}
    assert [(ref.gvr, ref.key) for ref in references(types.PODS, entry)] == [expected]

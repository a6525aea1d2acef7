"""Pages of unusual objects show what kubectl shows."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import yaml

from console.kube.gvr import (
    CLUSTER_ROLES,
    ENDPOINT_SLICES,
    GVR,
    INGRESSES,
    JOBS,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    POD_DISRUPTION_BUDGETS,
    PODS,
    RESOURCE_QUOTAS,
    ROLE_BINDINGS,
    SERVICES,
    STORAGE_CLASSES,
)
from tests.contract.cleanup import Cleanup
from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.cluster import Cluster, Kubectl
from tests.contract.objects import create_pod, unique
from tests.contract.pages import console_on, known
from tests.support.responses import text_of
from tests.views.conftest import ClientAs, _site

__all__ = ["_site"]

TYPES: Mapping[str, GVR] = {
    "Pod": PODS,
    "Ingress": INGRESSES,
    "Job": JOBS,
    "ResourceQuota": RESOURCE_QUOTAS,
    "PersistentVolumeClaim": PERSISTENT_VOLUME_CLAIMS,
    "Service": SERVICES,
    "PodDisruptionBudget": POD_DISRUPTION_BUDGETS,
    "RoleBinding": ROLE_BINDINGS,
    "ClusterRole": CLUSTER_ROLES,
    "StorageClass": STORAGE_CLASSES,
    "PersistentVolume": PERSISTENT_VOLUMES,
}


@dataclass(frozen=True)
class Odd:
    """The created objects, in a namespace and in the cluster."""

    namespace: str
    #: The ends of the names of cluster-scoped objects.
    stem: str

    async def text(self, segment: str, name: str, tab: str = "") -> str:
        """Return the text of the page's main part."""
        html = await self.html(segment, f"projects/{self.namespace}/{segment}/{name}{tab}")
        return plain(html)

    async def of_cluster(self, segment: str, name: str, tab: str = "") -> str:
        return plain(await self.html(segment, f"{segment}/{name}-{self.stem}{tab}"))

    async def html(self, segment: str, path: str) -> str:
        answer = await ClientAs()("admin").get(f"/clusters/host/{path}")
        html = await text_of(answer)
        assert answer.status_code == 200, html
        return html


def plain(html: str) -> str:
    main = html.partition("<main")[2].partition("</main>")[0]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", main)).split())


def of_cluster(stem: str) -> list[Obj]:
    """Return objects without a namespace. `sum` aggregates `part`."""
    group = "rbac.authorization.k8s.io/v1"
    label = {f"example.net/{stem}": "true"}
    labels = [{"matchLabels": label}]
    rules = [
        {"apiGroups": ["apps"], "resources": ["deployments/scale"], "verbs": ["patch"]},
        {"nonResourceURLs": ["/healthz"], "verbs": ["get"]},
    ]
    topology = {"key": "topology.kubernetes.io/zone", "values": ["south-1", "south-2"]}
    node = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["node-7"]}
    return [
        {
            "apiVersion": group,
            "kind": "ClusterRole",
            "metadata": {"name": f"part-{stem}", "labels": label},
            "rules": rules,
        },
        {
            "apiVersion": group,
            "kind": "ClusterRole",
            "metadata": {"name": f"sum-{stem}"},
            "aggregationRule": {"clusterRoleSelectors": labels},
        },
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": f"class-{stem}"},
            "provisioner": "disks.example.net",
            "mountOptions": ["discard"],
            "parameters": {"tier": "gold", "csi.storage.k8s.io/fstype": "btrfs"},
            "allowedTopologies": [{"matchLabelExpressions": [topology]}],
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"disk-{stem}"},
            "spec": {
                "capacity": {"storage": "50Gi"},
                "volumeMode": "Block",
                "accessModes": ["ReadWriteOncePod"],
                "storageClassName": f"class-{stem}",
                "local": {"path": "/dev/sdx7"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [node]}]}},
            },
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"share-{stem}"},
            "spec": {
                "capacity": {"storage": "5368709120"},
                "accessModes": ["ReadOnlyMany", "ReadWriteOnce"],
                "nfs": {"server": "files.example.net", "path": "/exports/7", "readOnly": True},
            },
        },
    ]


@pytest.fixture(scope="module")
def odd(cluster: Cluster, admin: Client, namespace: str) -> Iterator[Odd]:
    stem = unique("odd")
    source = Path(__file__).with_name("odd_objects.yaml").read_text().replace("SUM", f"sum-{stem}")
    with ExitStack() as stack, console_on(cluster, [*TYPES.values(), ENDPOINT_SLICES]) as runtime:
        cleanup = Cleanup(admin, stack)
        for body in (*of_cluster(stem), *yaml.safe_load_all(source)):
            gvr = TYPES[body["kind"]]
            status = body.pop("status", None)
            if body["kind"] == "Pod":
                made = create_pod(admin, namespace, body)
            elif "-odd-" in body["metadata"]["name"]:
                made = cleanup.create(gvr.path(), body)
            else:
                made = admin.post(gvr.path(namespace), body).ok()
            if status is not None:
                at = f"{gvr.path(namespace)}/{made['metadata']['name']}/status"
                made = admin.patch(at, {"status": status}, MERGE_PATCH).ok()
            known(runtime, gvr, made)
        yield Odd(namespace, stem)


async def test_pods_with_sidecars_are_counted_like_kubectl(odd: Odd, kubectl: Kubectl) -> None:
    lines = kubectl("get", "pods", "-l", "case=pods", "--no-headers").splitlines()
    theirs = {name: (ready, restarts) for name, ready, _s, restarts, *_ in map(str.split, lines)}
    assert len(theirs) == 4
    url = f"pods?namespace={odd.namespace}&label=case%3Dpods&format=json"
    answer = await ClientAs()("admin").get(f"/clusters/host/{url}")
    items: list[dict[str, Any]] = json.loads(await text_of(answer))["items"]
    assert {one["name"]: (one["ready"], str(one["restarts"])) for one in items} == theirs


@pytest.mark.parametrize(
    ("segment", "name", "shown"),
    [
        (
            "ingresses",
            "hosts-without-paths",
            ["*.shop.example.net all paths the default backend", "*.shop.example.net shop-tls"],
        ),
        ("ingresses", "only-default", ["Default backend catch-all:main"]),
        (
            "ingresses",
            "resource-backends",
            [
                "Default backend Archive.files.example.net/pages",
                "all hosts /img ImplementationSpecific Archive.files.example.net/images",
                "api.example.net /v1 Exact one:9090",
                "api.example.net / Prefix two:rpc",
            ],
        ),
        ("resourcequotas", "of-priorities", ["pods whose priority class is none of: batch, spot"]),
        (
            "resourcequotas",
            "of-best-effort",
            [
                "pods without requests and limits (BestEffort)",
                "pods with an active deadline (Terminating)",
            ],
        ),
        (
            "resourcequotas",
            "odd-units",
            [
                "requests.storage 20Gi of 1500M, 999 %",
                "configmaps 1 of 2k, 0 %",
                "requests.example.net/fpga 0 of 3, 0 %",
            ],
        ),
        (
            "persistentvolumeclaims",
            "from-claim",
            ["PersistentVolumeClaim/template-data", "tier=gold"],
        ),
        ("services", "headless-without-ports", ["Headless: DNS answers with the addresses"]),
        ("services", "alias", ["DNS answers with the external name mail.example.net."]),
        ("services", "manual-endpoints", ["sql-alt"]),
        (
            "services",
            "balancer",
            [
                "9443",
                "Allowed sources 198.51.100.0/24",
                "External traffic Local: traffic goes only to pods on the node",
                "Internal traffic Local: traffic goes only to pods on the client",
                "Load balancer balancer.example.net 203.0.113.77",
                "External IPs 192.0.2.99",
            ],
        ),
        (
            "jobs",
            "indexed",
            ["Completed indexes none yet", "Retry limit per index 2", "Completions 0/9"],
        ),
        ("jobs", "work-queue", ["Completions 0/1 of 5"]),
        ("poddisruptionbudgets", "evict-unhealthy", ["Can always be evicted (AlwaysAllow)."]),
    ],
)
async def test_page_describes_the_object(
    odd: Odd, segment: str, name: str, shown: list[str]
) -> None:
    text = await odd.text(segment, name)
    assert [one for one in shown if one not in text] == [], text


async def test_external_name_is_not_reported_as_broken(odd: Odd) -> None:
    assert "Nothing answers" not in await odd.text("services", "alias")


@pytest.mark.parametrize(
    ("segment", "name", "shown"),
    [
        (
            "storageclasses",
            "class",
            [
                "Mount options discard",
                "topology.kubernetes.io/zone in (south-1, south-2)",
                "tier gold",
                "csi.storage.k8s.io/fstype btrfs",
            ],
        ),
        (
            "persistentvolumes",
            "disk",
            [
                "Source: local disk of a node path /dev/sdx7",
                "Usable on nodes with kubernetes.io/hostname in (node-7)",
            ],
        ),
        (
            "persistentvolumes",
            "share",
            ["Source: NFS share server files.example.net path /exports/7 readOnly true"],
        ),
        ("clusterroles", "sum", ["deployments.apps/scale — patch", "/healthz get"]),
    ],
)
async def test_page_describes_the_object_of_the_cluster(
    odd: Odd, segment: str, name: str, shown: list[str]
) -> None:
    text = await odd.of_cluster(segment, name)
    assert [one for one in shown if one not in text] == [], text


async def test_cluster_role_lists_the_bindings_of_roles_that_aggregate_it(odd: Odd) -> None:
    text = await odd.of_cluster("clusterroles", "part", "/resources")
    assert "of-the-sum" in text and "No use of it is known here" not in text

"""The clusters as KubeSphere's Cluster objects, which the console doesn't store."""

from collections.abc import Sequence

from console.gateway.kapis.call import Call, ObjectList
from console.gateway.kapis.objects import list_manifests, not_found
from console.gateway.kapis.query import LIST_PARAMETERS, read_list
from console.gateway.kapis.routes import LIST, route
from console.kube.apply import Manifest
from console.kube.gvr import NODES
from console.kube.projections.tenancy import Workspace
from console.ui.core.clusters import HOST, Cluster, clusters

#: Label of the host cluster, as in KubeSphere. Its value is empty.
HOST_LABEL = "cluster-role.kubesphere.io/host"
RESOURCES, TENANT = "resources.kubesphere.io/v1alpha3", "tenant.kubesphere.io/v1alpha2"


def cluster_manifest(call: Call, cluster: Cluster) -> Manifest:
    """Return a cluster, with the number of nodes if the user may list them."""
    runtime = cluster.runtime
    informer = runtime.informers().get(NODES)
    ready = informer is not None and informer.freshness.stale_since is None
    status: Manifest = {
        "conditions": [
            {"type": "Ready", "status": str(ready), "reason": "Ready" if ready else "NotReady"}
        ]
    }
    version = cluster.kinds.served.version
    if version:
        status["kubernetesVersion"] = version.name
    if informer is not None and cluster.access_for(call.access.identity).can("list", NODES):
        status["nodeCount"] = len(informer.store)
    return {
        "kind": "Cluster",
        "apiVersion": "cluster.kubesphere.io/v1alpha1",
        "metadata": {
            "name": cluster.name,
            "labels": {HOST_LABEL: ""} if cluster.name == HOST else {},
        },
        "spec": {"enable": True, "joinFederation": True},
        "status": status,
    }


def list_clusters(call: Call, names: Sequence[str] | None = None) -> ObjectList:
    """Return the clusters, or those with the given `names`. All users see all clusters, as on the
    pages.
    """
    found = [one for one in clusters if names is None or one.name in names]
    return list_manifests(
        "clusters", [cluster_manifest(call, one) for one in found], read_list(call)
    )


def clusters_of(workspace: Workspace) -> Sequence[str] | None:
    """Return the names of a workspace's clusters, or None for all."""
    return None if workspace.everywhere else workspace.clusters


for _group in (RESOURCES, TENANT):

    @route("GET", _group, "/clusters", summary="List clusters", returns=LIST, query=LIST_PARAMETERS)
    async def get_clusters(call: Call) -> ObjectList:
        return list_clusters(call)


@route("GET", RESOURCES, "/clusters/{name}", summary="Get a cluster")
async def get_cluster(call: Call, name: str) -> Manifest:
    found = clusters.get(name)
    if found is None:
        raise not_found(f"clusters {name}")
    return cluster_manifest(call, found)

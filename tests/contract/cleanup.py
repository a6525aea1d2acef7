"""Cleanup after tests, because the clusters are shared."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from tests.contract.client import Client, Obj
from tests.contract.objects import NAMESPACES, path, unique


@dataclass
class Cleanup:
    """Cluster-scoped objects of a test that are deleted after it."""

    admin: Client
    stack: ExitStack

    def create(self, collection: str, body: Obj) -> Obj:
        """Create the object as the administrator and delete it after the test."""
        made: Obj = self.admin.post(collection, body).ok()
        self.forget(f"{collection}/{made['metadata']['name']}")
        return made

    def forget(self, path: str) -> None:
        """Delete the object at this path after the test. It may not exist."""
        self.stack.callback(self.admin.delete, path)


#: Types that keep controllers busy, or that would put pods on the nodes of the next test.
_BUSY = (
    *("apps/v1/deployments", "apps/v1/statefulsets", "apps/v1/daemonsets", "apps/v1/replicasets"),
    *("batch/v1/cronjobs", "batch/v1/jobs", "autoscaling/v2/horizontalpodautoscalers"),
)


@contextmanager
def temporary_namespace(admin: Client) -> Iterator[str]:
    """Create a namespace with a unique name. At the end only its workloads and pods are deleted.
    Deleting a namespace takes longer than most test modules, because the cluster looks for
    objects of every type in it.
    """
    name = unique("contract")
    admin.post(NAMESPACES, {"metadata": {"name": name}}).ok()
    yield name
    for one in _BUSY:
        group, _slash, plural = one.rpartition("/")
        admin.delete(path(name, plural, group=group), propagationPolicy="Background")
    # A grace period of 0, because there may be no kubelet.
    admin.delete(path(name, "pods"), gracePeriodSeconds=0)

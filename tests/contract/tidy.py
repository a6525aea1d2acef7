"""Cleaning up, so that the clusters can be shared."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from tests.contract.client import Client, Obj
from tests.contract.objects import NAMESPACES, path, unique


@dataclass
class Scrap:
    """What a test leaves in no namespace."""

    admin: Client
    stack: ExitStack

    def create(self, collection: str, body: Obj) -> Obj:
        """Creates it as the administrator, to be deleted after the test."""
        made: Obj = self.admin.post(collection, body).ok()
        self.forget(f"{collection}/{made['metadata']['name']}")
        return made

    def forget(self, path: str) -> None:
        """Deletes that after the test, whether or not it is still there."""
        self.stack.callback(self.admin.delete, path)


#: What controllers keep at work, or would put on the next test's nodes.
_BUSY = (
    *("apps/v1/deployments", "apps/v1/statefulsets", "apps/v1/daemonsets", "apps/v1/replicasets"),
    *("batch/v1/cronjobs", "batch/v1/jobs", "autoscaling/v2/horizontalpodautoscalers"),
)


@contextmanager
def temporary_namespace(admin: Client) -> Iterator[str]:
    """A namespace of a name of its own. It stays until the cluster ends, without what does anything: to
    delete it takes the cluster more than most files of tests, since it looks for each type in it."""
    name = unique("contract")
    admin.post(NAMESPACES, {"metadata": {"name": name}}).ok()
    yield name
    for one in _BUSY:
        group, _slash, plural = one.rpartition("/")
        admin.delete(path(name, plural, group=group), propagationPolicy="Background")
    # At once, for there may be no kubelet.
    admin.delete(path(name, "pods"), gracePeriodSeconds=0)

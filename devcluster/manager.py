"""Controller manager: runs the simulated controllers with one work queue on the cluster's event
loop.
"""

import asyncio
import logging

from devcluster.churn import Churn
from devcluster.cluster import Cluster
from devcluster.controllers.base import Controller
from devcluster.controllers.budgets import BudgetController
from devcluster.controllers.daemonsets import DaemonSetController
from devcluster.controllers.definitions import DefinitionController
from devcluster.controllers.deployments import DeploymentController
from devcluster.controllers.endpoints import EndpointController
from devcluster.controllers.events import EventCleaner
from devcluster.controllers.garbage import GarbageCollector
from devcluster.controllers.jobs import CronJobController, JobController
from devcluster.controllers.kubelet import Kubelet
from devcluster.controllers.namespaces import NamespaceContentController, NamespaceController
from devcluster.controllers.nodes import NodeController, PodCleaner
from devcluster.controllers.quotas import QuotaController
from devcluster.controllers.replicasets import ReplicaSetController
from devcluster.controllers.scheduling import Scheduler
from devcluster.controllers.signing import CertificateSigner
from devcluster.controllers.snapshots import SnapshotController
from devcluster.controllers.statefulsets import StatefulSetController
from devcluster.controllers.tokens import ServiceAccountTokenController
from devcluster.controllers.volumes import VolumeController
from devcluster.errors import StatusError
from devcluster.pki import Authority
from devcluster.sample_data import SampleOptions, is_seeded, seed_sample_data
from devcluster.store import Change, Record

_log = logging.getLogger(__name__)
# Seconds until a failed key is retried.
_RETRY = 1.0
# While the sample data is created, work that is due within this many seconds runs immediately.
_MOMENTS = 3.0
_Item = tuple[int, str]


class ControllerManager:
    """Run the controllers. A key that is queued several times is reconciled once.

    `sample` is None for a cluster without sample data.
    """

    def __init__(
        self, cluster: Cluster, authority: Authority, *, sample: SampleOptions | None
    ) -> None:
        self._cluster, self._sample = cluster, sample
        objects, certificate = cluster.objects, authority.pem.decode()
        self._kubelet = Kubelet(objects)
        self._controllers: list[Controller] = [
            NamespaceController(objects),
            NamespaceContentController(objects, certificate),
            ServiceAccountTokenController(objects, cluster.tokens, certificate),
            CertificateSigner(objects, authority),
            GarbageCollector(objects),
            DefinitionController(objects),
            DeploymentController(objects),
            ReplicaSetController(objects),
            StatefulSetController(objects),
            DaemonSetController(objects),
            CronJobController(objects),
            JobController(objects),
            Scheduler(objects),
            self._kubelet,
            VolumeController(objects),
            SnapshotController(objects),
            QuotaController(objects),
            BudgetController(objects),
            EndpointController(objects),
            NodeController(objects),
            PodCleaner(objects),
            EventCleaner(objects),
        ]
        # A dictionary keeps the insertion order; a set doesn't.
        self._queue: dict[_Item, None] = {}
        self._wake, self._idle = asyncio.Event(), asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._later: set[asyncio.TimerHandle] = set()
        self._hurry = False

    async def start(self) -> None:
        """Reconcile all existing keys, then reconcile keys when their objects change."""
        self._cluster.store.observers.append(self._changed)
        for index, controller in enumerate(self._controllers):
            for key in controller.all_keys():
                self._add((index, key))
        self._drain_queue()
        if self._sample is not None:
            self._start_world(self._sample)
        self._tasks.append(asyncio.create_task(self._run(), name="controllers"))

    def _start_world(self, sample: SampleOptions) -> None:
        cluster = self._cluster
        if not is_seeded(cluster):
            with cluster.store.batch():
                seed_sample_data(cluster, self._fast_forward, sample.seed)
        if sample.churn > 0:
            churn = Churn(cluster, self._restart, sample.seed, sample.churn)
            self._tasks.append(asyncio.create_task(churn.run(), name="churn"))

    def _fast_forward(self) -> None:
        """Process all work that is due within `_MOMENTS` seconds."""
        self._hurry = self._kubelet.fast_forward = True
        try:
            self._drain_queue()
        finally:
            self._hurry = self._kubelet.fast_forward = False

    def _restart(self, pod: Record) -> None:
        """Kill one container of the pod. The kubelet restarts it a second later."""
        self._kubelet.kill_container(pod)
        self._add_later((self._controllers.index(self._kubelet), pod.key), 1.0)

    async def stop(self) -> None:
        for handle in self._later:
            handle.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def wait_until_idle(self) -> None:
        """Wait until the queue is empty."""
        await self._idle.wait()

    def _changed(self, collection: str, change: Change) -> None:
        for index, controller in enumerate(self._controllers):
            for key in controller.keys_of(collection, change):
                self._add((index, key))

    def _add(self, item: _Item) -> None:
        self._queue[item] = None
        self._idle.clear()
        self._wake.set()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._queue:
                self._step()
                # Let pending requests run between two steps.
                await asyncio.sleep(0)
            self._idle.set()

    def _drain_queue(self) -> None:
        """Process the queue synchronously, so that a cluster is settled when it starts."""
        while self._queue:
            self._step()

    def _step(self) -> None:
        item = next(iter(self._queue))
        del self._queue[item]
        index, key = item
        controller = self._controllers[index]
        try:
            after = controller.reconcile(key)
        except StatusError as error:
            _log.debug("%s %s: %s", controller.name, key, error)
            after = _RETRY
        except Exception:  # noqa: BLE001 - an error must not stop the other controllers
            _log.exception("%s failed for %s", controller.name, key)
            after = _RETRY
        if after is not None:
            self._add_later(item, after)

    def _add_later(self, item: _Item, seconds: float) -> None:
        if self._hurry and seconds <= _MOMENTS:
            self._add(item)
            return

        def add() -> None:
            self._later.discard(handle)
            self._add(item)

        handle = asyncio.get_running_loop().call_later(seconds, add)
        self._later.add(handle)

"""Random changes to the sample data: rollouts, container restarts, replaced pods and scaling."""

import asyncio
import random
from collections.abc import Callable

from devcluster.cluster import Cluster
from devcluster.controllers.pods import is_ready
from devcluster.errors import StatusError
from devcluster.objects import Obj, meta, timestamp
from devcluster.sample.catalog import catalog
from devcluster.store import Record
from devcluster.write_options import Deletion, Mutation, Write

# Seconds between two changes.
_PAUSE = (12.0, 35.0)
_DEPLOYMENTS, _BACKUPS = "deployments.apps", "backups.backup.shop.example"


class Churn:
    """Change healthy objects of the sample data at random intervals.

    `restart` terminates a container of a pod. `pace` scales the rate: 2 means twice as many
    changes.
    """

    def __init__(
        self, cluster: Cluster, restart: Callable[[Record], None], seed: int, pace: float
    ) -> None:
        self._cluster, self._restart_pod = cluster, restart
        self._pace = pace
        self._chance = random.Random(seed)  # noqa: S311 - sample data needs no secure randomness

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._chance.uniform(*_PAUSE) / self._pace)
            act = self._chance.choices(
                (self._restart, self._replace, self._roll, self._scale, self._back_up),
                (5, 3, 2, 2, 2),
            )[0]
            try:
                act()
            except StatusError:
                # The object was changed or deleted at the same time. Skip this change.
                continue

    def _pod(self) -> Record | None:
        pods = [
            record
            for namespace in catalog().namespaces
            for record in self._cluster.store.collection("pods").records_in(namespace)
            if not record.deleting and record.owners and is_ready(record.load())
        ]
        return self._chance.choice(pods) if pods else None

    def _deployment(self) -> Record | None:
        found = []
        for namespace in catalog().namespaces:
            for record in self._cluster.store.collection(_DEPLOYMENTS).records_in(namespace):
                status = record.load().get("status") or {}
                if status.get("availableReplicas") and not status.get("unavailableReplicas"):
                    found.append(record)
        return self._chance.choice(found) if found else None

    def _restart(self) -> None:
        pod = self._pod()
        if pod:
            self._restart_pod(pod)

    def _replace(self) -> None:
        pod = self._pod()
        if pod:
            declared = self._cluster.registry.get("pods")
            self._cluster.objects.delete(declared, pod.namespace, pod.name, Deletion())

    def _roll(self) -> None:
        def mutate(deployment: Obj) -> Obj:
            about = meta(deployment["spec"]["template"])
            notes = about.setdefault("annotations", {})
            notes["kubectl.kubernetes.io/restartedAt"] = timestamp()
            return deployment

        self._update(mutate)

    def _scale(self) -> None:
        def mutate(deployment: Obj) -> Obj:
            now = int(deployment["spec"]["replicas"])
            deployment["spec"]["replicas"] = max(1, min(7, now + self._chance.choice((-1, 1))))
            return deployment

        self._update(mutate)

    def _back_up(self) -> None:
        """Update the status of a custom resource the way its controller would."""
        records = self._cluster.store.collection(_BACKUPS).records_in()
        if not records:
            return
        backup = self._chance.choice(records).load()
        status = backup["status"]
        if "finished" in status:
            status["finished"] = timestamp()
            status["size"] = f"{self._chance.randrange(4, 120)}Gi"
            self._cluster.store.put(_BACKUPS, backup)

    def _update(self, mutate: Mutation) -> None:
        record = self._deployment()
        if record:
            declared = self._cluster.registry.get(_DEPLOYMENTS)
            self._cluster.objects.update(
                declared, "v1", record.namespace, record.name, mutate, Write()
            )

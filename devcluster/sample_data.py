"""Sample data: nodes, workloads and their history, generated once from a seed.

`seed_sample_data` creates manifests, lets the simulated controllers reconcile them, and then moves all
timestamps into the past. The same seed results in the same names, addresses and problems. Times
are relative to the current time.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from devcluster.cluster import Cluster
from devcluster.controllers.behaviour import ANNOTATION, IMAGE_ANNOTATION
from devcluster.controllers.cron import next_time
from devcluster.controllers.jobs import CronJobController
from devcluster.custom_types import CRDS
from devcluster.objects import Obj, meta, parse_time, predictable, suffix, timestamp
from devcluster.rbac import CLUSTER_ROLES
from devcluster.sample import addons, custom_resources, manifests, problems
from devcluster.sample.aging import age_by, evicted_pod, restart_often
from devcluster.sample.catalog import Workload, catalog
from devcluster.sample.nodes import nodes
from devcluster.store import Record, key_of
from devcluster.write_options import Write

_SEEDED = "sampleWorld"
_OLDEST = timedelta(days=241)
_STUCK_FINALIZER = "storage.shop.example/release-lock"
#: Deployments with a recent broken rollout: old tag, new tag, behavior.
_BROKEN = {
    ("web", "image-resizer"): ("0.9.7", "0.9.8-rc", "pull-fails"),
    ("data", "feature-store"): ("2.2.1", "2.2.2", "never-ready"),
}


@dataclass(frozen=True, slots=True)
class SampleOptions:
    """Options of the sample data.

    The same `seed` creates the same data. `churn` scales the rate of random changes: 0 disables
    them, 1 is an occasional change, 2 twice as many.
    """

    seed: int
    churn: float


def is_seeded(cluster: Cluster) -> bool:
    return cluster.store.database.setting(_SEEDED) is not None


def seed_sample_data(cluster: Cluster, fast_forward: Callable[[], None], seed: int) -> None:
    """Create the sample data in an empty cluster and record that it was created.

    `fast_forward` runs all controller work that is due soon.
    """
    with predictable(seed) as chance:
        _create(cluster)
        fast_forward()
        _past_jobs(cluster)
        fast_forward()
        _break_rollouts(cluster)
        fast_forward()
        _delete_normal_events(cluster)
        _Aging(cluster, chance).apply()
        _add_leftover_pods(cluster, chance)
        _set_clocks(cluster)
        _extend(cluster)
        problems.report(cluster)
    cluster.store.compact()
    cluster.store.database.set(_SEEDED, str(seed))


def _delete_normal_events(cluster: Cluster) -> None:
    """Delete the Normal events, which would have expired long ago."""
    for record in cluster.store.collection("events").records_in():
        if record.fields["type"] == "Normal":
            cluster.store.remove("events", record.key)


def _create(cluster: Cluster) -> None:
    for node in nodes():
        cluster.ensure("nodes", node)
    for namespace in manifests.namespaces():
        cluster.ensure("namespaces", namespace)
    for definition in (*custom_resources.definitions(), *addons.definitions()):
        cluster.ensure(CRDS, definition)
    cluster.ensure(CLUSTER_ROLES, custom_resources.reader_role())
    for collection, obj in (*manifests.other_objects(), *problems.objects()):
        cluster.ensure(collection, obj)
    for work in catalog().workloads:
        cluster.ensure(manifests.COLLECTIONS[work.kind], manifests.workload(work))
        if work.kind in ("Deployment", "StatefulSet"):
            cluster.ensure("services", manifests.service(work))
    for pod in manifests.static_pods():
        cluster.ensure("pods", pod)


def _extend(cluster: Cluster) -> None:
    """Create custom resources with the status that their controllers would have set."""
    for collection, obj in (*custom_resources.resources(), *addons.resources()):
        status = obj.pop("status", None)
        cluster.ensure(collection, obj)
        about = meta(obj)
        record = cluster.store.find(collection, key_of(about.get("namespace", ""), about["name"]))
        if record:
            made = record.load()
            born = datetime.now(UTC) - _age_of_home(record.namespace)
            meta(made)["creationTimestamp"] = timestamp(born)
            cluster.store.put(collection, made if status is None else {**made, "status": status})


def _age_of_home(namespace: str) -> timedelta:
    home = catalog().namespaces.get(namespace)
    return timedelta(days=home.age) if home else _OLDEST


def _past_jobs(cluster: Cluster) -> None:
    """Create the last jobs of every cron job."""
    for record in cluster.store.collection("cronjobs.batch").records_in():
        for moment in _last_times(record.load()["spec"]["schedule"]):
            CronJobController(cluster.objects).make_job(record.load(), moment)


def _last_times(schedule: str) -> list[datetime]:
    """Return the last three times of a schedule that runs at least once a day."""
    now = datetime.now(UTC)
    moment, found = next_time(schedule, now - timedelta(days=4)), []
    while moment and moment <= now:
        found.append(moment)
        moment = next_time(schedule, moment)
    return found[-3:]


def _set_clocks(cluster: Cluster) -> None:
    """Set the last schedule time of cron jobs, so that missed runs since their creation are not
    started.
    """
    for record in cluster.store.collection("cronjobs.batch").records_in():
        cron = record.load()
        last = timestamp(_last_times(cron["spec"]["schedule"])[-1])
        cron["status"] = {"lastScheduleTime": last, "lastSuccessfulTime": last}
        cluster.store.put("cronjobs.batch", cron)


def _break_rollouts(cluster: Cluster) -> None:
    """Start rollouts that don't complete: one to a missing image, one to pods that never become
    ready.
    """
    declared = cluster.registry.get("deployments.apps")
    for (namespace, name), (old, new, behaviour) in _BROKEN.items():

        def mutate(
            deployment: Obj, old: str = old, new: str = new, behaviour: str = behaviour
        ) -> Obj:
            template = deployment["spec"]["template"]
            container = template["spec"]["containers"][0]
            container["image"] = container["image"].replace(f":{old}", f":{new}")
            notes = {ANNOTATION: behaviour, IMAGE_ANNOTATION: container["image"]}
            meta(template)["annotations"] = notes
            return deployment

        cluster.objects.update(declared, "v1", namespace, name, mutate, Write())


class _Aging:
    """Move the timestamps of all objects into the past, by the ages in the catalog."""

    def __init__(self, cluster: Cluster, chance: random.Random) -> None:
        self._store, self._chance = cluster.store, chance
        self._works = {(w.namespace, w.name): w for w in catalog().workloads}

    def apply(self) -> None:
        for name in list(self._store.collections):
            for record in self._store.collection(name).records_in():
                obj = record.load()
                aged = age_by(obj, self._age(name, record, obj))
                if name == "pods":
                    self._restarts(record, aged)
                self._store.put(name, aged)

    def _age(self, collection: str, record: Record, obj: Obj) -> timedelta:
        if collection == "namespaces":
            return _age_of_home(record.name)
        if collection == "events":
            return timedelta(minutes=self._chance.randrange(1, 25))
        if collection == "jobs.batch" or "job-name" in record.labels:
            return self._job_age(record, obj)
        work = self._work(record)
        if work is None:
            return _age_of_home(record.namespace)
        if collection not in ("pods", "replicasets.apps"):
            return timedelta(days=work.age)
        broken = _BROKEN.get((work.namespace, work.name))
        if broken and f"'{broken[2]}'" in str(obj):
            return timedelta(minutes=38)
        # Creation times of pods in a rollout are spread over its duration.
        spread = timedelta(seconds=self._chance.randrange(5, 90))
        return timedelta(days=work.rolled) - (spread if collection == "pods" else timedelta())

    def _work(self, record: Record) -> Workload | None:
        name = record.labels.get("app.kubernetes.io/name", record.name)
        return self._works.get((record.namespace, name))

    def _job_age(self, record: Record, obj: Obj) -> timedelta:
        """Return the age of a job, whose name contains its scheduled time in minutes since 1970."""
        name = record.labels.get("job-name", record.name)
        minutes = name.rpartition("-")[2]
        if not minutes.isdigit():
            return timedelta(hours=1)
        ran = datetime.fromtimestamp(int(minutes) * 60, UTC)
        return parse_time(meta(obj)["creationTimestamp"]) - ran

    def _restarts(self, record: Record, pod: Obj) -> None:
        if "'crash " in str(meta(pod).get("annotations")):
            restart_often(pod, self._chance.randrange(180, 320), timedelta(minutes=3))
        elif pod["status"].get("phase") == "Running" and self._chance.random() < 0.12:
            age = datetime.now(UTC) - parse_time(meta(pod)["creationTimestamp"])
            last = age * self._chance.uniform(0.1, 0.8)
            restart_often(pod, self._chance.randrange(1, 5), last)


def _add_leftover_pods(cluster: Cluster, chance: random.Random) -> None:
    """Create evicted pods that were not deleted, and a pod that is stuck terminating."""
    workers = _pods_of(cluster, "checkout", "order-worker")
    for hours in (5, 31):
        name = f"{workers[0].name.rpartition('-')[0]}-{suffix()}"
        _put_pod(cluster, evicted_pod(workers[0].load(), name), timedelta(hours=hours))
    stuck = chance.choice(_pods_of(cluster, "ci", "cache")).load()
    about = meta(stuck)
    about["name"] = f"{about['name'].rpartition('-')[0]}-{suffix()}"
    about["finalizers"] = [_STUCK_FINALIZER]
    end = {"deletionTimestamp": timestamp(), "deletionGracePeriodSeconds": 30}
    _put_pod(cluster, stuck, timedelta(hours=2), **end)


def _put_pod(cluster: Cluster, pod: Obj, age: timedelta, **end: object) -> None:
    """Create a pod with its status and age. `end` contains the deletion fields of its metadata."""
    about, status = meta(pod), pod["status"]
    for key in ("uid", "resourceVersion", "creationTimestamp", "generation"):
        about.pop(key, None)
    declared = cluster.registry.get("pods")
    made = cluster.objects.create(declared, "v1", about["namespace"], pod, Write())
    made["status"] = status
    meta(made).update(end)
    cluster.store.put("pods", age_by(made, age))


def _pods_of(cluster: Cluster, namespace: str, name: str) -> list[Record]:
    pods = cluster.store.collection("pods").records_in(namespace)
    return [pod for pod in pods if pod.labels.get("app.kubernetes.io/name") == name]

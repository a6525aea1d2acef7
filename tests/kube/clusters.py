"""A runtime on a real control plane, and helpers for its tests."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from console.kube.informer import Informer
from console.kube.runtime import Runtime
from tests.controlplane.cluster import ControlPlane

__all__ = ["apply", "live", "names", "running"]


@contextmanager
def running(cluster: ControlPlane, **options: Any) -> Iterator[Runtime]:
    runtime = Runtime(kubeconfig=str(options.pop("kubeconfig", cluster.kubeconfig)), **options)
    runtime.start()
    try:
        yield runtime
    finally:
        runtime.stop()


def live(informer: Informer[Any]) -> bool:
    return informer.freshness.synced and informer.freshness.stale_since is None


def names(informer: Informer[Any]) -> set[str]:
    return {str(key) for key in informer.store.snapshot().entries}


def apply(cluster: ControlPlane, *objects: dict[str, Any]) -> None:
    for item in objects:
        done = cluster.kubectl("apply", "-f", "-", input=json.dumps(item))
        assert done.returncode == 0, done.stderr

"""A control plane full of pods, started from a saved copy of etcd's data.

Loading takes about a minute per 10,000 pods. Starting from a copy takes seconds, and every run
has the same objects. The copies are in the cache folder and can be deleted at any time.
"""

import asyncio
import http.client
import os
import shutil
from pathlib import Path
from urllib.parse import urlsplit

from bench.loading import FORMAT, load, nodes_for
from bench.writing import Access
from tests.controlplane.build import TOOLS, Report, version_of
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.layout import MASTERS

USER = "bench"


class LoadedControlPlane(ControlPlane):
    """etcd and kube-apiserver with `pods` pods on simulated nodes. No controller or kubelet changes
    them.
    """

    def __init__(self, pods: int, *, report: Report) -> None:
        super().__init__(with_controllers=False, users={USER: (MASTERS,)}, report=report)
        self.pods = pods

    @property
    def access(self) -> Access:
        return Access(self.url, self.ca_file, self.token(USER))

    @property
    def etcd_url(self) -> str:
        return self._layout.etcd_url

    def start(self) -> None:
        saved = _saved(self.pods)
        if not saved.exists():
            self._save(saved)
        shutil.copytree(saved, self._data)
        super().start()

    @property
    def _data(self) -> Path:
        return self._layout.folder / "etcd"

    def _save(self, target: Path) -> None:
        """Load a separate cluster and save its data atomically."""
        with _Loading(self.pods, report=self._report) as cluster:
            cluster.fill()
            unfinished = target.with_name(f".{target.name}.{os.getpid()}")
            try:
                cluster.take(unfinished)
                unfinished.replace(target)
            finally:
                shutil.rmtree(unfinished, ignore_errors=True)


class _Loading(LoadedControlPlane):
    """An empty control plane to fill and copy."""

    def start(self) -> None:
        ControlPlane.start(self)

    def fill(self) -> None:
        self._report(f"loading {self.pods} pods ")
        self.add_nodes(nodes_for(self.pods))
        asyncio.run(load(self.access, self.pods, lambda _done: self._report(".")))
        self._report("\n")

    def take(self, target: Path) -> None:
        """Save a copy of the data without history, after all writers have stopped."""
        self.compact()
        self.kill()
        _defragment(self._layout.etcd_url)
        self._component("etcd").kill()
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(self._data, target)


def cache_folder() -> Path:
    """Return the folder for files that are expensive to create."""
    root = os.environ.get("QUARTERDECK_CACHE") or str(Path.home() / ".cache" / "quarterdeck")
    return Path(root).absolute()


def _saved(pods: int) -> Path:
    version = version_of(TOOLS["kube-apiserver"])
    return cache_folder() / "bench" / f"etcd-{version}-{pods}-{FORMAT}"


def _defragment(url: str) -> None:
    """Release the space of compacted revisions. etcd serves no other requests in the meantime."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=300)
    try:
        connection.request("POST", "/v3/maintenance/defragment", "{}")
        response = connection.getresponse()
        text = response.read().decode()
    finally:
        connection.close()
    if response.status != http.client.OK:
        raise OSError(f"etcd did not defragment: {text}")

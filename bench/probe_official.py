"""Process that runs the official package's pod informer, and prints one line of JSON.

    python -m bench.probe_official KUBECONFIG [SELECTOR]

The informer doesn't report when it has synced. It calls its handlers once the complete list is
in its cache, so the first call marks that moment.
"""

import sys
import threading
import time
from typing import Any

import msgspec
from kubernetes import client, config
from kubernetes.informer import ADDED, SharedInformer

from bench.memory import measure
from bench.probing import Probe

_SECONDS = 600.0


def main(kubeconfig: str, selector: str | None) -> None:
    synced = threading.Event()
    started = time.monotonic()
    # The package has no type annotations.
    load: Any = config.load_kube_config
    make: Any = SharedInformer
    load(kubeconfig)
    informer = make(client.CoreV1Api().list_pod_for_all_namespaces, label_selector=selector)
    informer.add_event_handler(ADDED, lambda _pod: synced.set())
    informer.start()
    if not synced.wait(_SECONDS):
        raise SystemExit(f"not synced in {_SECONDS:g} s")
    seconds = time.monotonic() - started
    probe = Probe(len(informer.cache.list_keys()), seconds, *measure())
    sys.stdout.write(msgspec.json.encode(probe).decode() + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)

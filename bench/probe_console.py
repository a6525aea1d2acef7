"""Process that runs only the console's pod informer, and prints one line of JSON.

    python -m bench.probe_console KUBECONFIG [--empty]

`--empty` syncs a type without objects, to measure the baseline memory of the process.
"""

import asyncio
import sys
import time

import msgspec

from bench.memory import measure
from bench.probing import Probe
from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS, PODS
from console.kube.runtime import Runtime

_SECONDS = 600.0


def main(kubeconfig: str, *, empty: bool) -> None:
    gvr = CUSTOM_RESOURCE_DEFINITIONS if empty else PODS
    started = time.monotonic()
    runtime = Runtime(kubeconfig=kubeconfig)
    runtime.start()
    if not asyncio.run(runtime.wait_synced(gvr, timeout=_SECONDS)):
        raise SystemExit(f"not synced in {_SECONDS:g} s")
    seconds = time.monotonic() - started
    objects = len(runtime.informer(gvr).store)
    probe = Probe(objects, seconds, *measure())
    sys.stdout.write(msgspec.json.encode(probe).decode() + "\n")
    runtime.stop()


if __name__ == "__main__":
    main(sys.argv[1], empty="--empty" in sys.argv)

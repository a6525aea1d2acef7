"""Time and memory for a cache of all pods, compared with client-go."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench.cluster import LoadedControlPlane
from bench.probing import Probe, run_probe
from bench.reference import go_program
from bench.result import Result
from tests.controlplane.build import Report

#: With more pods than this, the official informer gets only tenths of them, and client-go reads
#: JSON only once. Otherwise both would take minutes.
_MANY_PODS = 10_000
_NO_NAMESPACE = "no-such-namespace"
_JSON = "application/json"


@dataclass(slots=True)
class _Measured:
    """Runs of one cache. `empty`: a run without objects."""

    empty: Probe
    runs: list[Probe] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return median(run.seconds for run in self.runs)

    @property
    def seconds_per_object(self) -> float:
        return median(run.seconds / run.objects for run in self.runs)

    @property
    def resting_per_object(self) -> float:
        """Bytes per object, minus the same process without objects."""
        return median((run.released - self.empty.released) / run.objects for run in self.runs)

    @property
    def unreleased_per_object(self) -> float:
        """Like `resting_per_object`, before free pages are returned to the kernel."""
        return median((run.resting - self.empty.resting) / run.objects for run in self.runs)

    @property
    def process_per_object(self) -> float:
        """Bytes of the whole process per object."""
        return median(run.released / run.objects for run in self.runs)

    @property
    def peak_per_object(self) -> float:
        """Peak bytes per object, minus the peak of a process without objects."""
        return median((run.peak - self.empty.peak) / run.objects for run in self.runs)

    @property
    def peak_over_resting(self) -> float:
        return median(run.peak / run.released for run in self.runs)


def measure(cluster: LoadedControlPlane, rounds: int, report: Report) -> list[Result]:
    """Run the probes in turn, so that other load on the machine affects all equally."""
    kubeconfig = cluster.kubeconfig
    go = [str(go_program("clientgo", report)), "-kubeconfig", str(kubeconfig)]
    as_json = [*go, "-content-type", _JSON]
    # The first reader makes the server fill its caches, so it isn't counted.
    run_probe(_console(kubeconfig))
    empty_go = run_probe([*go, "-namespace", _NO_NAMESPACE])
    ours = _Measured(run_probe([*_console(kubeconfig), "--empty"]))
    theirs, theirs_json = _Measured(empty_go), _Measured(empty_go)
    for number in range(rounds):
        report(f"sync, round {number + 1} of {rounds}\n")
        ours.runs.append(run_probe(_console(kubeconfig)))
        theirs.runs.append(run_probe(go))
        if number == 0 or cluster.pods <= _MANY_PODS:
            theirs_json.runs.append(run_probe(as_json))
    report("sync, the official informer\n")
    official = run_probe(_official(kubeconfig, cluster.pods))
    return [
        *_times(ours, theirs, theirs_json, official),
        *_memory(ours, theirs, official),
    ]


def _console(kubeconfig: Path) -> list[str]:
    return [sys.executable, "-m", "bench.probe_console", str(kubeconfig)]


def _official(kubeconfig: Path, pods: int) -> Sequence[str]:
    command = [sys.executable, "-m", "bench.probe_official", str(kubeconfig)]
    tenths = max(1, min(10, _MANY_PODS * 10 // pods))
    return [*command, f"part in ({','.join(str(part) for part in range(tenths))})"]


def _times(
    ours: _Measured, theirs: _Measured, theirs_json: _Measured, official: Probe
) -> list[Result]:
    n = ours.runs[0].objects
    scaled = official.seconds / official.objects / ours.seconds_per_object
    return [
        Result("sync_seconds", n, ours.seconds, "s"),
        Result("sync_seconds_client_go", n, theirs.seconds, "s"),
        Result("sync_seconds_client_go_json", n, theirs_json.seconds, "s"),
        Result("sync_seconds_official_informer", official.objects, official.seconds, "s"),
        Result("sync_ratio_client_go", n, ours.seconds / theirs.seconds, "x"),
        Result("sync_ratio_client_go_json", n, ours.seconds / theirs_json.seconds, "x"),
        Result("sync_ratio_official_informer", official.objects, scaled, "x"),
    ]


def _memory(ours: _Measured, theirs: _Measured, official: Probe) -> list[Result]:
    n = ours.runs[0].objects
    resting = ours.resting_per_object / theirs.resting_per_object
    unreleased = ours.unreleased_per_object / theirs.unreleased_per_object
    process = ours.process_per_object / theirs.process_per_object
    peak = ours.peak_per_object / theirs.peak_per_object
    per_object = official.released / official.objects
    return [
        Result("bytes_per_object", n, ours.resting_per_object, "B"),
        Result("bytes_per_object_client_go", n, theirs.resting_per_object, "B"),
        Result("process_bytes_per_object", n, ours.process_per_object, "B"),
        Result("process_bytes_per_object_client_go", n, theirs.process_per_object, "B"),
        Result("process_bytes_per_object_official_informer", official.objects, per_object, "B"),
        Result("memory_ratio_client_go", n, resting, "x"),
        Result("memory_ratio_client_go_unreleased", n, unreleased, "x"),
        Result("memory_ratio_client_go_process", n, process, "x"),
        Result("memory_ratio_client_go_peak", n, peak, "x"),
        Result("sync_peak_over_resting", n, ours.peak_over_resting, "x"),
        Result("sync_peak_over_resting_client_go", n, theirs.peak_over_resting, "x"),
    ]

"""`python -m bench`: run all benchmarks against a control plane of each size."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from bench import (
    audit,
    browse,
    browser,
    chart,
    edits,
    frames,
    gateway,
    live,
    machine,
    pages,
    relist,
    replay,
    result,
    rights,
    sign_ins,
    streams,
    sync,
    targets,
    wizards,
)
from bench.cluster import LoadedControlPlane
from bench.etcdwriting import PROGRAM
from bench.reference import go_program
from bench.result import Result
from tests.controlplane.build import BuildError, Report

_FOLDER = Path(__file__).parent
LATEST = _FOLDER / "latest.json"
CHART = _FOLDER.parent / "docs" / "bench.svg"

#: Benchmarks in the order in which they run. Later ones change pods.
MEASUREMENTS: Mapping[str, Callable[[LoadedControlPlane, int, Report], list[Result]]] = {
    "sync": sync.measure,
    "recorded": replay.measure,
    "live": live.measure,
    "pages": pages.measure,
    "browse": browse.measure,
    "wizards": wizards.measure,
    "relist": relist.measure,
    "frames": frames.measure,
    "browser": browser.measure,
    "signins": sign_ins.measure,
    "acting": edits.measure,
    "gateway": gateway.measure,
}
#: Benchmarks that don't need the loaded control plane.
ALONE: Mapping[str, Callable[[], list[Result]]] = {
    "rights": rights.measure,
    "audit": audit.measure,
    "streams": streams.measure,
}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", choices=[*ALONE, *MEASUREMENTS], action="append",
                        metavar="NAME",
                        help=f"run only this ({', '.join((*ALONE, *MEASUREMENTS))})")  # fmt: skip
    parser.add_argument("--store", action="store_true",
                        help="with --only: replace these results in bench/latest.json")  # fmt: skip
    options = parser.parse_args(arguments)
    only = options.only
    sizes = [int(size) for size in os.environ.get("BENCH_PODS", "10000").split(",")]
    rounds = int(os.environ.get("BENCH_ROUNDS", "3"))
    wanted = only or (*ALONE, *MEASUREMENTS)
    failed: list[str] = []
    results = [
        one
        for name, measure in ALONE.items()
        if name in wanted
        for one in _attempt(name, measure, failed)
    ]
    try:
        if not ALONE.keys() >= set(wanted):
            results += [one for size in sizes for one in _measure(size, rounds, wanted, failed)]
    except BuildError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    results += targets.growth(results)
    sys.stdout.write(result.table(results) + "\n")
    if failed:
        sys.stderr.write(f"Failed, so no results are stored: {', '.join(failed)}\n")
        return 1
    if not only or options.store:
        whole = result.Report(machine.commit(), machine.machine(), results)
        if only:
            whole = result.updated(result.read(LATEST), whole)
        result.write(LATEST, whole)
        CHART.write_text(chart.svg(whole))
    return 0


def _measure(pods: int, rounds: int, names: Sequence[str], failed: list[str]) -> list[Result]:
    """Run the measurements `names`. Add those that fail to `failed`, and continue with the next."""
    results: list[Result] = []
    # Build the program before anything is measured.
    go_program(PROGRAM, _say)
    with LoadedControlPlane(pods, report=_say) as cluster:
        for name, measure in MEASUREMENTS.items():
            if name not in names:
                continue
            results += _attempt(name, partial(measure, cluster, rounds, _say), failed)
    return results


def _attempt(name: str, measure: Callable[[], list[Result]], failed: list[str]) -> list[Result]:
    try:
        return measure()
    except OSError as error:
        _say(f"{name}: {error}\n")
        failed.append(name)
        return []


def _say(text: str) -> None:
    """Report progress on stderr, separate from the results on stdout."""
    sys.stderr.write(text)
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

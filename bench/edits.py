"""Duration of changes compared with kubectl, and their effect on other users.

Measures a manifest in the editor (`bench.editor`) and a bulk action (`bench.bulk`).
"""

import asyncio

from bench import bulk, editor
from bench.churn import ChurnProcess, order
from bench.cluster import LoadedControlPlane
from bench.pages import AT_MOST, RATE
from bench.result import Result
from bench.stage import TwoUsers, make
from bench.webconsole import WebConsole
from tests.controlplane.build import Report


def measure(cluster: LoadedControlPlane, rounds: int, report: Report) -> list[Result]:
    """Run both benchmarks while pods change."""
    asyncio.run(make(cluster, (*editor.objects(), *bulk.objects())))
    report("starting the console\n")
    with (
        WebConsole(cluster, accounts=2) as console,
        ChurnProcess(order(cluster, AT_MOST, RATE, generation=8)),
    ):
        return asyncio.run(_results(cluster, console, rounds, report))


async def _results(
    cluster: LoadedControlPlane, console: WebConsole, rounds: int, report: Report
) -> list[Result]:
    who, other = console.accounts
    kubeconfig = cluster.kubeconfig_for(who)
    async with await console.signed_in(who) as acting, await console.signed_in(other) as looking:
        stage = TwoUsers(cluster, console, acting, kubeconfig, looking, report)
        return [*await editor.results(stage), *await bulk.results(stage, rounds)]

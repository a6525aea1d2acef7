"""Twenty logs that are followed while kubelet, kube-apiserver and the console are killed: by schedules
that follow from their seeds."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from random import Random

import aiohttp
import pytest

from tests.browser.console import Console, running
from tests.controlplane.waiting import eventually
from tests.depth import fewer
from tests.logs.readers import Reader, signed_in
from tests.node.node import RealNode, container

#: Pods, and containers of each.
PODS, EACH = 5, 4
#: Ten lines at once, so that there are many without many processes.
COUNTS = (
    "i=0; while :; do j=0; while [ $j -lt 10 ]; do echo line $((i*10+j)); j=$((j+1)); done; "
    "i=$((i+1)); usleep 150000; done"
)
#: Lines of each log that are wanted after the last fault.
MORE = 100
LATE = 90.0
#: A log of 7 MB, in one file.
LONG = (
    "line=$(head -c 1400 /dev/zero | tr '\\0' x); i=0; "
    "while [ $i -lt 5000 ]; do echo $line; i=$((i+1)); done; echo end; exec sleep infinity"
)
SILENT, MIB = 12, 2**20


@pytest.fixture(scope="module")
def console(real_node: RealNode, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    with running(real_node.cluster, tmp_path_factory.mktemp("console")) as console:
        yield console


@pytest.fixture(scope="module")
def pods(real_node: RealNode) -> Iterator[list[str]]:
    names = [f"counts-{number}" for number in range(PODS)]
    with ExitStack() as stack:
        for name in names:
            containers = [container(f"c{number}", COUNTS) for number in range(EACH)]
            stack.enter_context(real_node.pod(name, *containers))
        yield names


def _kill_kubelet(node: RealNode, _: Console) -> None:
    node.kubelet.kill()


def _kill_server(node: RealNode, _: Console) -> None:
    node.cluster.kill()


def _kill_console(_: RealNode, console: Console) -> None:
    console.kill("serve")


def _start_kubelet(node: RealNode, _: Console) -> None:
    node.start_kubelet()


def _start_server(node: RealNode, _: Console) -> None:
    node.cluster.restart()


def _start_console(_: RealNode, console: Console) -> None:
    console.start("serve")
    console.wait_ready()


Act = Callable[[RealNode, Console], None]
#: What is killed, and how it comes back.
FAULTS: dict[str, tuple[Act, Act]] = {
    "kubelet": (_kill_kubelet, _start_kubelet),
    "kube-apiserver": (_kill_server, _start_server),
    "console": (_kill_console, _start_console),
}


def schedule(seed: int) -> list[tuple[str, float, float]]:
    """Each with the seconds before it and those that it lasts. All faults are in the first three."""
    random = Random(seed)  # noqa: S311  it need not be a secret
    names = random.sample([*FAULTS], 3) + random.choices([*FAULTS], k=random.randint(0, 2))
    return [(name, random.uniform(0.1, 2.0), random.uniform(0.0, 3.0)) for name in names]


@pytest.mark.parametrize("seed", fewer([*range(50)], 0, 1))
async def test_each_line_comes_once_and_in_order(
    real_node: RealNode, console: Console, pods: list[str], seed: int
) -> None:
    steps = schedule(seed)
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(signed_in(console))
        readers = {(name, f"c{n}"): reader(name, f"c{n}") for name in pods for n in range(EACH)}
        tasks = [asyncio.create_task(one.follow(session)) for one in readers.values()]
        stack.push_async_callback(end, tasks)
        await arrived([*readers.values()], tasks, MORE)
        for name, pause, lasts in steps:
            kill, start = FAULTS[name]
            await asyncio.sleep(pause)
            await asyncio.to_thread(kill, real_node, console)
            await asyncio.sleep(lasts)
            await asyncio.to_thread(start, real_node, console)
        await arrived([*readers.values()], tasks, MORE)
    for (name, part), one in readers.items():
        assert one.cuts and not any("missing" in note for note in one.notes), (steps, one.notes)
        whole = written(real_node, name, part)
        first = whole.index(one.lines[0])
        assert one.lines == whole[first : first + len(one.lines)], steps


def reader(pod: str, part: str) -> Reader:
    path = f"/clusters/host/projects/default/pods/{pod}/log"
    return Reader(f"{path}?container={part}&tail=10")


async def arrived(readers: list[Reader], tasks: list["asyncio.Task[None]"], count: int) -> None:
    """Returns when each has so many more lines."""
    wanted = [(one, len(one.lines) + count) for one in readers]
    async with asyncio.timeout(LATE):
        while not all(len(one.lines) >= number for one, number in wanted):
            for task in tasks:
                if task.done():
                    task.result()
            await asyncio.sleep(0.05)


async def end(tasks: list["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def written(node: RealNode, pod: str, part: str) -> list[tuple[str, str]]:
    """What is in the file."""
    path = f"/api/v1/namespaces/default/pods/{pod}/log?timestamps=true&container={part}"
    answer = node.cluster.api.get(path)
    assert answer.status == 200, answer.body
    return [(line[:30], line[31:]) for line in answer.body.decode().splitlines()]


async def test_a_client_that_never_reads_costs_no_more_than_its_limit(
    real_node: RealNode, console: Console
) -> None:
    with real_node.pod("long", container("c0", LONG)):
        eventually(lambda: written(real_node, "long", "c0")[-1:][0][1] == "end", "it is written")
        before = settled(console)
        async with signed_in(console) as session, AsyncExitStack() as stack:
            for _ in range(SILENT):
                socket: aiohttp.ClientWebSocketResponse = await stack.enter_async_context(
                    session.ws_connect(
                        f"/ws{reader('long', 'c0').path.partition('&')[0]}&tail=6000"
                    )
                )
                await socket.send_json({"follow": "en", "at": {}})
            held = await asyncio.to_thread(settled, console) - before
        # Unread they would be 84 MB, and more as text.
        assert held < SILENT * 2 * MIB, held


def settled(console: Console) -> int:
    """The console's memory in bytes, once that stands still."""
    last = [0]

    def still() -> int:
        lines = Path(f"/proc/{console.processes['serve'].pid}/status").read_text().splitlines()
        last.append(1024 * next(int(one.split()[1]) for one in lines if one.startswith("VmRSS")))
        return last[-1] if len(last) > 100 and max(last[-100:]) - min(last[-100:]) < MIB else 0

    return eventually(still, "memory stands still", timeout=60)

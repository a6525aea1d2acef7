"""Kubelet, kube-apiserver and console are killed while logs are followed. The reader must receive
every line of the containers' log files exactly once and in order.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

import pytest

from tests.browser.console import Console, answers, running
from tests.controlplane.waiting import eventually
from tests.logs.reader import Reader, signed_in
from tests.node.node import RealNode, container
from tests.support.depth import fewer, number

pytestmark = pytest.mark.programs

#: Number of readers per container.
CONTAINERS, READERS = ("a", "b", "c", "d"), number(2, 5)
#: Writes numbers, three at a time, about sixty per second.
COUNTS = "i=0; while :; do for j in 0 1 2; do echo line $i; i=$((i+1)); done; usleep 50000; done"
PATH = "/clusters/host/projects/default/pods/counts/log?tail=10"
#: In restart order: the other programs depend on the first one.
PROGRAMS = ("kube-apiserver", "kubelet", "console")


@dataclass(frozen=True)
class Step:
    """Wait `pause` seconds, then kill some programs for `seconds`."""

    pause: float
    killed: tuple[str, ...]
    seconds: float


def schedule(seed: int) -> list[Step]:
    """Return the steps for a seed."""
    random = Random(seed)  # noqa: S311  it need not be a secret

    def step() -> Step:
        killed = random.sample(PROGRAMS, random.choice((1, 1, 1, 2, 3)))
        return Step(random.uniform(0, 1), tuple(killed), random.choice((0, random.uniform(0, 2))))

    return [step() for _ in range(random.randint(1, 3))]


@dataclass(frozen=True)
class World:
    node: RealNode
    console: Console

    def kill(self, program: str) -> None:
        kills = {
            "kube-apiserver": self.node.cluster.kill,
            "kubelet": self.node.kubelet.kill,
            "console": self.console.kill,
        }
        kills[program]()

    def restart(self, program: str) -> None:
        starts = {
            "kube-apiserver": self.node.cluster.restart,
            "kubelet": self.node.start_kubelet,
            "console": self.console.restart,
        }
        starts[program]()

    def run(self, steps: list[Step]) -> None:
        """Run the steps. All programs run again at the end."""
        for step in steps:
            time.sleep(step.pause)
            for program in step.killed:
                self.kill(program)
            time.sleep(step.seconds)
            for program in PROGRAMS:
                if program in step.killed:
                    self.restart(program)
        eventually(
            lambda: answers(f"{self.console.url}/readyz"), "the console is ready", timeout=60
        )

    def written(self) -> Mapping[str, list[str]]:
        return {name: self.node.log("counts", name) for name in CONTAINERS}


@pytest.fixture(scope="module")
def world(real_node: RealNode, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    counts = [container(name, COUNTS) for name in CONTAINERS]
    folder = tmp_path_factory.mktemp("console")
    with real_node.pod("counts", *counts), running(real_node.cluster, folder) as console:
        yield World(real_node, console)


@pytest.mark.parametrize("seed", fewer(range(50), 1))
async def test_every_line_arrives_once(world: World, seed: int) -> None:
    readers = [(name, Reader(f"{PATH}&container={name}")) for name in CONTAINERS * READERS]
    async with signed_in(world.console.url) as session:
        tasks = [asyncio.create_task(reader.read(session)) for _, reader in readers]
        try:
            async with asyncio.timeout(60):
                for _, reader in readers:
                    await reader.until(len)
            await asyncio.to_thread(world.run, schedule(seed))
            written = await asyncio.to_thread(world.written)
            async with asyncio.timeout(60):
                for name, reader in readers:
                    await reader.until(partial(_has, written[name][-1]))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    for name, reader in readers:
        whole = written[name]
        end = reader.lines.index(whole[-1]) + 1
        assert reader.lines[:end] == whole[whole.index(reader.lines[0]) :]
        assert not any("missing" in note for note in reader.notes)


def _has(line: str, lines: Sequence[str]) -> bool:
    return line in lines

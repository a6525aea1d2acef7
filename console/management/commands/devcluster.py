"""`manage.py devcluster`: the embedded cluster alone, for kubectl and for tests."""

import signal
from pathlib import Path
from threading import Event
from types import FrameType
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from devcluster.server import DevCluster, DevClusterError


class Command(BaseCommand):
    help = "Serve an embedded, kube-apiserver-compatible cluster on loopback."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=0, help="0 chooses a free one")
        parser.add_argument("--data", type=Path, required=True, help="folder of its data")
        parser.add_argument("--kubeconfig", type=Path, required=True, help="where to write one")
        parser.add_argument("--world", action="store_true", help="with nodes, workloads and change")
        parser.add_argument("--churn", type=float, default=1.0, help="how much changes; 0: nothing")

    def handle(
        self,
        *args: Any,
        port: int,
        data: Path,
        kubeconfig: Path,
        world: bool,
        churn: float,
        **options: Any,
    ) -> None:
        stop = Event()

        def ask_to_stop(_signal: int, _frame: FrameType | None) -> None:
            stop.set()

        signal.signal(signal.SIGINT, ask_to_stop)
        signal.signal(signal.SIGTERM, ask_to_stop)
        cluster = DevCluster(data, port, world=world, churn=churn)
        try:
            cluster.start()
            cluster.write_kubeconfig(kubeconfig)
        except DevClusterError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"The embedded cluster is ready at {cluster.url}")
        self.stdout.flush()
        stop.wait()
        cluster.stop()

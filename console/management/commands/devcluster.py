"""`quarterdeck devcluster`: run the embedded cluster alone, for kubectl and tests."""

import signal
from pathlib import Path
from threading import Event
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from devcluster.releases import NEWEST, Release
from devcluster.server import DevCluster, DevClusterError


class Command(BaseCommand):
    help = "Serve an embedded, kube-apiserver-compatible cluster on loopback."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--port", type=int, default=0, help="port to listen on; 0 chooses a free port"
        )
        parser.add_argument("--data", type=Path, required=True, help="data folder")
        parser.add_argument(
            "--kubeconfig", type=Path, required=True, help="path of the kubeconfig to write"
        )
        parser.add_argument("--world", action="store_true", help="add sample data that changes")
        parser.add_argument(
            "--churn", type=float, default=1.0, help="rate of changes; 0 disables them"
        )
        parser.add_argument(
            "--release",
            type=int,
            default=NEWEST,
            help=f"answer like Kubernetes 1.RELEASE, such as 21 ({NEWEST})",
        )

    def handle(
        self,
        *args: Any,
        port: int,
        data: Path,
        kubeconfig: Path,
        world: bool,
        churn: float,
        release: int,
        **options: Any,
    ) -> None:
        stop = Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda _signal, _frame: stop.set())
        cluster = DevCluster(data, port, world=world, churn=churn, release=Release(release))
        try:
            cluster.start()
            cluster.write_kubeconfig(kubeconfig)
        except DevClusterError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"The embedded cluster is ready at {cluster.url}")
        self.stdout.flush()
        stop.wait()
        cluster.stop()

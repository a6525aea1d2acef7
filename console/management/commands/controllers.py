"""`quarterdeck controllers`: run the controllers without pages. One replica works at a time."""

import logging
import signal
from threading import Event
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from accounts.oauth.kubesphere_config import read_periodically
from console.audit.console_writes import record_console_write
from console.audit.trail import set_workspace_finder
from console.kube import controller
from console.kube.credentials import NoCluster
from console.kube.host_runtime import set_runtime
from console.kube.kubeconfig import NAMESPACE
from console.kube.leader import Leader
from console.kube.runtime import Runtime
from console.management.commands._web import prepare_database
from console.metrics.standalone import MetricsServer
from console.ui.navigation.projects import labeled_workspace

log = logging.getLogger(__name__)

LEASE = "quarterdeck-controllers"
#: Default port of the metrics.
PORT = 8001


class Command(BaseCommand):
    help = "Run the controllers until SIGINT or SIGTERM."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address of /metrics")
        parser.add_argument(
            "--port", type=int, help=f"port of /metrics (default: {PORT} if available)"
        )

    def handle(self, *args: Any, host: str, port: int | None, **options: Any) -> None:
        try:
            runtime = Runtime()
        except NoCluster as error:
            raise CommandError(str(error)) from error
        stop = Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda _signal, _frame: stop.set())
        prepare_database()
        runtime.console.recorder = record_console_write
        runtime.start()
        set_runtime(runtime)
        set_workspace_finder(lambda _cluster, name: labeled_workspace(runtime, name))
        runtime.spawn(read_periodically(runtime))
        leader = Leader(runtime.console, runtime.clock, name=LEASE, namespace=NAMESPACE)
        runtime.console = runtime.console.guarded(leader.check)
        health = MetricsServer(lambda: leader.leading)
        try:
            self.listen(runtime, health, host, port)
            failed = self.work(runtime, leader, stop)
            runtime.spawn(health.stop()).result(timeout=5)
        finally:
            runtime.stop()
        if failed:
            raise CommandError("The controllers stopped unexpectedly. See the log above")

    def listen(self, runtime: Runtime, health: MetricsServer, host: str, port: int | None) -> None:
        starting = runtime.spawn(health.start(host, PORT if port is None else port))
        error = starting.result(timeout=10)
        if error is not None and port is not None:
            raise CommandError(f"Port {port} is not available ({error.strerror})") from error
        if error is not None:
            log.warning(
                "Port %s is in use, so metrics are disabled. Choose another with --port", PORT
            )

    def work(self, runtime: Runtime, leader: Leader, stop: Event) -> bool:
        """Run the controllers until a stop signal. Return True if they failed."""

        async def lead() -> None:
            self.stdout.write(f"Running controllers as {leader.identity}")
            self.stdout.flush()
            await controller.run_all(runtime)

        running = runtime.spawn(leader.run(lead))
        running.add_done_callback(lambda _future: stop.set())
        self.stdout.write("Waiting for the leader lease")
        self.stdout.flush()
        stop.wait()
        return running.done() and not running.cancelled() and running.exception() is not None

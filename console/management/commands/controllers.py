"""`manage.py controllers`: the reconcilers, without a web server."""

import signal
from threading import Event
from types import FrameType
from typing import Any

from django.core.management import BaseCommand, CommandError

from console.kube import controller
from console.kube.client import NoCluster
from console.kube.runtime import Runtime


class Command(BaseCommand):
    help = "Run the controllers until SIGINT or SIGTERM."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            runtime = Runtime()
        except NoCluster as error:
            raise CommandError(str(error)) from error
        stop = Event()

        def ask_to_stop(_signal: int, _frame: FrameType | None) -> None:
            stop.set()

        signal.signal(signal.SIGINT, ask_to_stop)
        signal.signal(signal.SIGTERM, ask_to_stop)
        runtime.start()
        running = runtime.spawn(controller.run_all(runtime))
        running.add_done_callback(lambda _future: stop.set())
        self.stdout.write("Controllers run")
        self.stdout.flush()
        stop.wait()
        failed = running.done() and not running.cancelled() and running.exception() is not None
        runtime.stop()
        if failed:
            raise CommandError("The controllers stopped; the log above says why")

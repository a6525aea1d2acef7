"""`quarterdeck serve` with instrumentation for the benchmarks: request times, tenants, and relists on
a signal (`bench.expiring_watch`).

    BENCH_TIMINGS=FILE BENCH_RELISTS=FILE python -m bench.serving --host=127.0.0.1 --port=8000

For each request with an `X-Bench` header, a `Timing` is appended to the file as one line of
JSON. It covers the time in the console's process: from when the server has read the request
until the last byte of the response is passed to the transport. Network and client time are
excluded.
"""

import os
import runpy
import sys
import time
from typing import Any, TextIO

import django
import msgspec

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
django.setup()

from bench.expiring_watch import ExpiringListWatch  # noqa: E402
from bench.tenant import TenantAuthorizer  # noqa: E402
from bench.timing import HEADER, VARIABLE, Timing  # noqa: E402
from console.kube import informerbuilder  # noqa: E402  Django's apps must be ready
from console.web import server  # noqa: E402
from rbac import process_clusters  # noqa: E402


class TimedRequest(server.Request):
    """Daphne calls `process` when the request is complete, and `finish` after the last byte of the
    response.
    """

    file: TextIO

    def process(self) -> Any:
        self._began = time.monotonic()
        return super().process()

    def finish(self) -> None:
        super().finish()
        ended = time.monotonic()
        named = self.requestHeaders.getRawHeaders(HEADER)
        if named:
            timing = Timing(named[0], ended, ended - self._began)
            self.file.write(msgspec.json.encode(timing).decode() + "\n")
            self.file.flush()


def main(arguments: list[str]) -> None:
    TimedRequest.file = open(os.environ[VARIABLE], "a")  # noqa: SIM115  as long as the process
    server.Channel.requestFactory = TimedRequest
    ExpiringListWatch.install()
    informerbuilder.ListWatch = ExpiringListWatch  # type: ignore[attr-defined]
    process_clusters.Authorizer = TenantAuthorizer  # type: ignore[attr-defined]
    sys.argv = ["manage.py", "serve", *arguments]
    runpy.run_path("manage.py", run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])

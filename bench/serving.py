"""`manage.py serve` that also notes how long each request took, knows tenants, and lists pods again at a
signal (`bench.forgetting`).

    BENCH_TIMINGS=FILE BENCH_RELISTS=FILE python -m bench.serving --host=127.0.0.1 --port=8000

A request that carries an `X-Bench` header is noted in the file as one line of JSON, a `Timing`, when it
is done. The time is what the console's process adds: from when the server has read the request to when
the last byte of the answer is with the transport. What the network and the client take is not in it.
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

import console.kube.informerbuilder  # noqa: E402  Django's apps must be ready
import rbac.current  # noqa: E402
from bench.forgetting import ForgetfulListWatch  # noqa: E402
from bench.tenant import TenantAuthorizer  # noqa: E402
from bench.timing import HEADER, VARIABLE, Timing  # noqa: E402
from console import server  # noqa: E402


class TimedRequest(server.Request):
    """Daphne calls `process` when the request is whole, and `finish` after the last byte."""

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
    ForgetfulListWatch.install()
    console.kube.informerbuilder.ListWatch = ForgetfulListWatch  # type: ignore[attr-defined]
    rbac.current.Authorizer = TenantAuthorizer  # type: ignore[attr-defined]
    sys.argv = ["manage.py", "serve", *arguments]
    runpy.run_path("manage.py", run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])

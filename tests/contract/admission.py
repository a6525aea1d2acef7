"""An admission webhook whose answers a test decides."""

import base64
import json
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from tests.contract.client import Obj
from tests.contract.objects import unique
from tests.controlplane.pki import Authority

NAME = "policy.example.com"
#: Returns the fields of the response to a request, besides `uid`.
Answer = Callable[[Obj], Obj]


class AdmissionServer(ThreadingHTTPServer):
    """A server that answers AdmissionReviews with `answer`."""

    daemon_threads = True

    def __init__(self, answer: Answer, authority: Authority) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self._authority = authority.certificate.read_bytes()
        pair = authority.server("webhook", hosts=["localhost"], addresses=["127.0.0.1"])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.certificate, pair.key)
        self.socket = context.wrap_socket(self.socket, server_side=True)

    def configuration(self, kind: str, namespace: str, resources: Sequence[tuple[str, str]]) -> Obj:
        """Return a configuration of `kind` for new objects of (group, plural) in a namespace."""
        new = {"apiVersions": ["*"], "operations": ["CREATE"]}
        webhook = {
            "name": NAME,
            "clientConfig": {
                "url": f"https://127.0.0.1:{self.server_port}/",
                "caBundle": base64.b64encode(self._authority).decode(),
            },
            "rules": [{**new, "apiGroups": [g], "resources": [r]} for g, r in resources],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "timeoutSeconds": 30,
        }
        return {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": unique("policy")},
            "webhooks": [webhook],
        }


class _Handler(BaseHTTPRequestHandler):
    server: AdmissionServer

    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = review["request"]
        review["response"] = {"uid": asked["uid"], **self.server.answer(asked)}
        del review["request"]
        body = json.dumps(review).encode()
        # The server that asked may have been killed.
        with suppress(OSError):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...


def refusal(message: str) -> Obj:
    return {"allowed": False, "status": {"message": message, "code": 403}}


def patched(*operations: Obj) -> Obj:
    """Return a response that changes the object with a JSON patch."""
    patch: Any = base64.b64encode(json.dumps(operations).encode()).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": patch}


@contextmanager
def admission(folder: Path, answer: Answer) -> Iterator[AdmissionServer]:
    with AdmissionServer(answer, Authority(folder)) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()

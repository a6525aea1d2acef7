"""The audit log of kube-apiserver, read so that a test can count what was asked of it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

__all__ = ["POLICY", "AuditEvent", "read_events"]

# These answer for as long as the client likes, so they are recorded when the answer starts; the
# second record at their end would count them twice.
_LONG_RUNNING = ["pods/attach", "pods/exec", "pods/log", "pods/portforward", "*/proxy"]
_AT_THE_START = {"level": "Metadata", "omitStages": ["RequestReceived", "ResponseComplete"]}

#: Exactly one record per request. Probes are left out: the tests make them while they wait.
POLICY: dict[str, Any] = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "rules": [
        {"level": "None", "nonResourceURLs": ["/livez*", "/readyz*", "/healthz*"]},
        {**_AT_THE_START, "verbs": ["watch"]},
        {**_AT_THE_START, "resources": [{"group": "", "resources": _LONG_RUNNING}]},
        {"level": "Metadata", "omitStages": ["RequestReceived"]},
    ],
}


@dataclass(frozen=True, kw_only=True)
class AuditEvent:
    """One request as kube-apiserver understood it; empty text where something does not apply."""

    verb: str
    user: str
    #: As whom the request was made, if it was impersonated.
    impersonated: str
    user_agent: str
    uri: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    status: int
    #: The whole record, for what is rarely asked.
    record: dict[str, Any] = field(repr=False)

    @classmethod
    def parse(cls, line: bytes) -> Self:
        """From one line of the log."""
        record = json.loads(line)
        target = record.get("objectRef", {})
        return cls(
            verb=record["verb"],
            user=record["user"].get("username", ""),
            impersonated=record.get("impersonatedUser", {}).get("username", ""),
            user_agent=record.get("userAgent", ""),
            uri=record["requestURI"],
            group=target.get("apiGroup", ""),
            resource=target.get("resource", ""),
            subresource=target.get("subresource", ""),
            namespace=target.get("namespace", ""),
            name=target.get("name", ""),
            status=record.get("responseStatus", {}).get("code", 0),
            record=record,
        )


def read_events(path: Path, mark: int = 0) -> Iterator[AuditEvent]:
    """The requests recorded since `mark`, an earlier size of the file."""
    with path.open("rb") as log:
        log.seek(mark)
        for line in log:
            # The last line may be half written.
            if line.endswith(b"\n"):
                yield AuditEvent.parse(line)

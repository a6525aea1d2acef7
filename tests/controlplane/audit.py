"""Reader of kube-apiserver's audit log, used to count requests."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

__all__ = ["POLICY", "AuditEvent", "read_events"]

# These responses can take any time, so they are recorded when the response starts. The record at
# the end is omitted to avoid counting them twice.
_LONG_RUNNING = ["pods/attach", "pods/exec", "pods/log", "pods/portforward", "*/proxy"]
_AT_THE_START = {"level": "Metadata", "omitStages": ["RequestReceived", "ResponseComplete"]}

#: One record per request. Probes are excluded, because the fixtures send them while waiting.
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
    """An audited request. Fields that do not apply are empty strings."""

    verb: str
    user: str
    #: Impersonated user, if any.
    impersonated: str
    user_agent: str
    uri: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    status: int
    #: The complete record.
    record: dict[str, Any] = field(repr=False)

    @classmethod
    def parse(cls, line: bytes) -> Self:
        """Parse one line of the log."""
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
    """Yield the requests recorded since `mark`, which is an earlier size of the file."""
    with path.open("rb") as log:
        log.seek(mark)
        for line in log:
            # The last line may be incomplete.
            if line.endswith(b"\n"):
                yield AuditEvent.parse(line)

"""Records of sign-ins."""

from datetime import datetime
from typing import Any

from tests.rbac.fakes import Manifest


def record(
    name: str, at: datetime, *, success: bool = False, of: str = "alice", **spec: Any
) -> Manifest:
    return {
        "apiVersion": "iam.kubesphere.io/v1alpha2",
        "kind": "LoginRecord",
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "resourceVersion": "10",
            "creationTimestamp": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "labels": {"iam.kubesphere.io/user-ref": of},
        },
        "spec": {
            "type": "Token",
            "provider": "",
            "sourceIP": "192.0.2.1",
            "success": success,
            "reason": "incorrect password",
            **spec,
        },
    }

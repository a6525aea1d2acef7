"""Ports, keys and files of a control plane, which persist when its programs restart."""

import base64
import csv
import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.controlplane import audit
from tests.controlplane.pki import Authority, KeyPair, write_private_key
from tests.node.box import ADDRESS
from tests.support.ports import LOOPBACK, free_port

__all__ = ["MASTERS", "Layout"]

#: Group with all permissions, independent of RBAC.
MASTERS = "system:masters"


class Layout:
    """Files and ports that are created before the first program starts."""

    def __init__(self, folder: Path, users: Mapping[str, Sequence[str]]) -> None:
        self.folder = folder
        self.etcd_url = f"http://{LOOPBACK}:{free_port()}"
        self.port = free_port()
        self.url = f"https://{LOOPBACK}:{self.port}"
        self.authority = Authority(folder)
        self.serving = self.authority.server(
            "kube-apiserver",
            hosts=["localhost", "kubernetes.default.svc"],
            # Pods of a real node reach it at the node's address.
            addresses=[LOOPBACK, ADDRESS],
        )
        self.admin = self.client("admin", (MASTERS,))
        self.service_account_key = folder / "service-accounts.key"
        write_private_key(self.service_account_key)
        self.tokens = {user: secrets.token_hex(16) for user in users}
        self.token_file = folder / "tokens.csv"
        self._write_tokens(users)
        self.audit_policy = folder / "audit-policy.json"
        self.audit_policy.write_text(json.dumps(audit.POLICY))
        self.audit_log = folder / "audit.log"

    def _write_tokens(self, users: Mapping[str, Sequence[str]]) -> None:
        with self.token_file.open("w", newline="") as file:
            for user, groups in users.items():
                csv.writer(file).writerow([self.tokens[user], user, user, ",".join(groups)])

    def client(self, user: str, groups: Sequence[str] = ()) -> KeyPair:
        """Issue a client certificate. File names are hashes, because usernames may contain any
        character.
        """
        return self.authority.client(f"client-{_digest(user, *groups)}", user, groups)

    def kubeconfig(self, user: str, groups: Sequence[str] = ()) -> Path:
        """Return a kubeconfig with embedded keys, which can be copied."""
        pair = self.client(user, groups)
        path = self.folder / f"{_digest(user, *groups)}.kubeconfig"
        identity = {
            "client-certificate-data": _encoded(pair.certificate),
            "client-key-data": _encoded(pair.key),
        }
        path.touch(mode=0o600)
        # JSON is valid YAML, so no YAML library is needed.
        path.write_text(json.dumps(self._config(user, identity), indent=1))
        return path

    def _config(self, user: str, identity: Mapping[str, str]) -> dict[str, Any]:
        cluster = {
            "server": self.url,
            "certificate-authority-data": _encoded(self.authority.certificate),
        }
        context = {"cluster": "controlplane", "user": user, "namespace": "default"}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "controlplane", "cluster": cluster}],
            "users": [{"name": user, "user": identity}],
            "contexts": [{"name": "controlplane", "context": context}],
            "current-context": "controlplane",
        }


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()

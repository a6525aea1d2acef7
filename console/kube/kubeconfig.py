"""Writes the kubeconfig that gives the console its three identities."""

import base64
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from console.kube.client import CONSOLE, READER, WRITER

#: The service accounts of manifests/identities.yaml.
NAMESPACE = "quarterdeck-system"
ROLES = (READER, WRITER, CONSOLE)

IssueToken = Callable[[str, Sequence[str]], str]


def service_account(role: str) -> str:
    return f"quarterdeck-{role}"


def service_account_user(role: str) -> tuple[str, tuple[str, ...]]:
    """The user name and the groups that kube-apiserver knows a service account by."""
    name = f"system:serviceaccount:{NAMESPACE}:{service_account(role)}"
    return name, ("system:serviceaccounts", f"system:serviceaccounts:{NAMESPACE}")


def write_console_kubeconfig(
    path: Path, server: str, ca_file: Path, issue_token: IssueToken
) -> None:
    """One cluster and three contexts, readable by its owner alone. JSON is YAML."""
    authority = base64.b64encode(Path(ca_file).read_bytes()).decode()
    users = [
        {"name": role, "user": {"token": issue_token(*service_account_user(role))}}
        for role in ROLES
    ]
    contexts = [{"name": role, "context": {"cluster": "host", "user": role}} for role in ROLES]
    cluster = {"server": server, "certificate-authority-data": authority}
    config: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "host", "cluster": cluster}],
        "users": users,
        "contexts": contexts,
        "current-context": READER,
    }
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(config), indent=2))

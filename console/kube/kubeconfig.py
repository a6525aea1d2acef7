"""Writes the kubeconfig that gives the console its three identities."""

import base64
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from console.kube.client import CONSOLE, READER, WRITER

#: The service accounts of manifests/identities.yaml.
NAMESPACE = "quarterdeck-system"
ROLES = (READER, WRITER, CONSOLE)


def service_account(role: str) -> str:
    return f"quarterdeck-{role}"


def write_console_kubeconfig(
    path: Path, server: str, ca_file: Path, tokens: Mapping[str, str]
) -> None:
    """One cluster and three contexts, readable by its owner alone. JSON is YAML.

    `tokens`: one for each of `ROLES`. Raises OSError.
    """
    authority = base64.b64encode(Path(ca_file).read_bytes()).decode()
    users = [{"name": role, "user": {"token": tokens[role]}} for role in ROLES]
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

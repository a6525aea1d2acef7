"""The console's kubeconfig with the credential that requests the tokens of the three identities."""

import base64
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import yaml

#: The service accounts of manifests/identities.yaml.
NAMESPACE = "quarterdeck-system"
READER, WRITER, CONSOLE, ISSUER = "reader", "writer", "console", "issuer"
#: The identities of the console. `ISSUER` is not included: it may only request their tokens.
ROLES = (READER, WRITER, CONSOLE)


def service_account(role: str) -> str:
    return f"quarterdeck-{role}"


def write_console_kubeconfig(
    path: Path, server: str, ca_file: Path, tokens: Mapping[str, str]
) -> None:
    """Write a kubeconfig with one cluster and a context for each token, readable only by its owner.

    `tokens` contains the token of `ISSUER`, or the tokens of all `ROLES`. Raise OSError.
    """
    authority = base64.b64encode(Path(ca_file).read_bytes()).decode()
    users = [{"name": role, "user": {"token": token}} for role, token in tokens.items()]
    contexts = [{"name": role, "context": {"cluster": "host", "user": role}} for role in tokens]
    cluster = {"server": server, "certificate-authority-data": authority}
    config: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "host", "cluster": cluster}],
        "users": users,
        "contexts": contexts,
        "current-context": next(iter(tokens)),
    }
    _write(path, config)


def replace_token(path: Path, old: str, new: str) -> bool:
    """Replace the token `old` in a kubeconfig. Return False if no user has it.

    May raise any exception if the file is not a kubeconfig.
    """
    # Keep a symbolic link and replace its target.
    path = path.resolve()
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    users = [one.get("user") or {} for one in config["users"]]
    held = [user for user in users if user.get("token") == old]
    for user in held:
        user["token"] = new
    if held:
        _write(path, config)
    return bool(held)


def _write(path: Path, config: Mapping[str, Any]) -> None:
    """Replace the file atomically. JSON is valid YAML."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(config), indent=2))
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise

"""The console's kubeconfig: one credential, which asks for the tokens of the three identities."""

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
#: What the console acts as. `ISSUER` is none of them: it may ask for their tokens and nothing else.
ROLES = (READER, WRITER, CONSOLE)


def service_account(role: str) -> str:
    return f"quarterdeck-{role}"


def write_console_kubeconfig(
    path: Path, server: str, ca_file: Path, tokens: Mapping[str, str]
) -> None:
    """One cluster, and a context for each of the tokens, readable by its owner alone.

    `tokens`: of `ISSUER`, or of each of `ROLES`. Raises OSError.
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
    """False where nobody has the old one any more. May raise anything for what is no kubeconfig."""
    # A link stays one.
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
    """Whoever reads it meanwhile reads the old one or the new one. JSON is YAML."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(config), indent=2))
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise

"""A first client, so that tokens can be had where nobody has configured any."""

import secrets
from pathlib import Path

import yaml

NAME = "quarterdeck"


def make_first_client(path: Path) -> None:
    """Writes a configuration with the client `quarterdeck` and a secret that only the file's owner can
    read, unless there is a file already."""
    client = {"name": NAME, "secret": secrets.token_urlsafe(24), "grantMethod": "auto"}
    try:
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        return
    path.write_text(yaml.safe_dump({"authentication": {"oauthOptions": {"clients": [client]}}}))

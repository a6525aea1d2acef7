"""Credentials for registries in Secrets of the type `kubernetes.io/dockerconfigjson`."""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from console.registries.references import ImageName, registry_of

#: The annotation with which KubeSphere skips the verification of certificates.
FORCE_INSECURE = "secret.kubesphere.io/force-insecure"


@dataclass(frozen=True, slots=True)
class Login:
    """User name and password for a registry.

    - `is_insecure`: don't verify the registry's certificate, where the administrator allows it.
    - `secret`: name of the Secret that contains them, or "".
    """

    user: str
    password: str = field(repr=False)
    is_insecure: bool = False
    secret: str = ""


def find_login(secret: Mapping[str, Any], image: ImageName) -> Login | None:
    """Return the credentials of a Secret for an image: those of the longest matching address, as the
    kubelet does. Return None if it has none.
    """
    metadata, data = secret.get("metadata") or {}, secret.get("data") or {}
    try:
        config = json.loads(base64.b64decode(data[".dockerconfigjson"]))
        parts = [(_parts(address), one) for address, one in config["auths"].items()]
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return None
    matching = [(host, path, one) for (host, path), one in parts if _matches(host, path, image)]
    for _host, _path, one in sorted(matching, key=lambda found: -len(found[0] + found[1])):
        pair = _credentials(one)
        if pair is not None:
            insecure = (metadata.get("annotations") or {}).get(FORCE_INSECURE) == "true"
            return Login(*pair, is_insecure=insecure, secret=str(metadata.get("name") or ""))
    return None


def _parts(address: str) -> tuple[str, str]:
    """Return host and path of an address in a Secret, without the version of the API."""
    plain = address.partition("://")[2] or address
    host, _slash, path = plain.partition("/")
    path = path.strip("/")
    return host.lower(), "" if path in ("v1", "v2") else path


def _matches(host: str, path: str, image: ImageName) -> bool:
    """Return True if an address in a Secret applies to an image: its host, in which `*` stands for a
    part of the name, and the start of the repository.
    """
    if path and not f"{image.repository}/".startswith(f"{path}/"):
        return False
    own, asked = host.split("."), image.registry.split(".")
    if "*" in host:
        return len(own) == len(asked) and all(
            fnmatchcase(part, pattern) for part, pattern in zip(asked, own, strict=True)
        )
    return registry_of(host) == image.registry


def _credentials(found: Any) -> tuple[str, str] | None:
    if not isinstance(found, dict):
        return None
    user, password = found.get("username"), found.get("password")
    if isinstance(user, str) and isinstance(password, str) and user:
        return user, password
    try:
        user, colon, password = base64.b64decode(found["auth"]).decode().partition(":")
    except (KeyError, TypeError, binascii.Error, UnicodeDecodeError):
        return None
    return (user, password) if colon else None

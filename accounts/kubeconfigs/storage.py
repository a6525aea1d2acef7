"""Storage of keys and certificates: one Secret per user in a separate namespace.

KubeSphere uses ConfigMaps, but those are in the shared cache and readable by many users. Keys
are encrypted, so read access to all Secrets doesn't give access to users' certificates, and
write access doesn't allow having another key signed in a user's name.
"""

import base64
import binascii
from dataclasses import dataclass

from console.encryption import DecryptionError, decrypt, encrypt
from console.kube.apply import Manifest
from console.kube.clients import ObjectClient
from console.kube.errors import NotFound
from console.kube.gvr import SECRETS
from rbac.projection import LABELS

NAMESPACE = "quarterdeck-kubeconfigs"
USERNAME_LABEL = "kubesphere.io/username"
_KEY, _CERTIFICATE, _PENDING = "sealed.key", "tls.crt", "sealed-pending.key"
_PURPOSE = "keys of kubeconfigs"


@dataclass(frozen=True, slots=True)
class StoredKubeconfig:
    """Key and certificate of a user in PEM format, "" if missing.

    `pending` is the key of an open signing request. `version` is the Secret's resource version,
    "" if the Secret doesn't exist.
    """

    user: str
    key: str = ""
    certificate: str = ""
    pending: str = ""
    version: str = ""


class KubeconfigStore:
    """Store for kubeconfig keys. Every method raises `ApiError`."""

    def __init__(self, client: ObjectClient) -> None:
        self._client = client

    async def find(self, user: str) -> StoredKubeconfig:
        try:
            found = await self._client.get(SECRETS, namespace=NAMESPACE, name=_name(user))
        except NotFound:
            return StoredKubeconfig(user)
        data = found.get("data") or {}
        key, pending = (_unsealed(user, decoded(data.get(name))) for name in (_KEY, _PENDING))
        version = found["metadata"]["resourceVersion"]
        return StoredKubeconfig(user, key, decoded(data.get(_CERTIFICATE)), pending, version)

    async def save(self, kept: StoredKubeconfig) -> None:
        """Create or replace the Secret. A change since it was read raises `Conflict`."""
        texts = {
            _KEY: _sealed(kept.user, kept.key),
            _CERTIFICATE: kept.certificate,
            _PENDING: _sealed(kept.user, kept.pending),
        }
        data = {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}
        name = _name(kept.user)
        labels = {**LABELS, USERNAME_LABEL: kept.user}
        meta: Manifest = {"name": name, "namespace": NAMESPACE, "labels": labels}
        body: Manifest = {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": data}
        if not kept.version:
            await self._client.create(SECRETS, {**body, "metadata": meta}, namespace=NAMESPACE)
            return
        meta["resourceVersion"] = kept.version
        body["metadata"] = meta
        await self._client.replace(SECRETS, body, namespace=NAMESPACE, name=name)

    async def delete(self, user: str) -> None:
        """Delete the Secret if it exists."""
        try:
            await self._client.delete(SECRETS, namespace=NAMESPACE, name=_name(user))
        except NotFound:
            return


def _name(user: str) -> str:
    return f"kubeconfig-{user}"


def decoded(value: object) -> str:
    """Return a base64-encoded text, or "" if it is missing or invalid."""
    try:
        return base64.b64decode(str(value or "")).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _sealed(user: str, key: str) -> str:
    return encrypt(f"{user}\n{key}".encode(), _PURPOSE) if key else ""


def _unsealed(user: str, sealed: str) -> str:
    """Return the decrypted key, or "" unless this console's `SECRET_KEY` encrypted it for this
    user.
    """
    try:
        whose, _, key = decrypt(sealed, _PURPOSE).decode().partition("\n")
    except DecryptionError:
        return ""
    return key if whose == user else ""

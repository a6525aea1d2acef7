"""Where keys and certificates are kept: a Secret for each user who asked, in a namespace of their own.

Not in a ConfigMap, as KubeSphere has it: those are in the shared cache, and many people may read them.
Keys are sealed: who may read all Secrets is not thereby everybody whose certificate is there, and who may
write them cannot have a key of their own signed in somebody else's name.
"""

import base64
import binascii
from dataclasses import dataclass
from typing import Any

from console.kube.client import ObjectClient
from console.kube.errors import NotFound
from console.kube.gvr import SECRETS
from console.sealing import NotOurs, seal, unseal

Manifest = dict[str, Any]

NAMESPACE = "quarterdeck-kubeconfigs"
USERNAME_LABEL = "kubesphere.io/username"
OURS = {"app.kubernetes.io/managed-by": "quarterdeck"}
_KEY, _CERTIFICATE, _PENDING = "sealed.key", "tls.crt", "sealed-pending.key"
_PURPOSE = "keys of kubeconfigs"


@dataclass(frozen=True, slots=True)
class Kept:
    """PEM texts, "" for what there is not. `pending`: a key for which a certificate was asked. `version`
    is "" if there is no Secret yet."""

    user: str
    key: str = ""
    certificate: str = ""
    pending: str = ""
    version: str = ""


class Keeper:
    """Every method raises `ApiError`."""

    def __init__(self, client: ObjectClient) -> None:
        self._client = client

    async def find(self, user: str) -> Kept:
        try:
            found = await self._client.get(SECRETS, namespace=NAMESPACE, name=_name(user))
        except NotFound:
            return Kept(user)
        data = found.get("data") or {}
        key, pending = (_unsealed(user, _text(data, name)) for name in (_KEY, _PENDING))
        version = found["metadata"]["resourceVersion"]
        return Kept(user, key, _text(data, _CERTIFICATE), pending, version)

    async def save(self, kept: Kept) -> None:
        """A change since it was read is a `Conflict`."""
        texts = {
            _KEY: _sealed(kept.user, kept.key),
            _CERTIFICATE: kept.certificate,
            _PENDING: _sealed(kept.user, kept.pending),
        }
        data = {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}
        name = _name(kept.user)
        labels = {**OURS, USERNAME_LABEL: kept.user}
        meta: Manifest = {"name": name, "namespace": NAMESPACE, "labels": labels}
        body: Manifest = {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": data}
        if not kept.version:
            await self._client.create(SECRETS, {**body, "metadata": meta}, namespace=NAMESPACE)
            return
        meta["resourceVersion"] = kept.version
        body["metadata"] = meta
        await self._client.replace(SECRETS, body, namespace=NAMESPACE, name=name)

    async def forget(self, user: str) -> None:
        """It may be gone already."""
        try:
            await self._client.delete(SECRETS, namespace=NAMESPACE, name=_name(user))
        except NotFound:
            return


def _name(user: str) -> str:
    return f"kubeconfig-{user}"


def _text(data: Manifest, name: str) -> str:
    """ "" for what is missing or is no text: it is then made anew."""
    try:
        return base64.b64decode(str(data.get(name) or "")).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _sealed(user: str, key: str) -> str:
    return seal(f"{user}\n{key}".encode(), _PURPOSE) if key else ""


def _unsealed(user: str, sealed: str) -> str:
    """ "" for what nobody but somebody with another `SECRET_KEY` has sealed for this user."""
    try:
        whose, _, key = unseal(sealed, _PURPOSE).decode().partition("\n")
    except NotOurs:
        return ""
    return key if whose == user else ""

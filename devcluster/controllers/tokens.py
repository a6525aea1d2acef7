"""Controller that adds tokens to service account token Secrets.

https://kubernetes.io/docs/concepts/configuration/secret/#serviceaccount-token-secrets
"""

import base64
from collections.abc import Iterable

from devcluster.authn import TokenFile, service_account
from devcluster.controllers.base import Controller
from devcluster.crud import Objects
from devcluster.objects import Obj, dig, meta
from devcluster.store import Change, Record

_TYPE = "kubernetes.io/service-account-token"
_NAME, _UID = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"


class ServiceAccountTokenController(Controller):
    """Fill in service account token Secrets. `certificate` is the CA certificate in PEM format."""

    name, collection = "serviceaccount-token", "secrets"

    def __init__(self, objects: Objects, tokens: TokenFile, certificate: str) -> None:
        super().__init__(objects)
        self._tokens, self._certificate = tokens, certificate

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        if collection == "serviceaccounts" and change.kind == "ADDED":
            # A Secret can be created before the service account that it references.
            return self.store.collection(self.collection).keys_in(change.new.namespace)
        return super().keys_of(collection, change)

    def reconcile_record(self, record: Record) -> float | None:
        secret = record.load()
        account_name = (meta(secret).get("annotations") or {}).get(_NAME, "")
        if secret.get("type") != _TYPE or not account_name or dig(secret, "data.token"):
            return None
        account = self.find(f"{record.namespace}/{account_name}", "serviceaccounts")
        if account is None:
            return None
        user = service_account(record.namespace, account_name, account.uid)
        data = {
            "token": self._tokens.permanent_token(user),
            "ca.crt": self._certificate,
            "namespace": record.namespace,
        }

        def fill(found: Obj) -> Obj:
            meta(found).setdefault("annotations", {})[_UID] = account.uid
            encoded = {
                name: base64.b64encode(text.encode()).decode() for name, text in data.items()
            }
            found["data"] = {**(found.get("data") or {}), **encoded}
            return found

        self.update(self.collection, record, fill)
        return None

"""Resource quota controller: updates the usage in the status."""

from collections.abc import Iterable

from devcluster.controllers.base import Controller
from devcluster.objects import dig
from devcluster.quotas import COUNTED, QUOTAS, amount_text, counted_collection, used
from devcluster.store import Change


class QuotaController(Controller):
    name, collection = "quotas", QUOTAS

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        if collection == self.collection:
            return (change.new.key,)
        if collection not in COUNTED:
            return ()
        quotas = self.store.collection(self.collection)
        return [record.key for record in quotas.records_in(change.new.namespace)]

    def reconcile(self, key: str) -> float | None:
        record = self.find(key)
        if record is None:
            return None
        quota = record.load()
        hard = dict(dig(quota, "spec.hard") or {})
        amounts = {
            name: amount_text(name, used(self.store, record.namespace, name))
            for name in hard
            if counted_collection(name)
        }
        status = {"hard": hard, "used": amounts}
        if quota.get("status") != status:
            self.set_status(self.collection, record, status)
        return None

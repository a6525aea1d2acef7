"""Aggregated cluster roles, whose rules are collected from other cluster roles by label.

https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles
"""

from collections.abc import Mapping

from devcluster.crud import Objects
from devcluster.objects import Obj, dicts, dig
from devcluster.rbac import CLUSTER_ROLES
from devcluster.store import Change
from devcluster.write_options import Write


class Aggregation:
    """Update aggregated cluster roles synchronously on every change, so that no client reads stale
    rules.
    """

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._busy = False
        objects.store.collection(CLUSTER_ROLES).listeners.add(self._changed)

    def _changed(self, _: Change) -> None:
        # The updates below call this listener again. The loop already handles those changes.
        if self._busy:
            return
        self._busy = True
        try:
            while self._refresh_all():
                pass
        finally:
            self._busy = False

    def _refresh_all(self) -> bool:
        changed = [name for name in self._aggregated() if self._refresh(name)]
        return bool(changed)

    def _aggregated(self) -> list[str]:
        records = self._objects.store.collection(CLUSTER_ROLES).records_in()
        return [r.name for r in records if b'"aggregationRule"' in r.data]

    def _refresh(self, name: str) -> bool:
        """Collect the rules of one aggregated role again. Return True if the rules changed."""
        declared = self._objects.registry.get(CLUSTER_ROLES)
        role = self._objects.get(declared, "", name).load()
        rules: list[Obj] = []
        for record in self._objects.store.collection(CLUSTER_ROLES).records_in():
            chosen = record.name != name and _selects(role, record.labels)
            for rule in (record.load().get("rules") or ()) if chosen else ():
                if rule not in rules:
                    rules.append(rule)
        if rules == (role.get("rules") or []):
            return False
        new = {"rules": rules}
        self._objects.update(declared, "v1", "", name, lambda found: {**found, **new}, Write())
        return True


def _selects(role: Obj, labels: Mapping[str, str]) -> bool:
    selectors = dicts(dig(role, "aggregationRule.clusterRoleSelectors"))
    wanted = [selector.get("matchLabels") or {} for selector in selectors]
    return any(one and one.items() <= labels.items() for one in wanted)

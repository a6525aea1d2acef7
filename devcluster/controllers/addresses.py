"""The addresses of pods: from the range of their node, none twice at a time."""

import ipaddress

from devcluster.objects import dig
from devcluster.store import Change, Record, Store

_FALLBACK = "10.244.255.0/24"


class PodAddresses:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._used: set[str] = set()
        pods = store.collection("pods")
        for record in pods.records.values():
            self._used.add(record.fields["status.podIP"])
        pods.listeners.add(self._changed)

    def _changed(self, change: Change) -> None:
        if change.kind == "DELETED":
            self._used.discard(change.new.fields["status.podIP"])
        else:
            self._used.add(change.new.fields["status.podIP"])

    def next(self, record: Record) -> str:
        """A free address of the range of the pod's node; of all ranges if that is full."""
        node = self._store.find("nodes", record.fields["spec.nodeName"])
        text = (dig(node.load(), "spec.podCIDR") if node else "") or _FALLBACK
        for network in (ipaddress.ip_network(text), ipaddress.ip_network("10.244.0.0/16")):
            hosts = network.hosts()
            # The first one is the bridge's.
            next(hosts)
            for host in hosts:
                if str(host) not in self._used:
                    return str(host)
        return ""

"""Allocation of cluster IPs and node ports."""

import ipaddress

from devcluster.objects import Obj, dig
from devcluster.store import Change, Store

_SERVICES = ipaddress.ip_network("10.96.0.0/16")
_FIRST_NODE_PORT = 30000
_OUTSIDE = ("externalTrafficPolicy", "allocateLoadBalancerNodePorts")


class ServiceAddresses:
    """Allocate unique cluster IPs and node ports for services."""

    def __init__(self, store: Store) -> None:
        self._addresses: set[str] = set()
        self._ports: set[int] = set()
        collection = store.collection("services")
        for record in collection.records_in():
            self._note(record.load())
        collection.listeners.add(self._changed)

    def _changed(self, change: Change) -> None:
        if change.old:
            old = change.old.load()
            self._addresses.discard(dig(old, "spec.clusterIP") or "")
            self._ports.difference_update(_node_ports(old))
        if change.kind != "DELETED":
            self._note(change.new.load())

    def _note(self, service: Obj) -> None:
        self._addresses.add(dig(service, "spec.clusterIP") or "")
        self._ports.update(_node_ports(service))

    def assign(self, service: Obj) -> None:
        """Set the cluster IP and the node ports that the service needs and does not specify."""
        spec = service["spec"]
        if spec.get("type") == "ExternalName":
            return
        if not spec.get("clusterIP"):
            hosts = _SERVICES.hosts()
            spec["clusterIP"] = next(str(h) for h in hosts if str(h) not in self._addresses)
        spec.setdefault("clusterIPs", [spec["clusterIP"]])
        if spec.get("type") in ("NodePort", "LoadBalancer"):
            for port in spec.get("ports") or ():
                if not port.get("nodePort"):
                    taken = self._ports | set(_node_ports(service))
                    port["nodePort"] = next(
                        n for n in range(_FIRST_NODE_PORT, 32768) if n not in taken
                    )

    def preserve(self, service: Obj, old: Obj) -> None:
        """Keep the cluster IP of the old service if the update omits it."""
        for name in ("clusterIP", "clusterIPs"):
            value = dig(old, f"spec.{name}")
            if value and service["spec"].get("type") != "ExternalName":
                service["spec"].setdefault(name, value)
        if service["spec"].get("type") == "ClusterIP" and _node_ports(service) == _node_ports(old):
            # A service that is no longer exposed externally releases its node ports and related
            # fields.
            for port in service["spec"].get("ports") or ():
                port.pop("nodePort", None)
            for name in _OUTSIDE:
                if service["spec"].get(name) == dig(old, f"spec.{name}"):
                    service["spec"].pop(name, None)
        self.assign(service)


def _node_ports(service: Obj) -> list[int]:
    return [p["nodePort"] for p in dig(service, "spec.ports") or () if p.get("nodePort")]

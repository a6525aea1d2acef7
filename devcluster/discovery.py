"""API discovery: groups, versions and resources, and the aggregated format.

https://kubernetes.io/docs/reference/using-api/api-concepts/#discovery-api
"""

import hashlib
from collections.abc import Iterator

from devcluster.objects import Obj, encode
from devcluster.resources import Registry, ResourceType, Subresource

_AGGREGATED = "as=APIGroupDiscoveryList"


def wants_aggregated(accept: str) -> bool:
    """Return True if the first media type of the Accept header is the aggregated format."""
    first = accept.replace(" ", "").split(",")[0]
    return _AGGREGATED in first and "v=v2" in first.split(";")


def core_versions(address: str) -> Obj:
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def _groups(registry: Registry) -> Iterator[Obj]:
    for group, versions in registry.group_versions().items():
        if group:
            listed = [{"groupVersion": f"{group}/{v}", "version": v} for v in versions]
            yield {"name": group, "versions": listed, "preferredVersion": listed[0]}


def group_list(registry: Registry) -> Obj:
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": list(_groups(registry))}


def group(registry: Registry, name: str) -> Obj | None:
    found = next((one for one in _groups(registry) if one["name"] == name), None)
    return {"kind": "APIGroup", "apiVersion": "v1", **found} if found else None


def resource_list(registry: Registry, group_name: str, version: str) -> Obj | None:
    """Return the APIResourceList of a group version, or None if it has no resources."""
    types = [t for t in registry if t.group == group_name and t.version(version)]
    if not types:
        return None
    listed = [entry for declared in types for entry in _resources(declared)]
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{group_name}/{version}" if group_name else version,
        "resources": sorted(listed, key=lambda entry: str(entry["name"])),
    }


def _resources(declared: ResourceType) -> Iterator[Obj]:
    entry: Obj = {
        "name": declared.plural,
        "singularName": declared.singular_name,
        "namespaced": declared.namespaced,
        "kind": declared.kind,
        "verbs": list(declared.verbs),
    }
    entry |= _names(declared)
    if not declared.virtual:
        # The hash only has to differ between types. Clients compare it across upgrades.
        digest = hashlib.sha256(declared.qualified.encode()).digest()
        entry["storageVersionHash"] = digest[:8].hex()
    yield entry
    for sub in declared.subresources:
        typed = {"group": sub.group, "version": sub.version} if sub.version else {}
        yield {
            "name": f"{declared.plural}/{sub.name}",
            "singularName": "",
            "namespaced": declared.namespaced,
            **typed,
            "kind": sub.kind,
            "verbs": list(sub.verbs),
        }


def _names(declared: ResourceType) -> Obj:
    found = {"shortNames": declared.short_names, "categories": declared.categories}
    return {name: list(values) for name, values in found.items() if values}


def aggregated(registry: Registry, *, core: bool) -> Obj:
    """Return the APIGroupDiscoveryList of the core group, or of all other groups."""
    items = []
    for name, versions in registry.group_versions().items():
        if bool(name) != core:
            found = [_aggregated_version(registry, name, version) for version in versions]
            items.append({"metadata": {"name": name} if name else {}, "versions": found})
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    }


def _aggregated_version(registry: Registry, group_name: str, version: str) -> Obj:
    types = [t for t in registry if t.group == group_name and t.version(version)]
    return {
        "version": version,
        "freshness": "Current",
        "resources": [
            _aggregated_resource(declared, version)
            for declared in sorted(types, key=lambda t: t.plural)
        ],
    }


def _aggregated_resource(declared: ResourceType, version: str) -> Obj:
    entry: Obj = {
        "resource": declared.plural,
        "responseKind": _kind(declared.group, version, declared.kind),
        "scope": "Namespaced" if declared.namespaced else "Cluster",
        "singularResource": declared.singular_name,
        "verbs": list(declared.verbs),
    }
    entry |= _names(declared)
    if declared.subresources:
        entry["subresources"] = [
            _aggregated_sub(declared, version, s) for s in declared.subresources
        ]
    return entry


def _aggregated_sub(declared: ResourceType, version: str, sub: Subresource) -> Obj:
    group_name = sub.group if sub.version else declared.group
    return {
        "subresource": sub.name,
        "responseKind": _kind(group_name, sub.version or version, sub.kind),
        "verbs": list(sub.verbs),
    }


def _kind(group_name: str, version: str, kind: str) -> Obj:
    return {"group": group_name, "version": version, "kind": kind}


def etag(body: Obj) -> str:
    return f'"{hashlib.sha256(encode(body)).hexdigest()[:32].upper()}"'

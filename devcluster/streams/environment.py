"""Environment variables of a container, computed like a kubelet from the pod, ConfigMaps and
Secrets.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping

from devcluster.objects import Obj, dicts, dig, meta
from devcluster.shell.processes import PATH
from devcluster.store import Store, key_of

_REFERENCE = re.compile(r"\$\$|\$\(([-._A-Za-z0-9]+)\)")
_LONGEST = 32 * 1024


def environment_of(store: Store, pod: Obj, declared: Obj, home: str) -> dict[str, str]:
    """Return the environment. Variables of the pod override the default variables."""
    found = {"PATH": PATH, "HOSTNAME": hostname_of(pod)}
    found |= dict(_services(store, meta(pod)["namespace"]))
    found["HOME"] = home
    for source in dicts(declared.get("envFrom")):
        prefix = str(source.get("prefix") or "")
        for name, data in _whole(store, pod, source).items():
            found[prefix + name] = _text(data)
    for one in dicts(declared.get("env")):
        name, value = str(one.get("name", "")), one.get("value")
        if value is not None:
            found[name] = _substituted(str(value), found)[:_LONGEST]
        else:
            chosen = _chosen(store, pod, declared, one.get("valueFrom"))
            if chosen is not None:
                found[name] = chosen
    return found


def hostname_of(pod: Obj) -> str:
    host = bool(dig(pod, "spec.hostNetwork")) and dig(pod, "spec.nodeName")
    return str(host or dig(pod, "spec.hostname") or meta(pod)["name"])[:63]


def config_data(store: Store, namespace: str, name: object) -> dict[str, bytes]:
    """Return the data of a ConfigMap, or an empty dictionary if it does not exist."""
    record = store.find("configmaps", key_of(namespace, str(name)))
    held = record.load() if record else {}
    found = {key: str(text).encode() for key, text in (held.get("data") or {}).items()}
    return found | _decoded(held.get("binaryData"))


def secret_data(store: Store, namespace: str, name: object) -> dict[str, bytes]:
    """Return the data of a Secret, or an empty dictionary if it does not exist."""
    record = store.find("secrets", key_of(namespace, str(name)))
    return _decoded(record.load().get("data")) if record else {}


def _decoded(data: Mapping[str, str] | None) -> dict[str, bytes]:
    found = {}
    for key, text in (data or {}).items():
        try:
            found[key] = base64.b64decode(text)
        except (binascii.Error, TypeError):
            continue
    return found


def field_of(pod: Obj, path: str) -> str:
    """Return the downward API value for a path such as `metadata.labels['app']`."""
    match = re.fullmatch(r"metadata\.(labels|annotations)\['(.+)'\]", path)
    if match:
        return str((meta(pod).get(match[1]) or {}).get(match[2], ""))
    found = dig(pod, path)
    if isinstance(found, dict):
        return "\n".join(f'{key}="{value}"' for key, value in sorted(found.items()))
    if isinstance(found, list):
        return ",".join(str(one.get("ip", one) if isinstance(one, dict) else one) for one in found)
    return "" if found is None else str(found)


def resource_of(declared: Obj, path: str) -> str:
    """Return a resource value such as `limits.memory` in its original notation."""
    return str(dig(declared, f"resources.{path}") or "0")


def _services(store: Store, namespace: str) -> Iterator[tuple[str, str]]:
    yield "KUBERNETES_SERVICE_HOST", "10.96.0.1"
    yield "KUBERNETES_SERVICE_PORT", "443"
    for record in store.collection("services").records_in(namespace):
        spec = record.load().get("spec") or {}
        address, ports = spec.get("clusterIP"), list(dicts(spec.get("ports")))
        if address and address != "None" and ports:
            word = record.name.upper().replace("-", "_")
            yield f"{word}_SERVICE_HOST", str(address)
            yield f"{word}_SERVICE_PORT", str(ports[0].get("port", ""))


def _whole(store: Store, pod: Obj, source: Obj) -> dict[str, bytes]:
    """Return all data of the ConfigMap or Secret of an `envFrom` entry."""
    namespace = meta(pod)["namespace"]
    if isinstance(source.get("configMapRef"), dict):
        return config_data(store, namespace, source["configMapRef"].get("name"))
    return secret_data(store, namespace, dig(source, "secretRef.name"))


def _chosen(store: Store, pod: Obj, declared: Obj, source: object) -> str | None:
    namespace = meta(pod)["namespace"]
    for kind, read in (("configMapKeyRef", config_data), ("secretKeyRef", secret_data)):
        name, key = dig(source, f"{kind}.name"), dig(source, f"{kind}.key")
        if key is not None:
            data = read(store, namespace, name).get(str(key))
            return None if data is None else _text(data)
    path = dig(source, "fieldRef.fieldPath")
    if path is not None:
        return field_of(pod, str(path))
    resource = dig(source, "resourceFieldRef.resource")
    return None if resource is None else resource_of(declared, str(resource))


def _text(data: bytes) -> str:
    return data[:_LONGEST].decode(errors="surrogateescape")


def _substituted(value: str, known: Mapping[str, str]) -> str:
    """Replace `$(NAME)` with the value of a previously defined variable and `$$` with `$`."""

    def replace(match: re.Match[str]) -> str:
        return "$" if match[0] == "$$" else known.get(match[1], match[0])

    return _REFERENCE.sub(replace, value)

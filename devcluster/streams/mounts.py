"""Volume mounts of simulated containers."""

from collections.abc import Iterator, Mapping

from devcluster.authn import TokenFile, service_account
from devcluster.objects import Obj, dicts, dig, meta
from devcluster.shell.files import File, Files, Folder, Node, Volume
from devcluster.store import Store, key_of
from devcluster.streams.environment import config_data, field_of, resource_of, secret_data

_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
Contents = Mapping[str, bytes]


class Mounts:
    def __init__(self, store: Store, tokens: TokenFile) -> None:
        self._store, self._tokens = store, tokens

    def mount(self, files: Files, pod: Obj, declared: Obj) -> None:
        """Mount the container's volumes. A mount inside a read-only volume is hidden by that
        volume.
        """
        volumes = {str(one.get("name")): one for one in dicts(dig(pod, "spec.volumes"))}
        places = {}
        if dig(pod, "spec.automountServiceAccountToken") is not False:
            places[_ACCOUNT] = self._reading(pod, declared, {"serviceAccount": {}})
        for mount in dicts(declared.get("volumeMounts")):
            volume, path = volumes.get(str(mount.get("name"))), str(mount.get("mountPath", ""))
            if volume is None or not path.startswith("/") or path.strip("/") == "":
                continue
            node = self._reading(pod, declared, volume)
            inner = str(mount.get("subPath") or "").strip("/")
            places[path] = _under(node, inner) if inner else node
        for path, node in sorted(places.items()):
            try:
                files.put(path, node)
            except OSError:
                continue

    def _reading(self, pod: Obj, declared: Obj, volume: Obj) -> Node:
        kinds = {"configMap", "secret", "projected", "downwardAPI", "serviceAccount"}
        if not kinds & set(volume):
            # A disk or host path is simulated as an empty writable folder.
            return Folder(mode=0o777)
        return Volume(read=lambda: dict(self._files(pod, declared, volume)))

    def _files(self, pod: Obj, declared: Obj, source: Obj) -> Iterator[tuple[str, bytes]]:
        """Yield the files of a volume or of a source of a projected volume."""
        namespace = meta(pod)["namespace"]
        for kind, name, read in (
            ("configMap", "name", config_data),
            ("secret", "secretName", secret_data),
        ):
            wanted = source.get(kind)
            if isinstance(wanted, dict):
                # In a projected volume the field is `name` instead of `secretName`.
                data = read(self._store, namespace, wanted.get(name) or wanted.get("name"))
                yield from _selected(data, wanted.get("items"))
        for one in dicts(dig(source, "downwardAPI.items")):
            path = dig(one, "fieldRef.fieldPath")
            resource = str(dig(one, "resourceFieldRef.resource"))
            text = field_of(pod, str(path)) if path else resource_of(declared, resource)
            yield str(one.get("path", "")), text.encode()
        for part in dicts(dig(source, "projected.sources")):
            yield from self._files(pod, declared, part)
        if isinstance(source.get("serviceAccountToken"), dict):
            path = str(source["serviceAccountToken"].get("path", "token"))
            yield path, self._token(pod)
        if isinstance(source.get("serviceAccount"), dict):
            yield from config_data(self._store, namespace, "kube-root-ca.crt").items()
            yield "namespace", namespace.encode()
            yield "token", self._token(pod)

    def _token(self, pod: Obj) -> bytes:
        namespace = meta(pod)["namespace"]
        name = str(dig(pod, "spec.serviceAccountName") or "default")
        record = self._store.find("serviceaccounts", key_of(namespace, name))
        if record is None:
            return b""
        user = service_account(namespace, name, record.uid)
        return self._tokens.permanent_token(user).encode()


def _selected(data: Contents, items: object) -> Iterator[tuple[str, bytes]]:
    chosen = [(str(i.get("key")), str(i.get("path"))) for i in dicts(items)]
    for key, path in chosen or [(key, key) for key in data]:
        if key in data:
            yield path, data[key]


def _under(node: Node, path: str) -> Node:
    """Return the node at a path in the volume."""
    inner = Files()
    inner.root.children["volume"] = node
    found = inner.find(f"/volume/{path}")
    return found if found is not None else (Folder() if not isinstance(node, Volume) else File())

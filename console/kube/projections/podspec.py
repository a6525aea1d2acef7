"""References to other objects in the spec of a pod or pod template.

`referenced_objects` (for lists and indexes) and `references_of` (for the page of one object)
share their code, so that both directions of a reference agree. Only `references_of` includes the
pod's node.
https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#PodSpec
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from console.kube.interning import InternPool
from console.kube.projections import reserved
from console.kube.projections.common import Present

SECRET, CONFIG_MAP, CLAIM = "Secret", "ConfigMap", "PersistentVolumeClaim"
SERVICE_ACCOUNT, PRIORITY_CLASS, NODE = "ServiceAccount", "PriorityClass.scheduling.k8s.io", "Node"


class PodReference(NamedTuple):
    """A reference. `kind` is `Kind.group`, see `console.kube.group_kind`.

    `how` is volume, env, env-from, pull, account, priority or node. `where` is the volume or
    container.
    """

    kind: str
    name: str
    how: str
    where: str = ""
    optional: bool = False


class LocalReference(msgspec.Struct, gc=False):
    name: str | None = None
    optional: bool | None = None


class _SecretVolume(msgspec.Struct, gc=False):
    secretName: str | None = None
    optional: bool | None = None

    @property
    def reference(self) -> LocalReference:
        return LocalReference(self.secretName, self.optional)


class _ClaimVolume(msgspec.Struct, gc=False):
    claimName: str | None = None


class _Source(msgspec.Struct, gc=False):
    secret: LocalReference | None = None
    configMap: LocalReference | None = None


class _Projected(msgspec.Struct, gc=False):
    sources: tuple[_Source, ...] | None = None


class _Driver(msgspec.Struct, gc=False):
    """A volume driver with a Secret in one of these fields."""

    secretRef: LocalReference | None = None
    nodePublishSecretRef: LocalReference | None = None
    secretName: str | None = None

    @property
    def secret(self) -> LocalReference | None:
        found = self.secretRef or self.nodePublishSecretRef
        return found or (LocalReference(self.secretName) if self.secretName else None)


class _Volume(msgspec.Struct, gc=False):
    name: str = ""
    secret: _SecretVolume | None = None
    configMap: LocalReference | None = None
    projected: _Projected | None = None
    persistentVolumeClaim: _ClaimVolume | None = None
    ephemeral: Present | None = None
    csi: _Driver | None = None
    iscsi: _Driver | None = None
    cephfs: _Driver | None = None
    rbd: _Driver | None = None
    flexVolume: _Driver | None = None
    azureFile: _Driver | None = None

    @property
    def driver(self) -> _Driver | None:
        return (
            self.csi or self.iscsi or self.cephfs or self.rbd or self.flexVolume or self.azureFile
        )


class _ValueFrom(msgspec.Struct, gc=False):
    secretKeyRef: LocalReference | None = None
    configMapKeyRef: LocalReference | None = None


class _Variable(msgspec.Struct, gc=False):
    valueFrom: _ValueFrom | None = None


class _Variables(msgspec.Struct, gc=False):
    secretRef: LocalReference | None = None
    configMapRef: LocalReference | None = None


class Container(reserved.ReservedContainer, gc=False):
    name: str = ""
    env: tuple[_Variable, ...] | None = None
    envFrom: tuple[_Variables, ...] | None = None


class PodSpec(msgspec.Struct, gc=False):
    volumes: tuple[_Volume, ...] | None = None
    serviceAccountName: str | None = None
    imagePullSecrets: tuple[LocalReference, ...] | None = None
    priorityClassName: str | None = None
    ephemeralContainers: tuple[Container, ...] | None = None


class WholeSpec(PodSpec, gc=False):
    """A spec that is decoded only for its references."""

    containers: tuple[Container, ...] | None = None
    initContainers: tuple[Container, ...] | None = None
    nodeName: str | None = None

    @property
    def all(self) -> tuple[Container, ...]:
        """Return all containers, in the same order as a pod's projection."""
        return (*(self.containers or ()), *(self.initContainers or ()))


_pool = InternPool()
_Plain = tuple[str, str, str, str, bool | None]


def referenced_objects(
    spec: PodSpec, containers: Iterable[Container], pod: str = ""
) -> tuple[str, ...]:
    """Return the referenced objects as `Kind.group/name`, in order of first occurrence.

    `containers` are all containers except ephemeral ones. `pod` is the pod's name, or "" for a
    template.
    """
    found = dict.fromkeys([f"{item[0]}/{item[1]}" for item in _named(spec, containers, pod)])
    return _pool.intern(tuple(found))


def references_of(spec: WholeSpec, pod: str = "") -> Iterator[PodReference]:
    """Yield every reference. An object may be referenced several times."""
    for kind, name, how, where, optional in _named(spec, spec.all, pod):
        yield PodReference(kind, name, how, where, bool(optional))
    if pod and spec.nodeName:
        yield PodReference(NODE, spec.nodeName, "node")


# Runs for every pod in a watch, so it avoids allocations.
def _named(spec: PodSpec, containers: Iterable[Container], pod: str) -> list[_Plain]:
    found: list[_Plain] = []
    for volume in spec.volumes or ():
        _volume(found, volume, pod)
    for container in (*containers, *(spec.ephemeralContainers or ())):
        for variable in container.env or ():
            value = variable.valueFrom
            if value is not None:
                _add(found, value.secretKeyRef, value.configMapKeyRef, "env", container.name)
        for group in container.envFrom or ():
            _add(found, group.secretRef, group.configMapRef, "env-from", container.name)
    for pull in spec.imagePullSecrets or ():
        _add(found, pull, None, "pull", "")
    if spec.serviceAccountName:
        found.append((SERVICE_ACCOUNT, spec.serviceAccountName, "account", "", False))
    if spec.priorityClassName:
        found.append((PRIORITY_CLASS, spec.priorityClassName, "priority", "", False))
    return found


def _volume(found: list[_Plain], volume: _Volume, pod: str) -> None:
    where = volume.name
    if volume.configMap is not None:
        _add(found, None, volume.configMap, "volume", where)
    elif volume.projected is not None:
        for source in volume.projected.sources or ():
            _add(found, source.secret, source.configMap, "volume", where)
    elif volume.secret is not None:
        _add(found, volume.secret.reference, None, "volume", where)
    elif volume.persistentVolumeClaim is not None:
        claim = volume.persistentVolumeClaim.claimName
        if claim:
            found.append((CLAIM, claim, "volume", where, False))
    elif volume.ephemeral is not None:
        # The claim name generated by the ephemeral volume controller (VolumeClaimName in its
        # source).
        if pod:
            found.append((CLAIM, f"{pod}-{where}", "volume", where, False))
    elif (driver := volume.driver) is not None:
        _add(found, driver.secret, None, "volume", where)


def _add(
    found: list[_Plain],
    secret: LocalReference | None,
    config_map: LocalReference | None,
    how: str,
    where: str,
) -> None:
    if secret is not None and secret.name:
        found.append((SECRET, secret.name, how, where, secret.optional))
    if config_map is not None and config_map.name:
        found.append((CONFIG_MAP, config_map.name, how, where, config_map.optional))

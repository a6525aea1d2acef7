"""Copies of existing objects, as manifests of new ones.

A copy contains no field that the server or a controller has set for the original. Workloads and pods
get labels of their own, so that no controller or Service of the original selects the copy's pods, or
the other way around.
"""

import base64
import binascii
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from console.kube.apply import writable_content
from console.kube.group_kind import group_kind
from console.kube.gvr import PODS, SECRETS
from console.ui.core.clusters import Kinds
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import LAST_APPLIED, mask_values
from console.ui.editing.imports import read_items
from console.ui.editing.manifest import InvalidManifest
from console.ui.editing.yaml_text import plain_yaml
from console.ui.wizard.paths import ABSENT, Path, remove_at, value_at, write_at

#: Metadata of the original: controllers, owners and deletion.
_METADATA = ("finalizers", "generateName", "ownerReferences")
#: Annotations and labels that controllers, kubectl, Helm and Argo CD set for one object.
_MARKS = {
    LAST_APPLIED,
    "apps.kubernetes.io/pod-index",
    "argocd.argoproj.io/instance",
    "argocd.argoproj.io/tracking-id",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/cronjob-scheduled-timestamp",
    "batch.kubernetes.io/job-completion-index",
    "batch.kubernetes.io/job-name",
    "batch.kubernetes.io/job-tracking",
    "controller-revision-hash",
    "controller-uid",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deployment.kubernetes.io/revision",
    "deprecated.daemonset.template.generation",
    "job-name",
    "kubernetes.io/service-account.uid",
    "meta.helm.sh/release-name",
    "meta.helm.sh/release-namespace",
    "pod-template-generation",
    "pod-template-hash",
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
    "pv.kubernetes.io/provisioned-by",
    "statefulset.kubernetes.io/pod-name",
    "volume.beta.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/selected-node",
    "volume.kubernetes.io/storage-provisioner",
}
#: Fields that the server or a controller sets, by type.
_SET_BY_SERVER: Mapping[str, tuple[Path, ...]] = {
    "persistentvolumeclaims": (("spec", "volumeName"),),
    "persistentvolumes": (("spec", "claimRef"),),
    "pods": (("spec", "nodeName"), ("spec", "ephemeralContainers"), ("spec", "priority")),
    "serviceaccounts": (("secrets",),),
    "services": (("spec", "clusterIPs"), ("spec", "healthCheckNodePort")),
}
#: Labels that tell one instance of an app from another, the most common first.
_OWN_LABELS = ("app.kubernetes.io/instance", "app", "k8s-app", "app.kubernetes.io/name")
_SELECTOR: Path = ("spec", "selector")
_LABELS: Path = ("metadata", "labels")
#: Volumes with the token of the pod's service account, which admission adds.
_TOKEN_VOLUME = "kube-api-access-"  # noqa: S105 - the start of a name


def copy_of(
    kind: ResourceKind, live: Mapping[str, Any], name: str, namespace: str
) -> dict[str, Any]:
    """Return the manifest of a copy with this name. `namespace` is "" if it isn't chosen yet. Hidden
    values are replaced by placeholders, see `console.ui.editing.manifest`.
    """
    found = deepcopy(with_texts(kind, writable_content(live)))
    if kind.masked:
        mask_values(found, kind.masked)
    before = str(found["metadata"].pop("name", ""))
    for field in (*_METADATA, "namespace"):
        found["metadata"].pop(field, None)
    place = {"namespace": namespace} if namespace and kind.view.namespaced else {}
    found["metadata"] = {"name": name, **place, **found["metadata"]}
    for path in _SET_BY_SERVER.get(kind.segment, ()):
        remove_at(found, path)
    _clean(kind, found)
    pod: Path = kind.pod_spec
    for path in (("metadata",), *((pod[:-1] + ("metadata",),) if pod else ())):
        for marks in ("annotations", "labels"):
            for mark in _MARKS:
                remove_at(found, (*path, marks, mark), len(path))
    if pod:
        _relabel(kind, found, before, name)
    return found


def stem_of(live: Mapping[str, Any]) -> str:
    """Return the name without the part that the server generated."""
    metadata = live.get("metadata") or {}
    name, prefix = str(metadata.get("name", "")), metadata.get("generateName")
    generated = isinstance(prefix, str) and name.startswith(prefix)
    return prefix.rstrip("-.") or name if generated and isinstance(prefix, str) else name


def with_texts(kind: ResourceKind, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest as the form shows it: `stringData` contains the values of a Secret that are
    valid text.
    """
    data = manifest.get("data")
    if kind.gvr != SECRETS or not isinstance(data, dict):
        return dict(manifest)
    texts, rest = dict[str, str](), dict[str, Any]()
    for key, value in data.items():
        try:
            texts[key] = base64.b64decode(value or "", validate=True).decode()
        except (binascii.Error, TypeError, UnicodeDecodeError):
            rest[key] = value
    kept = {name: one for name, one in manifest.items() if name != "data"}
    return {**kept, **({"data": rest} if rest else {}), **({"stringData": texts} if texts else {})}


def template_text(kinds: Kinds, text: str) -> str:
    """Return a draft's manifests as YAML documents for a template: without namespaces, and without
    values that are never shown, such as those of Secrets. Raise `InvalidManifest` for a text that
    contains anything but objects with names.
    """
    items, problems = read_items(text, "")
    if problems:
        raise InvalidManifest(problems)
    found = []
    for item in items:
        manifest = deepcopy(writable_content(item.found.manifest))
        manifest["metadata"].pop("namespace", None)
        kind = kinds.by_group_kind(group_kind(item.kind, item.group))
        if kind is not None and kind.masked:
            remove_at(manifest, ("metadata", "annotations", LAST_APPLIED), 1)
            for path in kind.masked:
                _empty(kind, manifest, path)
        found.append(plain_yaml(manifest))
    return "---\n".join(found)


def _empty(kind: ResourceKind, manifest: dict[str, Any], path: Path) -> None:
    """Replace the values at a path by empty ones. The form shows those of a Secret as texts."""
    value = value_at(manifest, path)
    if isinstance(value, dict):
        remove_at(manifest, path)
        if path == ("data",) and kind.gvr == SECRETS:
            path = ("stringData",)
        held = value_at(manifest, path)
        write_at(
            manifest, path, dict.fromkeys([*value, *(held if isinstance(held, dict) else ())], "")
        )
    elif value is not ABSENT:
        remove_at(manifest, path)


def _clean(kind: ResourceKind, found: dict[str, Any]) -> None:
    """Remove values that only some objects of a type get from the server."""
    if kind.segment == "services":
        if value_at(found, ("spec", "clusterIP")) != "None":
            remove_at(found, ("spec", "clusterIP"))
        for port in _mappings(found, ("spec", "ports")):
            port.pop("nodePort", None)
    if kind.segment == "jobs" and value_at(found, ("spec", "manualSelector")) is not True:
        remove_at(found, _SELECTOR)
    if found.get("type") == "kubernetes.io/service-account-token":
        found.pop("data", None)
        found.pop("stringData", None)
    if kind.gvr == PODS:
        spec = found.get("spec")
        tokens = {
            one.get("name")
            for one in _mappings(spec, ("volumes",))
            if str(one.get("name", "")).startswith(_TOKEN_VOLUME)
        }
        _drop(spec, "volumes", "name", tokens)
        for containers in ("containers", "initContainers"):
            for container in _mappings(spec, (containers,)):
                _drop(container, "volumeMounts", "name", tokens)
    for mark in _MARKS:
        remove_at(found, (*_SELECTOR, "matchLabels", mark), len(_SELECTOR) + 1)


def _drop(holder: Any, items: str, field: str, values: set[Any]) -> None:
    """Remove the items of a list whose field has one of these values."""
    found = value_at(holder, (items,))
    if values and isinstance(found, list):
        kept = [one for one in found if value_at(one, (field,)) not in values]
        if kept:
            write_at(holder, (items,), kept)
        else:
            remove_at(holder, (items,))


def _mappings(tree: Any, path: Path) -> list[dict[str, Any]]:
    found = value_at(tree, path)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _relabel(kind: ResourceKind, found: dict[str, Any], before: str, name: str) -> None:
    """Let the labels that select the pods carry the new name. If none carries the old one, the most
    common label for an instance is changed, or the label `app` is added.
    """
    template = _LABELS if kind.gvr == PODS else (*kind.pod_spec[:-1], *_LABELS)
    selects = isinstance(value_at(found, _SELECTOR), dict)
    chosen = value_at(found, (*_SELECTOR, "matchLabels")) if selects else ABSENT
    labels = chosen if isinstance(chosen, dict) and chosen else value_at(found, template)
    labels = dict(labels) if isinstance(labels, dict) else {}
    own = {key for key, value in labels.items() if value == before}
    is_selected = selects or kind.gvr == PODS
    if not own and is_selected:
        own = set([*(key for key in _OWN_LABELS if key in labels), *labels][:1])
    value = name[:63].rstrip("-._")
    changed = {(key, labels[key]): value for key in own}
    for path in (template, _LABELS):
        _replace(value_at(found, path), changed)
    _replace_in_selector(value_at(found, _SELECTOR), changed)
    _replace_in_pod(value_at(found, kind.pod_spec), changed)
    if not own and is_selected:
        for path in (template, *(((*_SELECTOR, "matchLabels"),) if selects else ())):
            write_at(found, (*path, "app"), value)
    if value_at(found, ("spec", "serviceName")) == before:
        write_at(found, ("spec", "serviceName"), name)


def _replace(labels: Any, changed: Mapping[tuple[str, Any], str]) -> None:
    if isinstance(labels, dict):
        for (key, value), new in changed.items():
            if labels.get(key) == value:
                labels[key] = new


def _replace_in_selector(selector: Any, changed: Mapping[tuple[str, Any], str]) -> None:
    _replace(value_at(selector, ("matchLabels",)), changed)
    for one in _mappings(selector, ("matchExpressions",)):
        values = one.get("values")
        if isinstance(values, list):
            one["values"] = [changed.get((one.get("key", ""), value), value) for value in values]


def _replace_in_pod(tree: Any, changed: Mapping[tuple[str, Any], str]) -> None:
    """Replace labels in the selectors of affinities and topology spread constraints."""
    for name, inside in tree.items() if isinstance(tree, dict) else ():
        if name == "labelSelector":
            _replace_in_selector(inside, changed)
        else:
            _replace_in_pod(inside, changed)
    for inside in tree if isinstance(tree, list) else ():
        _replace_in_pod(inside, changed)

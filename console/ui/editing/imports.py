"""Parse objects to create or update from a text of several YAML or JSON documents.

The cost is bounded by the length of the text. Missing values are not guessed. The cluster
decides what a document would create (`console.views.importing`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from django.utils.translation import gettext as _

from console.kube.api_discovery import CreatableType
from console.kube.apply import SERVER_SET
from console.kube.gvr import BUILT_IN_GROUPS, GVR
from console.kube.names import API_VERSION
from console.ui.core.manifests import mapping, mappings_at
from console.ui.core.text import escape_invisible
from console.ui.editing.manifest import (
    InvalidManifest,
    ManifestProblem,
    ParsedManifest,
    syntax_problem,
)
from console.ui.editing.schema_check import KindSchema
from console.ui.editing.yaml_text import Document, UnreadableDocument, read_documents

#: Maximum number of bytes in UTF-8 (`console.web.server.MAX_BODY` is larger), and of objects.
MOST, MOST_OBJECTS = 8 * 2**20, 2000
#: Creation order of Helm, except that CustomResourceDefinitions come before objects that may need
#: them: https://github.com/helm/helm/blob/main/pkg/release/v1/util/kind_sorter.go
ORDER = (
    "PriorityClass",
    "Namespace",
    "CustomResourceDefinition",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
)
#: Webhooks come last, because they may reject later objects. Custom resources come before, because
#: they may need any other object.
_LAST = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_RBAC = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """Reference to an object by group and kind, independent of the version."""

    group: str
    kind: str
    name: str
    namespace: str = ""

    def __str__(self) -> str:
        place = f"{self.namespace}/" if self.namespace else ""
        return escape_invisible(f"{self.kind} {place}{self.name}")


@dataclass(frozen=True, slots=True)
class ImportItem:
    """An object to create or update.

    `found.manifest` is the request body, except for a namespace that the text does not contain.
    `name` is "" if the server generates a name that starts with `prefix`.
    """

    found: ParsedManifest
    group: str
    version: str
    kind: str
    namespace: str
    name: str
    prefix: str
    line: int
    uid: ClassVar[str] = ""

    @property
    def api_version(self) -> str:
        return str(self.found.manifest["apiVersion"])

    @property
    def shown_name(self) -> str:
        return escape_invisible(self.name or f"{self.prefix}…")

    def ref(self, namespace: str) -> ObjectRef:
        return ObjectRef(self.group, self.kind, self.name, namespace)

    def problem(self, text: str, *steps: str) -> ManifestProblem:
        return self.found.problem(text, steps)


def read_items(text: str, namespace: str) -> tuple[list[ImportItem], list[ManifestProblem]]:
    """Return the objects in the order of the text, and the problems of all documents that don't
    describe an object. `namespace` is the default for objects without a namespace. Raise
    `InvalidManifest` if the text is too large or contains no objects.
    """
    if len(text.encode(errors="replace")) > MOST:
        size = {"most": MOST // 2**20}
        raise InvalidManifest(_("Use at most %(most)s MiB of text.") % size)
    items: list[ImportItem] = []
    problems: list[ManifestProblem] = []
    seen: set[ObjectRef] = set()
    for found in read_documents(text):
        if isinstance(found, UnreadableDocument):
            problems.append(syntax_problem(found.error, found.part.text, found.part.line))
            continue
        for document in _expanded(found):
            if len(items) + len(problems) >= MOST_OBJECTS:
                words = {"most": f"{MOST_OBJECTS:,}"}
                text = _("You can create at most %(most)s objects at a time.") % words
                raise InvalidManifest([*problems[: MOST_OBJECTS - 1], ManifestProblem(text)])
            wrong = list(_problems(document))
            problems += wrong
            if wrong:
                continue
            item = _item(document)
            ref = item.ref(item.namespace or namespace)
            if item.name and ref in seen:
                wrong = [item.problem(_("This object appears more than once."), "metadata", "name")]
                problems += wrong
                continue
            seen.add(ref)
            items.append(item)
    if not (items or problems):
        raise InvalidManifest(_("No objects to create were found."))
    return items, problems


def _expanded(document: Document) -> Iterator[Document]:
    """Yield the items of a list, recursively. As in kubectl, every object with `items` is a list."""
    value = document.value
    if not (isinstance(value, dict) and isinstance(value.get("items"), list)):
        yield document
        return
    of_kind = str(value.get("kind", "")).removesuffix("List")
    for item in document.within("items"):
        if of_kind and isinstance(item.value, dict):
            # Items of a typed list, such as PodList, may omit their kind.
            known = {"apiVersion": value.get("apiVersion"), "kind": of_kind}
            item = replace(item, value={**known, **item.value}, start=None)
        yield from _expanded(item)


def _problems(document: Document) -> Iterator[ManifestProblem]:
    value = document.value
    metadata = value.get("metadata") if isinstance(value, dict) else None
    problem = ParsedManifest(document, {}).problem
    if not isinstance(metadata, dict):
        yield problem(_("This is not a manifest. A manifest needs apiVersion, kind, and metadata."))
        return
    for steps in (("apiVersion",), ("kind",), ("metadata", "name")):
        inside = value if len(steps) == 1 else metadata
        held = inside.get(steps[-1])
        named = steps[-1] == "name" and metadata.get("generateName")
        if not (isinstance(held, str) and held) and not (held is None and named):
            yield problem(_("%(field)s is missing.") % {"field": ".".join(steps)}, steps)
    for name in ("namespace", "generateName"):
        if not isinstance(metadata.get(name) or "", str):
            text = _("%(field)s must be a string.") % {"field": f"metadata.{name}"}
            yield problem(text, ("metadata", name))
    version = value.get("apiVersion")
    if isinstance(version, str) and version and not API_VERSION.fullmatch(version):
        yield problem(_("This is not a valid API version."), ("apiVersion",))


def _item(document: Document) -> ImportItem:
    value = document.value
    metadata = value["metadata"]
    group, _slash, version = value["apiVersion"].rpartition("/")
    kept = {name: held for name, held in metadata.items() if name not in SERVER_SET}
    left_out = [name for name in metadata if name not in kept and metadata[name] is not None]
    found = ParsedManifest(document, {**value, "metadata": kept})
    warnings = [found.ignored_field("metadata", name) for name in sorted(left_out)]
    return ImportItem(
        found=replace(found, ignored=warnings),
        group=group,
        version=version,
        kind=value["kind"],
        namespace=metadata.get("namespace") or "",
        name=metadata.get("name") or "",
        prefix=metadata.get("generateName") or "",
        line=document.place().line,
    )


def in_order(items: Sequence[ImportItem]) -> list[ImportItem]:
    """Sort the objects so that dependencies come first."""
    return sorted(items, key=rank)


def comes_last(item: ImportItem) -> bool:
    return rank(item) > len(ORDER)


def rank(item: ImportItem) -> int:
    """Return the position of the object's kind in the order of creation."""
    if item.group not in BUILT_IN_GROUPS:
        return len(ORDER)
    if item.kind in _LAST:
        return len(ORDER) + 1
    return ORDER.index(item.kind) if item.kind in ORDER else len(ORDER)


def dependencies_of(item: ImportItem, namespace: str) -> Iterator[ObjectRef]:
    """Yield the objects that must exist when this object is created, as far as its manifest shows."""
    manifest = item.found.manifest
    if namespace:
        yield ObjectRef("", "Namespace", namespace)
    if (item.group, item.kind) in ((_RBAC, "RoleBinding"), (_RBAC, "ClusterRoleBinding")):
        role = mapping(manifest, "roleRef")
        kind, name = role.get("kind"), role.get("name")
        if isinstance(kind, str) and isinstance(name, str):
            yield ObjectRef(_RBAC, kind, name, namespace if kind == "Role" else "")
    if (item.group, item.kind) == ("", "Pod"):
        spec = mapping(manifest, "spec")
        account, priority = spec.get("serviceAccountName"), spec.get("priorityClassName")
        if isinstance(account, str):
            yield ObjectRef("", "ServiceAccount", account, namespace)
        if isinstance(priority, str):
            yield ObjectRef("scheduling.k8s.io", "PriorityClass", priority)


@dataclass(frozen=True, slots=True)
class DefinedType:
    """A type that a CustomResourceDefinition in the text defines."""

    type: CreatableType
    definition: ObjectRef
    schema: KindSchema


def defined_types(items: Sequence[ImportItem]) -> Mapping[tuple[str, str, str], DefinedType]:
    """Return the types that the CustomResourceDefinitions in `items` define, by group, version and
    kind.
    """
    found: dict[tuple[str, str, str], DefinedType] = {}
    for item in items:
        if (item.group, item.kind) != ("apiextensions.k8s.io", "CustomResourceDefinition"):
            continue
        manifest = item.found.manifest
        names, group = mapping(manifest, "spec", "names"), mapping(manifest, "spec").get("group")
        kind, plural = names.get("kind"), names.get("plural")
        namespaced = mapping(manifest, "spec").get("scope") == "Namespaced"
        if not (isinstance(kind, str) and isinstance(plural, str) and isinstance(group, str)):
            continue
        for version in mappings_at(manifest, "spec", "versions"):
            name: Any = version.get("name")
            if isinstance(name, str):
                served = CreatableType(GVR(group, name, plural), namespaced)
                schema = KindSchema(mapping(version, "schema", "openAPIV3Schema"), {})
                found[group, name, kind] = DefinedType(served, item.ref(""), schema)
    return found

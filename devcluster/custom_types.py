"""CustomResourceDefinitions: validation, and the resource types that they define.

Rules:
https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft4Validator

from devcluster.errors import Cause, invalid_value, required, unsupported
from devcluster.merge_rules import SchemaShape
from devcluster.objects import Obj, dicts, dig, holds, meta, timestamp
from devcluster.resources import Registry, ResourceType, Subresource, Version
from devcluster.schema import Schema, validator
from devcluster.store import Change, Record, Store

CRDS = "customresourcedefinitions.apiextensions.k8s.io"
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"


@dataclass(frozen=True)
class CustomVersion:
    """A version of a custom type with its compiled validator."""

    schema: Schema
    checker: Draft4Validator
    has_status: bool
    columns: tuple[Obj, ...]

    @property
    def shape(self) -> SchemaShape:
        return SchemaShape(self.schema, top=True)


class CustomTypes:
    """Registers and unregisters custom types when their definitions in the store change."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store, self._registry = store, registry
        self._versions: dict[tuple[str, str], CustomVersion] = {}
        collection = store.collection(CRDS)
        for record in collection.records_in():
            self._serve(record)
        collection.listeners.add(self._changed)

    def find(self, declared: ResourceType, version: str) -> CustomVersion | None:
        """Return a version of a custom type, or None for a built-in type."""
        return self._versions.get((declared.qualified, version)) if declared.custom else None

    def conflict(self, crd: Obj) -> Cause | None:
        """Return a cause (field, reason, message) if another type of the group already uses one of
        the names.
        """
        names, group = crd["spec"]["names"], crd["spec"]["group"]
        others = [t for t in self._registry if t.group == group and t.plural != names["plural"]]
        for field, reason, values in (
            ("singular", "SingularConflict", [names.get("singular", "")]),
            ("shortNames", "ShortNamesConflict", names.get("shortNames") or []),
        ):
            taken = {n for t in others for n in (t.plural, t.singular_name, *t.short_names)}
            for value in values:
                if value in taken:
                    return Cause(field, reason, f'"{value}" is already in use')
        kinds = {kind for t in others for kind in (t.kind, t.list_kind_name)}
        if names["kind"] in kinds:
            return Cause("kind", "KindConflict", f'"{names["kind"]}" is already in use')
        if names.get("listKind") in kinds:
            return Cause("listKind", "ListKindConflict", f'"{names["listKind"]}" is already in use')
        return None

    def _changed(self, change: Change) -> None:
        if change.kind != "DELETED":
            self._serve(change.new)
            return
        crd = change.new.load()
        spec = crd["spec"]
        plural = spec["names"]["plural"]
        self._registry.remove(spec["group"], plural)
        self._store.drop(f"{plural}.{spec['group']}")
        for version in spec["versions"]:
            self._versions.pop((f"{plural}.{spec['group']}", version["name"]), None)

    def _serve(self, record: Record) -> None:
        crd = record.load()
        declared = resource_type(crd)
        if declared is None or not holds(crd, "Established"):
            return
        self._registry.put(declared)
        self._store.index(declared.storage, declared.fields)
        for version in crd["spec"]["versions"]:
            self._versions[declared.qualified, version["name"]] = _custom_version(version)


def _custom_version(version: Obj) -> CustomVersion:
    schema = dig(version, "schema.openAPIV3Schema") or {}
    return CustomVersion(
        schema,
        validator(schema),
        "status" in (version.get("subresources") or {}),
        tuple(version.get("additionalPrinterColumns") or ()),
    )


def resource_type(crd: Obj) -> ResourceType | None:
    """Return the resource type that a definition declares, or None if it serves no version."""
    spec = crd["spec"]
    names = spec["names"]
    served = [version for version in spec["versions"] if version.get("served")]
    if not served:
        return None
    fields = {f["jsonPath"].lstrip(".") for v in served for f in v.get("selectableFields") or ()}
    return ResourceType(
        group=spec["group"],
        plural=names["plural"],
        kind=names["kind"],
        singular=names.get("singular", ""),
        list_kind=names.get("listKind", ""),
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        versions=tuple(Version(version["name"]) for version in served),
        namespaced=spec["scope"] == "Namespaced",
        subresources=tuple(_subresources(names["kind"], served)),
        fields=tuple(sorted(fields)),
        generation=True,
        unconditional=False,
        custom=True,
    )


def _subresources(kind: str, versions: list[Obj]) -> Iterator[Subresource]:
    found = {name for version in versions for name in version.get("subresources") or {}}
    if "scale" in found:
        yield Subresource("scale", "Scale", group="autoscaling", version="v1")
    if "status" in found:
        yield Subresource("status", kind)


def prepare_crd(crd: Obj, old: Obj | None, conflict: Callable[[Obj], Cause | None]) -> None:
    """Set default names and the status conditions that report whether the type is served."""
    spec = crd.setdefault("spec", {})
    spec.setdefault("conversion", {"strategy": "None"})
    names = spec.get("names")
    if not isinstance(names, dict) or not names.get("kind"):
        return
    kind = str(names["kind"])
    names.setdefault("singular", kind.lower())
    names.setdefault("listKind", f"{kind}List")
    stored = [
        version.get("name") for version in dicts(spec.get("versions")) if version.get("storage")
    ]
    status = dict((old or {}).get("status") or {})
    status["acceptedNames"] = names
    known = list(status.get("storedVersions") or [])
    status["storedVersions"] = known + [name for name in stored if name not in known]
    if not holds({"status": status}, "Established"):
        found = conflict(crd) if names.get("plural") and spec.get("group") else None
        status["conditions"] = _conditions(found)
        if found:
            status["acceptedNames"] = {"plural": "", "kind": ""}
    crd["status"] = status


def _conditions(conflict: Cause | None) -> list[Obj]:
    if conflict is None:
        return [
            _condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            _condition(
                "Established", "InitialNamesAccepted", "the initial names have been accepted"
            ),
        ]
    waiting = _condition("Established", "NotAccepted", "not all names are accepted")
    refused = _condition("NamesAccepted", conflict.reason, conflict.message)
    return [{**refused, "status": "False"}, {**waiting, "status": "False"}]


def _condition(kind: str, reason: str, message: str) -> Obj:
    return {
        "type": kind,
        "status": "True",
        "lastTransitionTime": timestamp(),
        "reason": reason,
        "message": message,
    }


def mark_crd_terminating(crd: Obj) -> None:
    """Mark a definition as terminating. The definition is removed after all of its objects are
    deleted.
    """
    finalizers = meta(crd).setdefault("finalizers", [])
    if CLEANUP not in finalizers:
        finalizers.append(CLEANUP)
    condition = _condition(
        "Terminating", "InstanceDeletionPending", "CustomResource deletion is pending"
    )
    crd.setdefault("status", {}).setdefault("conditions", []).append(condition)


def validate_crd(crd: Obj, old: Obj | None) -> Iterator[Cause]:
    spec = crd.get("spec") or {}
    names: dict[str, Any] = spec.get("names") or {}
    for path in ("group", "scope"):
        if not spec.get(path):
            yield required(f"spec.{path}")
    for path in ("plural", "kind"):
        if not names.get(path):
            yield required(f"spec.names.{path}")
    if spec.get("scope") and spec["scope"] not in ("Cluster", "Namespaced"):
        yield unsupported("spec.scope", spec["scope"], ("Cluster", "Namespaced"))
    expected = f"{names.get('plural')}.{spec.get('group')}"
    if meta(crd).get("name") != expected:
        yield invalid_value(
            "metadata.name", meta(crd).get("name"), 'must be spec.names.plural+"."+spec.group'
        )
    yield from _validate_versions(list(dicts(spec.get("versions"))))
    for path in ("group", "scope", "names.kind", "names.plural"):
        if old and dig(old, f"spec.{path}") != dig(crd, f"spec.{path}"):
            yield invalid_value(f"spec.{path}", dig(crd, f"spec.{path}"), "field is immutable")


def _validate_versions(versions: list[Obj]) -> Iterator[Cause]:
    if not versions:
        yield required("spec.versions")
        return
    if sum(bool(version.get("storage")) for version in versions) != 1:
        why = "must have exactly one version marked as storage version"
        yield invalid_value("spec.versions", "versions", why)
    for index, version in enumerate(versions):
        place = f"spec.versions[{index}]"
        if not version.get("name"):
            yield required(f"{place}.name")
        schema = dig(version, "schema.openAPIV3Schema")
        if not isinstance(schema, dict):
            yield required(f"{place}.schema.openAPIV3Schema", "schemas are required")
        elif schema.get("type") != "object":
            yield invalid_value(
                f"{place}.schema.openAPIV3Schema.type",
                schema.get("type"),
                "must be object at the root",
            )

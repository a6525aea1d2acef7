"""CustomResourceDefinitions.

Schemas are not projected: they are most of a definition and rarely needed.
https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
"""

import msgspec

from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS
from console.kube.projections.common import (
    ConditionsOnly,
    Decoders,
    Object,
    Present,
    Projection,
    basics,
    decoder,
    find_condition,
)


class PrinterColumn(msgspec.Struct, frozen=True, gc=False):
    """A column of `kubectl get`. With a `priority` above 0 it is only shown in wide output."""

    name: str = ""
    type: str = "string"
    jsonPath: str = ""
    priority: int = 0
    format: str = ""
    description: str = ""


class Version(msgspec.Struct, frozen=True, gc=False):
    """A version of a custom resource.

    `has_state` is True if the status in its schema has conditions or a phase. `scalable` is True if it
    has the subresource `scale`. `deprecated` is True
    if the version is deprecated, and `warning` is the warning for its users, or "".
    """

    name: str
    served: bool
    storage: bool
    columns: tuple[PrinterColumn, ...]
    has_state: bool
    scalable: bool = False
    deprecated: bool = False
    warning: str = ""


class Definition(Projection, frozen=True, gc=False):
    """A CustomResourceDefinition.

    `established` is True if kube-apiserver serves it. `conflict` is the reason why it does not,
    or "". `conversion` is the strategy to convert objects between versions.
    """

    group: str
    plural: str
    singular: str
    kind: str
    short_names: tuple[str, ...]
    namespaced: bool
    versions: tuple[Version, ...]
    established: bool
    conflict: str
    conversion: str


class _Names(msgspec.Struct, gc=False):
    plural: str = ""
    singular: str = ""
    kind: str = ""
    shortNames: tuple[str, ...] | None = None


class _StatusProperties(msgspec.Struct, gc=False):
    conditions: Present | None = None
    phase: Present | None = None

    @property
    def has_state(self) -> bool:
        return self.conditions is not None or self.phase is not None


class _StatusSchema(msgspec.Struct, gc=False):
    properties: _StatusProperties | None = None


class _Properties(msgspec.Struct, gc=False):
    status: _StatusSchema | None = None


class _OpenAPI(msgspec.Struct, gc=False):
    properties: _Properties | None = None


class _Schema(msgspec.Struct, gc=False):
    openAPIV3Schema: _OpenAPI | None = None


class _Subresources(msgspec.Struct, gc=False):
    scale: Present | None = None


class _Version(msgspec.Struct, gc=False):
    name: str = ""
    served: bool = False
    storage: bool = False
    additionalPrinterColumns: tuple[PrinterColumn, ...] | None = None
    schema: _Schema | None = None
    subresources: _Subresources | None = None
    deprecated: bool | None = None
    deprecationWarning: str | None = None


class _Conversion(msgspec.Struct, gc=False):
    strategy: str = ""


class _Spec(msgspec.Struct, gc=False):
    group: str = ""
    scope: str = ""
    names: _Names = msgspec.field(default_factory=_Names)
    versions: tuple[_Version, ...] | None = None
    conversion: _Conversion | None = None


class _Read(Object, gc=False):
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: ConditionsOnly | None = None


def _project(read: _Read) -> Definition:
    spec, names = read.spec, read.spec.names
    conditions = read.status.conditions if read.status else None
    established = find_condition(conditions, "Established")
    accepted = find_condition(conditions, "NamesAccepted")
    return Definition(
        **basics(read.metadata),
        group=spec.group,
        plural=names.plural,
        singular=names.singular or names.kind.lower(),
        kind=names.kind,
        short_names=names.shortNames or (),
        namespaced=spec.scope != "Cluster",
        versions=tuple(_version(version) for version in spec.versions or ()),
        established=established is not None and established.status == "True",
        conflict=accepted.text if accepted is not None and accepted.status == "False" else "",
        conversion=(spec.conversion.strategy if spec.conversion else "") or "None",
    )


def _version(read: _Version) -> Version:
    columns = read.additionalPrinterColumns or ()
    schema = read.schema.openAPIV3Schema if read.schema else None
    status = schema.properties.status if schema and schema.properties else None
    properties = status.properties if status else None
    return Version(
        name=read.name,
        served=read.served,
        storage=read.storage,
        columns=columns,
        has_state=properties is not None and properties.has_state,
        scalable=read.subresources is not None and read.subresources.scale is not None,
        deprecated=bool(read.deprecated),
        warning=read.deprecationWarning or "",
    )


decode = decoder(_Read, _project)

DECODERS: Decoders = {CUSTOM_RESOURCE_DEFINITIONS: decode}

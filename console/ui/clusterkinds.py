"""The kinds of one cluster."""

from console.kube.discovery import CustomTypes
from console.kube.gvr import GVR
from console.ui.customs import CustomKinds
from console.ui.kind import ResourceKind
from console.ui.registry import Registry


class Kinds:
    """The built-in kinds (`declared`) and the custom resources of the cluster (`customs`)."""

    def __init__(self, declared: Registry, types: CustomTypes) -> None:
        self.declared = declared
        self.customs = CustomKinds(declared.declares, types)

    def find(self, segment: str) -> ResourceKind | None:
        """Return the kind for a URL segment, `plural` or `plural.group`."""
        return self.declared.by_segment(segment) or self.customs.find(segment)

    def of(self, gvr: GVR) -> ResourceKind | None:
        """Return the kind of a type, or None if no kind exists for this version."""
        declared = self.declared.by_type(gvr)
        if declared is not None:
            return declared
        custom = self.customs.find(gvr.qualified)
        return custom if custom is not None and custom.gvr == gvr else None

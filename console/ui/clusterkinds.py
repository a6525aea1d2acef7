"""The kinds of one cluster."""

from console.kube.discovery import Types
from console.kube.gvr import GVR
from console.ui.customs import CustomKinds
from console.ui.kind import ResourceKind
from console.ui.registry import Registry


class Kinds:
    """Those that are declared, and `customs`, those of its custom resources."""

    def __init__(self, declared: Registry, types: Types) -> None:
        self.declared = declared
        self.customs = CustomKinds(declared.declares, types)

    def find(self, segment: str) -> ResourceKind | None:
        """The kind of a URL segment, `plural` or `plural.group`."""
        return self.declared.find(segment) or self.customs.find(segment)

    def of(self, gvr: GVR) -> ResourceKind | None:
        """The kind of a type, None if there is none for this version of it."""
        declared = self.declared.of(gvr)
        if declared is not None:
            return declared
        custom = self.customs.find(gvr.qualified)
        return custom if custom is not None and custom.gvr == gvr else None

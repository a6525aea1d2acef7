"""Pages about the console itself, for those who may see the whole cluster."""

from console.kube.gvr import GVR
from console.ui.access import Access

#: Every type of every group. Kubernetes' own word for it: a rule that names types does not cover it.
EVERYTHING = GVR("*", "*", "*")


def may_change_everything(access: Access) -> bool:
    """To every object: a right to the one that has no name is none."""
    return access.namespaces_where("*", EVERYTHING) is None


def may_list_everything(access: Access) -> bool:
    return access.can("list", EVERYTHING)

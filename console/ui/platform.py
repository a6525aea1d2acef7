"""Access to pages about the console itself, which require permissions for the whole cluster."""

from console.kube.gvr import GVR
from console.ui.access import Access

#: All types of all API groups, as a wildcard. Rules that list individual types do not match it.
EVERYTHING = GVR("*", "*", "*")


def may_change_everything(access: Access) -> bool:
    """Return True if the viewer can change all objects. A permission restricted by resource name
    does not count.
    """
    return access.namespaces_where("*", EVERYTHING) is None


def may_list_everything(access: Access) -> bool:
    return access.can("list", EVERYTHING)

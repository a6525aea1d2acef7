"""Labels and amounts of quota resources. Forms show the Kubernetes key next to the label.

https://kubernetes.io/docs/concepts/policy/resource-quotas/ lists the keys.
"""

from decimal import Decimal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR
from console.ui.amounts import bytes_text, cores_text, number_text
from console.ui.clusterkinds import Kinds
from console.ui.kind import segment_of

_AMOUNTS: dict[str, str | Promise] = {
    "cpu": gettext_lazy("CPU request"),
    "requests.cpu": gettext_lazy("CPU request"),
    "limits.cpu": gettext_lazy("CPU limit"),
    "memory": gettext_lazy("Memory request"),
    "requests.memory": gettext_lazy("Memory request"),
    "limits.memory": gettext_lazy("Memory limit"),
    "requests.storage": gettext_lazy("Storage request"),
}


def resource_label(kinds: Kinds, resource: str) -> str:
    """Return the label of a quota resource, such as `CPU limit` or the title of the counted kind.
    Return the key itself if the resource has no label.
    """
    plural, _dot, group = resource.removeprefix("count/").partition(".")
    kind = kinds.find(segment_of(GVR(group, "", plural)))
    return str(_AMOUNTS.get(resource) or (kind.title if kind is not None else resource))


def amount_text(resource: str, amount: Decimal) -> str:
    if resource.endswith("cpu"):
        return cores_text(amount)
    if resource.endswith(("memory", "storage")):
        return bytes_text(amount)
    return number_text(amount)

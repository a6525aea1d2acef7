"""API groups of capabilities that the console doesn't have. Their addresses return 404, and KubeSphere's
console hides their menus (`configz`).
"""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.gateway.errors import Refusal

#: API groups, with the capability that they belong to.
GROUPS: Mapping[str, str | Promise] = {
    "alerting.kubesphere.io": gettext_lazy("alerting"),
    "cluster.kubesphere.io": gettext_lazy("importing clusters"),
    "devops.kubesphere.io": gettext_lazy("pipelines"),
    "edgeruntime.kubesphere.io": gettext_lazy("edge nodes"),
    "gateway.kubesphere.io": gettext_lazy("project gateways"),
    "gitops.kubesphere.io": gettext_lazy("continuous delivery"),
    "kubeedge.kubesphere.io": gettext_lazy("edge nodes"),
    "metering.kubesphere.io": gettext_lazy("metering"),
    "monitoring.kubesphere.io": gettext_lazy("monitoring with history"),
    "network.kubesphere.io": gettext_lazy("network topology"),
    "notification.kubesphere.io": gettext_lazy("notifications"),
    "openpitrix.io": gettext_lazy("the app store"),
    "servicemesh.kubesphere.io": gettext_lazy("the service mesh"),
    "terminal.kubesphere.io": gettext_lazy("terminals"),
}


def no_api(group: str) -> Refusal:
    """Return the response for an address in a group that has no route and no custom resource."""
    capability = GROUPS.get(group)
    if capability is None:
        return Refusal(404, _("The console has no such API."))
    text = _("This console doesn't have the API for %(capability)s.")
    return Refusal(404, text % {"capability": capability})

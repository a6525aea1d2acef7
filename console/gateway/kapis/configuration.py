"""`config.kubesphere.io/v1alpha2` and `/kapis/version`, which need no credential."""

from typing import Any

from django.conf import settings

from accounts.providers.base import RedirectProvider
from accounts.providers.options import read_current_providers
from console.gateway.kapis.call import Call
from console.gateway.kapis.routes import ARRAY, route
from console.kube.gvr import APPLICATIONS, HTTP_ROUTES, VOLUME_SNAPSHOTS

_GROUP = "config.kubesphere.io/v1alpha2"
#: The release of KubeSphere whose API the console serves. KubeSphere's console compares it.
RELEASE = "v3.4.1"
#: Modules that the console doesn't have. KubeSphere's console hides their menus.
_MISSING = (
    *("alerting", "auditing", "devops", "edgeruntime", "events", "kubeedge", "logging", "metering"),
    *("monitoring", "network.ippool", "network.topology", "notification", "openpitrix"),
    *("openpitrix.appstore", "s3", "servicemesh", "sonarqube", "terminal"),
)
_PRESENT = ("authentication", "authorization", "cache", "kubernetes", "network")


@route("GET", _GROUP, "/configs/configz", summary="Show which modules are enabled", public=True)
async def configz(call: Call) -> dict[str, bool]:
    serves = call.cluster.kinds.served.serves
    found = dict.fromkeys(_MISSING, False) | dict.fromkeys(_PRESENT, True)
    found["multicluster"] = False
    found["gateway"] = serves(HTTP_ROUTES) is True
    found["gpu"] = bool(call.cluster.gpu_kinds())
    found["snapshots"] = serves(VOLUME_SNAPSHOTS) is True
    found["applications"] = serves(APPLICATIONS) is True
    return dict(sorted(found.items()))


@route("GET", _GROUP, "/configs/oauth", summary="List the identity providers", public=True)
async def oauth(call: Call) -> dict[str, Any]:
    catalogue = await read_current_providers()
    found = [
        {"name": one.name, "type": one.kind, "provider": _links(one.name, one.provider)}
        for one in catalogue.entries.values()
    ]
    return {"identityProviders": found}


def _links(name: str, provider: object) -> dict[str, Any]:
    """Return the address at which a sign-in begins. The console adds state and nonce itself."""
    if not isinstance(provider, RedirectProvider):
        return {}
    return {"endpoint": {"authURL": f"{settings.BASE_URL}/oauth/redirect/{name}"}}


@route(
    "GET",
    _GROUP,
    "/configs/gpu/kinds",
    summary="List the types of GPUs",
    returns=ARRAY,
    public=True,
)
async def gpu_kinds(call: Call) -> list[dict[str, Any]]:
    return [
        {"resourceName": one.resource, "resourceType": one.label, "default": one.is_default}
        for one in call.cluster.gpu_kinds()
    ]


@route("GET", "", "/version", summary="Show the versions of the API and of Kubernetes", public=True)
async def version(call: Call) -> dict[str, Any]:
    found = {"gitVersion": RELEASE, "gitMajor": "3", "gitMinor": "4", "platform": "linux/amd64"}
    known = call.cluster.kinds.served.version
    if known is None:
        return {**found, "kubernetes": {}}
    major, minor = known.release[:2]
    kubernetes = {"gitVersion": known.name, "major": str(major), "minor": str(minor)}
    return {**found, "kubernetes": kubernetes}

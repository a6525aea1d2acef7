"""`operations.kubesphere.io/v1alpha2`: operations on objects."""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from console.actions.creation import new_name
from console.gateway.errors import Refusal
from console.gateway.kapis.actions import run_action
from console.gateway.kapis.call import SUCCESS, Call
from console.gateway.kapis.objects import check_namespace, find_kind
from console.gateway.kapis.routes import MESSAGE, QueryParameter, route
from console.kube.gvr import JOBS, Key


@route(
    *("POST", "operations.kubesphere.io/v1alpha2", "/namespaces/{namespace}/jobs/{job}"),
    summary="Run a finished job again, as a new job",
    returns=MESSAGE,
    query=(QueryParameter("action", "rerun"), QueryParameter("resourceVersion", "Of the job.")),
)
async def rerun(call: Call, namespace: str, job: str) -> Mapping[str, str]:
    if call.param("action") != "rerun":
        raise Refusal(400, _("The action must be rerun."))
    kind, key = find_kind(call, JOBS.resource), Key(namespace, job)
    check_namespace(kind, namespace)
    may_get = call.access.can("get", JOBS, namespace=namespace, name=job)
    entry = call.cluster.runtime.informer(JOBS).store.get(key) if may_get else None
    wanted = call.param("resourceVersion")
    if wanted and entry is not None and wanted != entry.resource_version:
        raise Refusal(409, _("The job was changed. Read the job again and repeat the request."))
    await run_action(call, kind, "rerun", key, {"name": new_name(job)})
    return SUCCESS

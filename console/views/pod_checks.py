"""Checks the pods of new workloads: with a dry run of one pod per workload, and by the project's pod
security levels.

kube-apiserver accepts a workload whose pods it refuses. The user would only learn of that from the
events of the workload.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from console.kube.apply import Manifest
from console.kube.clients import UserClient
from console.kube.errors import ApiError
from console.kube.gvr import GVR, NAMESPACES, PODS, Key
from console.ui.core.access import Access
from console.ui.core.manifests import mapping, mappings_at
from console.ui.core.permissions import visible
from console.ui.core.text import escape_invisible
from console.ui.core.words import translate_message
from console.views.importing import ObjectResult, refusal
from console.wizards.quota_needs import pod_template_of

#: https://kubernetes.io/docs/concepts/security/pod-security-admission/#pod-security-admission-labels-for-namespaces
_LABEL = "pod-security.kubernetes.io/"
_UNRESTRICTED = "privileged"
_START = re.compile(r'^pods "[^"]*" is forbidden: ')
#: Parts of messages that don't refuse the pod itself: permissions have changed, and quotas, which
#: the review compares separately because the share of a workspace quota follows the usage.
_NOT_CHECKED = ('cannot create resource "pods"', "exceeded quota:")
#: Part of the message if a ServiceAccount is missing, which the same draft may create.
_LATER = "error looking up service account"


@dataclass(frozen=True, slots=True)
class PodCheck:
    """Result of the dry run of a workload's pod. `text` is "" for an accepted pod. `is_error` is
    False for a refusal that may not apply later.
    """

    name: str
    text: str = ""
    is_error: bool = False


async def check_pods(
    access: Access, client: UserClient, results: Sequence[ObjectResult]
) -> list[PodCheck]:
    """Check a pod of each workload that the cluster accepts, if the user may create pods."""
    found = []
    for result in results:
        pod = _pod_of(result)
        if pod is None or refusal(access, "create", PODS, Key(result.namespace, "")):
            continue
        name = result.item.shown_name
        try:
            await client.create(PODS, pod, namespace=result.namespace, dry_run=True)
        except ApiError as error:
            said = translate_message(error.message)
            if error.code == 404 or any(one in said for one in _NOT_CHECKED):
                continue
            unsure = error.code >= 500 or _LATER in said
            reason = escape_invisible(_START.sub("", said))
            text = _("The cluster refuses the pods of %(name)s: %(reason)s")
            found.append(PodCheck(name, text % {"name": name, "reason": reason}, not unsure))
        else:
            found.append(PodCheck(name))
    return found


def security_notes(access: Access, namespace: str, checks: Sequence[PodCheck]) -> list[str]:
    """Return what the pod security levels of a project mean for its pods, as far as the dry runs
    don't show it.
    """
    levels = security_levels(access, namespace)
    name = {"name": escape_invisible(namespace)}
    notes = []
    enforced = levels.get("enforce")
    if enforced and not checks:
        text = _(
            "Project %(name)s refuses pods that don't meet the pod security level %(level)s. The "
            "pods were not checked, because you don't have permission to create pods."
        )
        notes.append(text % {**name, "level": enforced})
    audited = levels.get("audit")
    if audited and audited not in (enforced, levels.get("warn")):
        text = _(
            "Project %(name)s records pods that don't meet the pod security level %(level)s in the "
            "audit log. A dry run doesn't report them."
        )
        notes.append(text % {**name, "level": audited})
    return notes


def security_levels(access: Access, namespace: str) -> Mapping[str, str]:
    """Return the pod security levels of a namespace by mode, without `privileged`. Return nothing
    if the viewer may not see the namespace.
    """
    kind, key = access.cluster.kinds.of(NAMESPACES), Key("", namespace)
    if kind is None or not visible(kind, access).includes(key):
        return {}
    entry = access.cluster.runtime.informer(NAMESPACES).store.get(key)
    labels = mapping(entry.original(), "metadata", "labels") if entry is not None else {}
    return {
        mode: escape_invisible(str(level))
        for mode in ("enforce", "audit", "warn")
        if (level := labels.get(f"{_LABEL}{mode}")) not in (None, _UNRESTRICTED)
    }


def has_pods(results: Sequence[ObjectResult]) -> bool:
    return any(_template(one) for one in results)


def _template(result: ObjectResult) -> Mapping[str, Any]:
    gvr: GVR | None = result.gvr
    return pod_template_of(gvr, result.stored or {}) if gvr is not None else {}


def _pod_of(result: ObjectResult) -> Manifest | None:
    """Return a pod as the controller of a workload creates it."""
    template = _template(result)
    if result.code >= 400 or not template:
        return None
    metadata, spec = mapping(template, "metadata"), dict(mapping(template, "spec"))
    claims = [
        {"name": name, "persistentVolumeClaim": {"claimName": name}}
        for one in mappings_at(result.stored, "spec", "volumeClaimTemplates")
        if (name := mapping(one, "metadata").get("name"))
    ]
    if claims:
        spec["volumes"] = [*mappings_at(spec, "volumes"), *claims]
    about = {key: metadata[key] for key in ("labels", "annotations") if key in metadata}
    prefix = f"{result.item.name or result.item.prefix}-"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**about, "generateName": prefix, "namespace": result.namespace},
        "spec": spec,
    }

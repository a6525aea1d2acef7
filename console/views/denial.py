"""403 page: shows the missing permission, users who could grant it, and a request that the user can
send.

The page depends only on the viewer's permissions and the request, so it doesn't reveal which
objects exist.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from console.kube.gvr import WORKSPACES
from console.ui.core.access import Access, GrantersAccess
from console.ui.core.kind import ResourceKind, Scope
from console.ui.core.permissions import Denied, may_know_kind
from console.ui.core.registry import kinds
from console.ui.core.requests import ConsoleRequest
from console.ui.core.statuses import status_response, wants_status
from console.ui.core.text import escape_invisible
from console.ui.editing.yaml_text import plain_yaml
from console.ui.fragments.empty_states import denied_text
from console.views.errors import page_not_found
from console.views.guard import access_of


def workspace_denied_page(request: ConsoleRequest, denied: Denied, workspace: str) -> HttpResponse:
    """Return the 403 page. `workspace` is the workspace named in the URL, or ""."""
    access = access_of(request)
    inside = access.can("get", WORKSPACES, name=workspace)
    what = _actions().get((denied.verb, denied.gvr.resource), "")
    if not workspace or denied.namespace or (inside and not what):
        return denied_page(request, denied, kinds.by_type(WORKSPACES))
    words = {
        "who": escape_invisible(access.identity.name),
        "workspace": escape_invisible(workspace),
        "url": settings.BASE_URL + quote(request.path),
        "what": what,
    }
    context: dict[str, Any] = {
        **words,
        "inside": inside,
        "wanted": _(
            "Please give me permission to %(what)s in the workspace %(workspace)s: %(url)s. My "
            "username is %(who)s."
        )
        % words
        if inside
        else _("Please invite me to the workspace %(workspace)s: %(url)s. My username is %(who)s.")
        % words,
    }
    return render(request, "console/asking.html", context, status=403)


def _actions() -> dict[tuple[str, str], str]:
    """Return the actions that require a workspace role, as text that continues "let me"."""
    return {
        ("create", "namespaces"): _("create projects"),
        ("get", "namespaces"): _("see this project"),
        ("list", "workspacemembers"): _("see the members"),
        ("create", "workspacemembers"): _("invite members"),
        ("update", "workspacemembers"): _("change the roles of members"),
        ("delete", "workspacemembers"): _("remove members"),
        ("list", "groups"): _("see the departments"),
        ("create", "groups"): _("create departments"),
        ("update", "groups"): _("change departments"),
        ("delete", "groups"): _("delete departments"),
        ("list", "workspaceroles"): _("see the roles"),
        ("update", "workspaces"): _("change the settings"),
    }


_RBAC = "rbac.authorization.k8s.io"
_READS = ("get", "list", "watch")
#: Placeholder for the project in the request text.
ANY_PROJECT = "PROJECT"


@dataclass(frozen=True, slots=True)
class MissingPermission:
    """Missing permission. `resource` is in RBAC notation, for example `deployments/scale`.
    `namespace` is "" for requests without a namespace.
    """

    verb: str
    resource: str
    group: str
    namespace: str
    namespaced: bool

    @property
    def where(self) -> str:
        if self.namespace:
            return _("project %(name)s") % {"name": escape_invisible(self.namespace)}
        return _("any project") if self.namespaced else _("the whole cluster")


def denied_page(
    request: HttpRequest, denied: Denied, kind: ResourceKind | None = None
) -> HttpResponse:
    """Return the 403 page.

    `kind` is the kind of the page, if it differs from the denied resource. If the viewer may not
    know the kind exists, return a 404 page.
    """
    access: Access | None = getattr(request, "access", None)
    refused = access.cluster.kinds.of(denied.gvr) if access is not None else None
    shown = kind or refused
    if access is not None and shown is not None and not may_know_kind(access, shown):
        return page_not_found(request)
    who = access.identity.name if access is not None else ""
    missing = MissingPermission(
        denied.verb,
        "/".join(filter(None, (denied.gvr.resource, denied.subresource))),
        denied.gvr.group,
        denied.namespace,
        refused is not None and refused.scope is Scope.NAMESPACED,
    )
    nouns = refused.nouns if refused is not None else denied.gvr.qualified
    if wants_status(request):
        return status_response(403, denied_text(denied, nouns))
    context = {
        "text": denied_text(denied, nouns),
        "who": who,
        "kind": shown.view if shown else None,
        "missing": missing,
        "granters": _granters(access, denied),
        "wanted": request_text(who, missing, request.path),
    }
    return render(request, "console/denied.html", context, status=403)


def withheld_page(request: HttpRequest, text: str, title: str) -> HttpResponse:
    """Return the 403 page for a page that requires more than a single Kubernetes permission."""
    if wants_status(request):
        return status_response(403, text)
    who = getattr(request, "account", None) or ""
    context = {"text": text, "who": who, "kind": {"title": title}}
    return render(request, "console/denied.html", context, status=403)


def _granters(access: Access | None, denied: Denied) -> Sequence[str]:
    if not isinstance(access, GrantersAccess):
        return ()
    found = access.granters(
        denied.verb, denied.gvr, namespace=denied.namespace, subresource=denied.subresource
    )
    return [who.partition(" ")[2] for who in found]


def request_text(who: str, missing: MissingPermission, path: str) -> str:
    """Return a request for an administrator: a description and the role and binding that grant the
    permission.

    The URL is quoted, so that it can't end the YAML comment or hide content in a value.
    """
    words = {
        "who": who,
        "verb": missing.verb,
        "resource": missing.resource,
        "group": f".{missing.group}" if missing.group else "",
        "where": missing.where,
        "path": quote(path),
    }
    text = _("%(who)s needs permission to %(verb)s %(resource)s%(group)s in %(where)s (%(path)s).")
    documents = "---\n".join(map(plain_yaml, _objects(who, missing)))
    return f"# {text % words}\n{documents}"


def _objects(who: str, missing: MissingPermission) -> list[dict[str, Any]]:
    inside = missing.namespaced or bool(missing.namespace)
    kind = "Role" if inside else "ClusterRole"
    meta = {"name": f"{who}-{missing.verb}-{missing.resource.replace('/', '-')}".lower()}
    if inside:
        meta["namespace"] = missing.namespace or ANY_PROJECT
    verbs = list(_READS) if missing.verb in _READS else [missing.verb]
    rule = {"apiGroups": [missing.group], "resources": [missing.resource], "verbs": verbs}
    role: dict[str, Any] = {
        "apiVersion": f"{_RBAC}/v1",
        "kind": kind,
        "metadata": dict(meta),
        "rules": [rule],
    }
    binding: dict[str, Any] = {
        "apiVersion": f"{_RBAC}/v1",
        "kind": f"{kind}Binding",
        "metadata": dict(meta),
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": meta["name"]},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": who}],
    }
    return [role, binding]

"""`GET /kapis/iam.kubesphere.io/v1alpha2/users/{name}`, compatible with KubeSphere.

Users may read their own object. Reading another user requires the permission to get users,
whether or not the user exists. The password is removed from the object and from kubectl's
last-applied annotation.
"""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from accounts.oauth.bearer import Bearer
from accounts.oauth.errors import no_token
from accounts.oauth.holders import holder_of
from accounts.users.directory import UsersNotCached, trusted_users
from accounts.users.states import APPLIED_ANNOTATION
from console.kube.gvr import GLOBAL_ROLE_BINDINGS, USERS, Key
from console.kube.host_runtime import get_runtime
from console.kube.projections import GlobalRoleBinding, User
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.clusters import HOST
from console.ui.core.statuses import status_response

#: Annotation added to the response, never stored.
GLOBAL_ROLE = "iam.kubesphere.io/globalrole"


@csrf_exempt
async def user(request: HttpRequest, name: str, cluster_name: str = "") -> HttpResponse:
    if request.method not in ("GET", "HEAD"):
        response = status_response(405, "only GET is allowed")
        response["Allow"] = "GET, HEAD"
        return response
    if cluster_name not in ("", HOST):
        return status_response(404, f'clusters.cluster.kubesphere.io "{cluster_name}" not found')
    account: str | None = getattr(request, "account", None)
    if account is None:
        return _refused(getattr(request, "bearer", None))
    try:
        users = trusted_users()
        own = users.store.get(Key("", account))
        if own is not None and holder_of(own).must_choose_password:
            return status_response(403, "choose a password first")
        access: Access | None = getattr(request, "access", None)
        if name != account and (access is None or not access.can("get", USERS, name=name)):
            return _forbidden(account, name)
        found = users.store.get(Key("", name))
    except UsersNotCached:
        return status_response(503, "the users are not loaded yet")
    if found is None:
        return status_response(404, f'users.iam.kubesphere.io "{name}" not found')
    return JsonResponse(shown(found))


def shown(entry: Entry[User]) -> dict[str, Any]:
    """Return the object for the response, without the password."""
    found = entry.original()
    (found.get("spec") or {}).pop("password", None)
    annotations = found["metadata"].get("annotations") or {}
    annotations.pop(APPLIED_ANNOTATION, None)
    role = _global_role(entry.projection.name)
    if role:
        annotations[GLOBAL_ROLE] = role
    if annotations:
        found["metadata"]["annotations"] = annotations
    return {"kind": "User", "apiVersion": USERS.group_version, **found}


def _global_role(name: str) -> str:
    """Return the role of the user's first global role binding in alphabetical order, or ""."""
    snapshot = get_runtime().informer(GLOBAL_ROLE_BINDINGS).store.snapshot()
    found: list[GlobalRoleBinding] = [entry.projection for entry in snapshot.entries.values()]
    for binding in sorted(found, key=lambda binding: binding.name):
        if any(subject.kind == "User" and subject.name == name for subject in binding.subjects):
            return binding.role
    return ""


def _refused(bearer: Bearer | None) -> HttpResponse:
    if bearer is not None and bearer.holder.must_choose_password:
        return status_response(403, "choose a password first")
    if bearer is not None:
        return status_response(403, "the token doesn't have the scope api")
    response = status_response(401, "an access token or a session is required")
    response["WWW-Authenticate"] = no_token().headers["WWW-Authenticate"]
    return response


def _forbidden(account: str, name: str) -> HttpResponse:
    text = (
        f'users.iam.kubesphere.io "{name}" is forbidden: User "{account}" cannot get resource "users" '
        f'in API group "{USERS.group}" at the cluster scope'
    )
    return status_response(403, text)

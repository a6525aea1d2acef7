"""What a new object starts from, in the query of the page that creates it.

- `?example=`: the id of one of the kind's examples.
- `?copy=`: an existing object of the kind, as `name` or `namespace/name`.
- `?template=`: the number of a template of one of the viewer's workspaces.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from asgiref.sync import sync_to_async
from django.http import Http404

from console.kube.clients import UserClient
from console.kube.errors import ApiError
from console.kube.gvr import Key
from console.saved import templates
from console.ui.core.access import Access
from console.ui.core.actions import Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.permissions import check_visible
from console.ui.core.requests import ConsoleRequest
from console.ui.core.threads import in_thread
from console.ui.editing.yaml_text import Document, plain_yaml, read_documents
from console.ui.navigation.projects import visible_workspace_uids
from console.views.authorization import check_permission
from console.wizards.copies import copy_of, stem_of

#: Maximum number of names that are tried, and maximum characters of a name. Names of most kinds are
#: labels (RFC 1123); a CronJob adds 11 characters to the names of its jobs.
MOST_NAMES, MAX_NAME, MAX_CRON_JOB = 20, 63, 52
#: Numbers of templates.
NUMBER = re.compile(r"[0-9]{1,18}")
_COPY = re.compile(r"-copy(-[0-9]+)?\Z")


#: Names of the parameters.
PARAMETERS = ("copy", "example", "template")


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """What a new object starts from. The first of the `manifests` is the object, which gets the unused
    name `name`. Without manifests, the form is empty.
    """

    manifests: Sequence[dict[str, Any]] = ()
    name: str = ""

    @property
    def text(self) -> str:
        """The manifests as YAML documents, with the free name."""
        for manifest in self.manifests[:1]:
            manifest["metadata"]["name"] = self.name
        return "---\n".join(map(plain_yaml, self.manifests))


async def starting_point(
    request: ConsoleRequest, access: Access, kind: ResourceKind, namespace: str
) -> StartingPoint:
    """Return what a new object in the project starts from. `namespace` is "" until a project is
    chosen.

    Raise `Http404` for an unknown example or template, and `Denied` or `ApiError` for an object that
    the viewer can't read.
    """
    client = access.cluster.runtime.as_user(access.identity)
    if "copy" in request.GET:
        key = key_of(request.GET["copy"])
        if (
            not kind.can_be_copied
            or not key.name
            or bool(key.namespace) is not kind.view.namespaced
        ):
            raise Http404
        check_visible(kind, access, key)
        check_permission(Permission("get"), access, kind.gvr, key)
        live = await client.get(kind.gvr, namespace=key.namespace, name=key.name)
        stem = f"{_COPY.sub('', stem_of(live))}-copy"
        name = await free_name(client, kind, namespace, stem)
        return StartingPoint([await in_thread(copy_of, kind, live, name, namespace)], name)
    if "template" in request.GET:
        manifests = await _template(request.GET["template"], access, kind)
        name = await free_name(client, kind, namespace, str(manifests[0]["metadata"]["name"]))
        return StartingPoint(_in_project(manifests, kind, namespace), name)
    wanted = request.GET.get("example", "")
    if not wanted:
        return StartingPoint()
    example = next((one for one in kind.examples if one.id == wanted), None)
    if example is None:
        raise Http404
    name = await free_name(client, kind, namespace, example.id)
    manifests = await in_thread(example.manifests, name)
    return StartingPoint(_in_project(manifests, kind, namespace), name)


async def _template(number: str, access: Access, kind: ResourceKind) -> list[dict[str, Any]]:
    """Return the manifests of a template. Raise `Http404`."""
    if not NUMBER.fullmatch(number):
        raise Http404
    workspaces = visible_workspace_uids(access)
    found = await sync_to_async(templates.find_template)(int(number), workspaces)
    if found is None or found.kind != kind.segment:
        raise Http404
    documents = await in_thread(read_documents, templates.content_of(found))
    manifests = [one.value for one in documents if isinstance(one, Document)]
    if not manifests:
        raise Http404
    return manifests


def _in_project(
    manifests: list[dict[str, Any]], kind: ResourceKind, namespace: str
) -> list[dict[str, Any]]:
    """Set the namespace of the first manifest. The others are created in the same one."""
    if namespace and kind.view.namespaced:
        manifests[0]["metadata"]["namespace"] = namespace
    return manifests


def key_of(text: str) -> Key:
    """Return the key of `str(key)`."""
    namespace, _slash, name = text.rpartition("/")
    return Key(namespace, name)


async def free_name(client: UserClient, kind: ResourceKind, namespace: str, stem: str) -> str:
    """Return `stem`, or `stem-2` and so on if the project has objects of these names. The name is
    not reserved: the review reports a name that is taken later.
    """
    found = ""
    for found in _names(stem, MAX_CRON_JOB if kind.api_kind == "CronJob" else MAX_NAME):
        if kind.view.namespaced and not namespace:
            break
        try:
            await client.get(kind.gvr, namespace=namespace, name=found)
        except ApiError:
            # The name is free, or the viewer may not know.
            break
    return found


def _names(stem: str, longest: int) -> Iterator[str]:
    for number in range(1, MOST_NAMES):
        end = f"-{number}" if number > 1 else ""
        yield f"{stem[: longest - len(end)].rstrip('-.')}{end}"

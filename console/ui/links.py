"""Addresses of the console's own pages, by the names of `console.views.urls`. `cluster`: its name."""

from collections.abc import Callable
from functools import lru_cache
from urllib.parse import urlencode

from django.urls import reverse

from console.kube.gvr import GVR, PODS, Key

#: Addresses that are kept: a page has hundreds, and the next one mostly the same.
KEPT = 5000

#: Of a cluster and an object: the page of what the object stands for, "" where that is its own first tab.
PageOf = Callable[[str, Key], str]
_pages: dict[str, PageOf] = {}


@lru_cache(KEPT)
def list_url(cluster: str, segment: str, namespace: str = "") -> str:
    """The list of a kind, in one project or in all that the viewer may see."""
    url = reverse("list", args=(cluster, segment))
    return f"{url}?{urlencode({'namespace': namespace})}" if namespace else url


def action_url(action: str, cluster: str, segment: str, key: Key) -> str:
    """The page that does `action` to one object, for instance `delete`."""
    place = (cluster, key.namespace) if key.namespace else (cluster,)
    return reverse("action", args=(*place, segment, key.name, action))


def edit_url(cluster: str, segment: str, key: Key) -> str:
    """The page where one object is edited as a manifest."""
    place = (cluster, key.namespace) if key.namespace else (cluster,)
    return reverse("edit", args=(*place, segment, key.name))


def log_url(cluster: str, segment: str, key: Key, container: str = "") -> str:
    """The newest lines of the log of a pod, or of the pods of something else; of the foremost container
    if none is named."""
    url = reverse("log", args=(cluster, key.namespace, segment, key.name))
    given = {"container": container, "timestamps": "1"}
    return f"{url}?{urlencode({name: value for name, value in given.items() if value})}#end"


def log_of_labels_url(cluster: str, namespace: str, label: str) -> str:
    """The newest lines of the logs of the pods that a label selector selects."""
    url = reverse("log_of_labels", args=(cluster, namespace))
    return f"{url}?{urlencode({'label': label, 'timestamps': '1'})}#end"


def terminal_url(
    cluster: str, segment: str, key: Key, container: str = "", *, attach: bool = False
) -> str:
    """A shell in a container of a pod, in the foremost one if none is named; with `attach` what the
    container runs already."""
    url = reverse("terminal", args=(cluster, key.namespace, segment, key.name))
    given = {"container": container, "attach": "1" if attach else ""}
    query = urlencode({name: value for name, value in given.items() if value})
    return f"{url}?{query}" if query else url


def starting_url(cluster: str, key: Key, container: str) -> str:
    """Where a container of a pod is waited for; leads to its terminal."""
    url = reverse("starting", args=(cluster, key.namespace, PODS.resource, key.name))
    return f"{url}?{urlencode({'container': container})}"


def bulk_url(action: str, cluster: str, segment: str) -> str:
    """Where chosen objects go that it shall be done to."""
    return reverse("bulk", args=(cluster, segment, action))


def draft_url(cluster: str, segment: str, key: Key) -> str:
    """Where what is typed on that page is kept."""
    place = (cluster, key.namespace) if key.namespace else (cluster,)
    return reverse("draft", args=(*place, segment, key.name))


@lru_cache(KEPT)
def import_url(cluster: str, segment: str = "", namespace: str = "") -> str:
    """The page where objects are created from YAML, in one project and beginning with one of a kind."""
    url = reverse("import", args=(cluster,))
    given = {"kind": segment, "namespace": namespace}
    query = urlencode({name: value for name, value in given.items() if value})
    return f"{url}?{query}" if query else url


def import_draft_url(cluster: str) -> str:
    """Where what is typed on that page is kept."""
    return reverse("import_draft", args=(cluster,))


def openapi_url(cluster: str, gvr: GVR, kind: str) -> str:
    """The schema of a kind, for instance `Deployment`."""
    return reverse("openapi", args=(cluster, gvr.group or "core", gvr.version, kind))


def lead_to(segment: str, page_of: PageOf) -> None:
    """Objects of a kind are seen on these pages from now on."""
    _pages[segment] = page_of


@lru_cache(KEPT)
def object_url(cluster: str, segment: str, key: Key) -> str:
    """Where somebody goes to see an object: for instance to the account, for a User."""
    page_of = _pages.get(segment)
    return (page_of(cluster, key) if page_of else "") or detail_url(cluster, segment, key)


@lru_cache(KEPT)
def detail_url(cluster: str, segment: str, key: Key, tab: str = "") -> str:
    """A tab of one object, and without one the object as data. People are led to `object_url`."""
    parts = {"namespace": key.namespace, "tab": tab}
    given = {name: part for name, part in parts.items() if part}
    names = {"cluster": cluster, "resource": segment, "name": key.name, **given}
    return reverse("detail", kwargs=names)

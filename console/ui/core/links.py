"""URLs of the console's pages, by the view names of `console.urls`. `cluster` is the
cluster's name.
"""

from collections.abc import Callable
from functools import lru_cache
from urllib.parse import quote, urlencode

from django.urls import reverse
from django.utils.http import RFC3986_SUBDELIMS

from console.kube.gvr import GVR, PODS, Key

#: Number of cached URLs. A page has hundreds, most of which the next page uses as well.
KEPT = 5000

#: Returns the page for an object of a cluster, or "" if that is the object's own detail page.
PageOf = Callable[[str, Key], str]
_pages: dict[str, PageOf] = {}


@lru_cache(KEPT)
def list_url(cluster: str, segment: str, namespace: str = "") -> str:
    """Return the URL of a kind's list, in one project or in all that the viewer can see."""
    return _with_query(reverse("list", args=(cluster, segment)), namespace=namespace)


def action_url(action: str, cluster: str, segment: str, key: Key) -> str:
    """Return the URL of an action's page for one object, for example `delete`."""
    return _object_page("action", cluster, segment, key, action=action)


def edit_url(cluster: str, segment: str, key: Key) -> str:
    """Return the URL of the page that edits an object's manifest."""
    return _object_page("edit", cluster, segment, key)


def who_may_url(cluster: str, segment: str, key: Key) -> str:
    """Return the URL of the page that answers who may read an object."""
    query = {"verb": "get", "resource": segment, "namespace": key.namespace, "name": key.name}
    return _with_query(reverse("access:who_may"), **query, cluster=cluster)


def log_url(cluster: str, segment: str, key: Key, container: str = "") -> str:
    """Return the URL of the newest log lines of a pod or of an object's pods.

    The log is that of the main container if `container` is empty.
    """
    url = _object_page("log", cluster, segment, key)
    return f"{_with_query(url, container=container, timestamps='1')}#end"


def label_log_url(cluster: str, namespace: str, label: str) -> str:
    """Return the URL of the newest log lines of the pods that match a label selector."""
    url = reverse("log_of_labels", args=(cluster, namespace))
    return f"{url}?{urlencode({'label': label, 'timestamps': '1'})}#end"


def terminal_url(
    cluster: str, segment: str, key: Key, container: str = "", *, attach: bool = False
) -> str:
    """Return the URL of a terminal in a container of a pod.

    The container is the main container if `container` is empty. The terminal runs a shell, or
    with `attach` is attached to the container's main process.
    """
    url = _object_page("terminal", cluster, segment, key)
    return _with_query(url, container=container, attach="1" if attach else "")


def files_url(cluster: str, segment: str, key: Key, container: str = "", *, path: str = "") -> str:
    """Return the URL of a folder in a container of a pod: the root of the main container by
    default.
    """
    url = _object_page("files", cluster, segment, key)
    return _with_query(url, container=container, path=path)


def _with_query(url: str, **given: str) -> str:
    query = urlencode({name: value for name, value in given.items() if value})
    return f"{url}?{query}" if query else url


def container_startup_url(cluster: str, key: Key, container: str) -> str:
    """Return the URL of the page that waits for a container to start and then opens its terminal."""
    url = reverse("starting", args=(cluster, key.namespace, PODS.resource, key.name))
    return f"{url}?{urlencode({'container': container})}"


def bulk_url(action: str, cluster: str, segment: str, namespace: str = "") -> str:
    """Return the URL of a bulk action on objects selected in a list, optionally of one project."""
    return _with_query(reverse("bulk", args=(cluster, segment, action)), namespace=namespace)


def draft_url(cluster: str, segment: str, key: Key) -> str:
    """Return the URL that stores the draft of an object's edit page."""
    return _object_page("draft", cluster, segment, key)


def proposal_url(cluster: str, segment: str, key: Key) -> str:
    """Return the URL that stores a change which an API client proposes as the draft of an object."""
    return _object_page("proposal", cluster, segment, key)


def _object_page(view: str, cluster: str, segment: str, key: Key, **parts: str) -> str:
    """Return the URL of an object's page. `parts` are its last segment, or "" to leave it out.

    `reverse` takes longer than the rest of a row's menu, so the texts around the namespace and the
    name are cached.
    """
    if not key.name or "/" in key.name or "/" in key.namespace:
        return _reversed(view, cluster, segment, key.namespace, key.name, *parts.items())
    around = _around_object(view, cluster, segment, bool(key.namespace), *parts.items())
    names = (key.namespace, key.name) if key.namespace else (key.name,)
    pieces = [piece for pair in zip(around, map(_quoted, names), strict=False) for piece in pair]
    return "".join(pieces) + around[-1]


#: Stand for a namespace and a name. No other segment of a URL has capital letters.
_NAMESPACE, _OBJECT = "NAMESPACE", "OBJECT"


@lru_cache(KEPT)
def _around_object(
    view: str, cluster: str, segment: str, namespaced: bool, *parts: tuple[str, str]
) -> tuple[str, ...]:
    """Return the texts of a URL before, between and after the namespace and the name."""
    namespace = _NAMESPACE if namespaced else ""
    rest = _reversed(view, cluster, segment, namespace, _OBJECT, *parts)
    before, found, rest = rest.partition(_NAMESPACE) if namespaced else ("", "", rest)
    between, _object, after = rest.partition(_OBJECT)
    return (before, between, after) if found else (between, after)


def _quoted(text: str) -> str:
    """Quote a path segment like `reverse`."""
    return quote(text, safe=RFC3986_SUBDELIMS + "/~:@")


def _reversed(
    view: str, cluster: str, segment: str, namespace: str, name: str, *parts: tuple[str, str]
) -> str:
    """Return the URL of a view. The arguments are named, because a URL with a namespace has as many
    arguments as a URL with a last segment.
    """
    given = {name: part for name, part in (("namespace", namespace), *parts) if part}
    return reverse(view, kwargs={"cluster": cluster, "resource": segment, "name": name, **given})


@lru_cache(KEPT)
def import_url(cluster: str, segment: str = "", namespace: str = "", draft: str = "") -> str:
    """Return the URL of the page that creates objects from YAML, optionally in a project, with a
    template of a kind or with a draft.
    """
    url = reverse("import", args=(cluster,))
    return _with_query(url, kind=segment, namespace=namespace, draft=draft)


@lru_cache(KEPT)
def create_page_url(cluster: str, namespace: str = "") -> str:
    """Return the URL of the page with all kinds to create, optionally in a project."""
    return _with_query(reverse("create", args=(cluster,)), namespace=namespace)


@lru_cache(KEPT)
def new_url(cluster: str, segment: str, namespace: str = "") -> str:
    """Return the URL of the wizard that creates an object, optionally in a project."""
    return _with_query(reverse("new", args=(cluster, segment)), namespace=namespace)


def started_url(url: str, **start: str) -> str:
    """Return the URL of a page that creates an object (`ResourceKind.create_url`), with what the
    object starts from: see `console.views.starting_points`.
    """
    return f"{url}{'&' if '?' in url else '?'}{urlencode(start)}" if start else url


def wizard_url(cluster: str, segment: str, draft: str, step: str) -> str:
    """Return the URL of a step of a wizard with a draft."""
    return reverse("wizard", args=(cluster, segment, draft, step))


def edit_form_url(cluster: str, segment: str, key: Key, step: str = "") -> str:
    """Return the URL of a step of the wizard that edits an object, the first step for ""."""
    return _object_page("edit_form", cluster, segment, key, step=step)


def import_draft_url(cluster: str, draft: str = "") -> str:
    """Return the URL that stores the draft of the import page."""
    return _with_query(reverse("import_draft", args=(cluster,)), draft=draft)


def openapi_url(cluster: str, gvr: GVR, kind: str) -> str:
    """Return the URL of the OpenAPI schema of a kind, for example `Deployment`."""
    return reverse("openapi", args=(cluster, gvr.group or "core", gvr.version, kind))


def register_object_page(segment: str, page_of: PageOf) -> None:
    """Register the pages that represent objects of a kind instead of their detail page."""
    _pages[segment] = page_of


@lru_cache(KEPT)
def object_url(cluster: str, segment: str, key: Key) -> str:
    """Return the URL of the page that represents an object, for example the account page for a
    User.
    """
    page_of = _pages.get(segment)
    return (page_of(cluster, key) if page_of else "") or detail_url(cluster, segment, key)


@lru_cache(KEPT)
def detail_url(cluster: str, segment: str, key: Key, tab: str = "") -> str:
    """Return the URL of a tab of an object's detail page. Without a tab, links should use
    `object_url` instead.
    """
    return _object_page("detail", cluster, segment, key, tab=tab)

"""Views of the workspace pages. A page declares its content and its form, and the views here handle
the request: permission, form, write, errors, message, and redirect.

    @form_view("workspace_members", "delete", MEMBERS, menu=MEMBERS_ENTRY)
    def remove(opened: WorkspacePage, user: str) -> FormPage:
        return FormPage(WorkspaceForm(posted(opened.request)), …)
"""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, NamedTuple

from django.http import Http404, HttpResponse

from console.kube.gvr import GVR, NAMESPACES, Key
from console.kube.host_runtime import get_runtime
from console.kube.projections.namespace import Namespace
from console.ui.core.menu import MenuEntry
from console.ui.core.permissions import Denied
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.views.page import View, page, success_redirect
from workspaces.pages.base import (
    ContextCallback,
    VisibleWorkspace,
    WorkspacePage,
    complete,
    form_page,
    live_page,
    open_workspace,
    render_live_page,
)
from workspaces.pages.forms import WorkspaceForm
from workspaces.rights import DEPARTMENTS, MEMBERS, PROJECTS, WORKSPACE

#: Called with the form's `cleaned_data` and the version of the object that the user saw.
Write = Callable[[Mapping[str, Any], str], Coroutine[Any, Any, Any]]


class Live(NamedTuple):
    """Content of a live page: the template, its context, and the resource types of the context."""

    template: str
    values: ContextCallback
    types: tuple[GVR, ...] = ()
    frame: str = "workspaces/live.html"


@dataclass(frozen=True, slots=True)
class FormPage:
    """A form page. See `workspaces.pages.base.form_page` for `options`.

    - `write`: saves the valid form. It may raise `Refused` and `ApiError`
    - `done`: success message
    - `name`: name in `title` and `done`. With `named_by`, the name in `done` is the value of this
      form field
    - `back`: URL of the cancel button and of the page after success. Default: the current tab
    """

    form: WorkspaceForm
    write: Write
    title: str
    button: str
    done: str
    name: str = ""
    named_by: str = ""
    back: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


def live_view(current: str, live: Live, *, menu: MenuEntry) -> View:
    """Return the view of a live page of the tab `current`. `menu` is its menu entry."""

    @page("GET", follows=live_page(live.values, *live.types), menu=menu)
    async def view(request: ConsoleRequest, workspace: str, **arguments: str) -> HttpResponse:
        return await _render(await open_workspace(request, workspace), current, live, arguments)

    return view


def form_view(
    current: str,
    verb: str,
    gvr: GVR,
    *,
    menu: MenuEntry,
    live: Live | None = None,
    flag: str = "edit",
) -> Callable[[Callable[..., FormPage]], View]:
    """Decorate a function that returns the form page of a workspace, or of the project `namespace`
    in the URL. The function is called with the workspace and the URL arguments if the user may
    `verb` the type in the workspace or project. `menu` is the menu entry of the page.

    With `live`, the form is shown only if the query has the parameter `flag`.
    """

    def decorate(declare: Callable[..., FormPage]) -> View:
        follows = live_page(live.values, *live.types) if live else None

        @page("GET", "POST", follows=follows, menu=menu)
        @wraps(declare)
        async def view(request: ConsoleRequest, workspace: str, **arguments: str) -> HttpResponse:
            opened = await open_workspace(request, workspace)
            if live is not None and flag not in request.GET and request.method != "POST":
                return await _render(opened, current, live, arguments)
            _require(opened, verb, gvr, arguments.get("namespace", ""))
            return await answer_form(opened, current, declare(opened, **arguments))

        return view

    return decorate


async def _render(
    opened: WorkspacePage, current: str, live: Live, arguments: Mapping[str, str]
) -> HttpResponse:
    values = live.values(opened, **arguments)
    return await render_live_page(opened, current, live.template, values, frame=live.frame)


def _require(opened: WorkspacePage, verb: str, gvr: GVR, namespace: str) -> None:
    """Raise `Denied` if the user may not `verb` the type in the project, or the operation or the
    object with the workspace's name, or the exceptions of `open_project`.
    """
    if namespace:
        open_project(opened, namespace)
    elif gvr in (DEPARTMENTS, MEMBERS, PROJECTS, WORKSPACE):
        opened.rights.require(verb, gvr)
        return
    name = "" if namespace else opened.name
    if not opened.access.can(verb, gvr, namespace=namespace, name=name):
        raise Denied(verb, gvr, namespace)


async def answer_form(opened: WorkspacePage, current: str, declared: FormPage) -> HttpResponse:
    """Save the form if it is valid, or render it."""
    request, form, name = opened.request, declared.form, declared.name
    back = declared.back or opened.url(current)
    if form.is_valid():
        writing = declared.write(form.cleaned_data, request.POST.get("version", ""))
        if await complete(form, writing):
            named = form.cleaned_data[declared.named_by] if declared.named_by else name
            return success_redirect(request, declared.done % {"name": named}, back)
    title = declared.title % {"name": escape_invisible(name)}
    options = {"title": title, "button": declared.button, "back": back, **declared.options}
    return await form_page(opened, current, form, **options)


def open_project(opened: VisibleWorkspace, name: str) -> Namespace:
    """Return the project. Raise `Denied` without revealing if the project exists, or `Http404`."""
    if not opened.access.can("get", PROJECTS, name=name):
        raise Denied("get", NAMESPACES)
    entry = get_runtime().informer(NAMESPACES).store.get(Key("", name))
    if entry is None or entry.projection.workspace != opened.name:
        raise Http404
    found: Namespace = entry.projection
    return found

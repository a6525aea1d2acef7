"""Delete actions whose confirmation page lists the objects that are also deleted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from console.kube.gvr import ENDPOINT_SLICES, EVENTS, GVR, LEASES, Key
from console.kube.informer import Informer
from console.ui.core.access import Access
from console.ui.core.actions import Delete
from console.ui.core.kind import ResourceKind, Scope
from console.ui.core.object_source import TooManyProjects, open_loaded_source
from console.ui.core.page_data import FIRST_LIST_WAIT, load_page_data
from console.ui.core.permissions import Denied
from console.ui.core.subject import Subject
from console.ui.details.relations.visible_type import ObjectGroup, VisibleType
from console.ui.forms.forms import ConsoleForm

#: Number of objects of a type that the page names.
_FIRST = 5
#: Types whose objects controllers create. The confirmation page doesn't list these objects.
_DERIVED = frozenset({ENDPOINT_SLICES, EVENTS, LEASES})


class DeleteNamespace(Delete):
    """Delete a namespace with all its objects."""

    async def extra_html(self, subject: Subject, form: ConsoleForm | None) -> SafeString:
        access, name = subject.access, subject.key.name
        types = [kind.gvr for kind in _namespaced_kinds(access)]
        loaded = (await load_page_data(access, types, namespaces=(name,))).seen
        inside = replace(subject, key=Key(name, name))
        groups = _groups(inside, {gvr: seen.informer for gvr, seen in loaded.items()}, name)
        return _html(
            groups,
            gettext_lazy(
                "Secrets, and objects that you don't have permission to list, are also deleted."
            ),
        )


def _namespaced_kinds(access: Access) -> Iterator[ResourceKind]:
    """Yield the cached built-in kinds, and the custom kinds that are already watched."""
    kinds, watched = access.cluster.kinds, access.cluster.runtime.informers()
    for kind in (*kinds.declared, *(one for one in kinds.customs if one.gvr in watched)):
        if kind.scope is Scope.NAMESPACED and not kind.private and kind.gvr not in _DERIVED:
            yield kind


class DeleteDefinition(Delete):
    """Delete a CustomResourceDefinition with all objects of its type."""

    async def extra_html(self, subject: Subject, form: ConsoleForm | None) -> SafeString:
        kind = subject.access.cluster.kinds.find(subject.key.name)
        hidden = gettext_lazy("Objects that you don't have permission to list are also deleted.")
        if kind is None:
            return _html((), hidden)
        try:
            source = open_loaded_source(kind, subject.access, seconds=FIRST_LIST_WAIT)
            async with source as informer:
                groups = _groups(subject, {kind.gvr: informer})
        except (Denied, TooManyProjects):
            return _html((), hidden)
        whole = VisibleType(subject, kind.gvr).sees_all("")
        return _html(groups, "" if whole else hidden)


def _groups(
    subject: Subject, informers: Mapping[GVR, Informer[Any]], namespace: str = ""
) -> list[ObjectGroup]:
    """Return the visible objects of each type, in the subject's namespace or in all namespaces."""
    found = []
    for gvr in informers:
        seeing = VisibleType(replace(subject, informers=informers), gvr)
        entries = seeing.in_namespace if namespace else seeing.all_visible
        if entries:
            found.append(seeing.group(entries, seeing.all_url(("namespace", namespace)), _FIRST))
    return sorted(found, key=lambda group: str(group.title))


def _html(groups: Sequence[ObjectGroup], hidden: str | Promise) -> SafeString:
    context = {"groups": groups, "hidden": hidden}
    return render_to_string("ui/relations/contents.html", context)

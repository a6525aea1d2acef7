"""One audit record for display: sentence, facts, links and its change."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from console.audit.changes import Manifest
from console.audit.models import AuditLink, AuditRecord
from console.audit.search import Search
from console.kube.gvr import USERS, Key
from console.ui.core.access import Access
from console.ui.core.clusters import clusters
from console.ui.core.kind import ResourceKind
from console.ui.core.links import import_url, object_url
from console.ui.core.text import escape_invisible
from console.ui.core.threads import in_thread
from console.ui.editing.diff import Difference, manifest_difference
from console.views.audit.manifests import manifests_of, may_see_change
from console.views.audit.request import AuditRequest
from console.views.audit.scope import access_in
from console.views.audit.text import (
    Sentence,
    kind_of,
    object_text,
    origin_text,
    result_text,
    sentence,
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of a record's facts. `url` may be ""."""

    label: str
    value: str
    url: str = ""
    code: bool = False


@dataclass(frozen=True, slots=True)
class ShownChange:
    """The change of a record. `difference` is None if it is too deep to display. `deleted`: it is
    the last manifest of a deleted object.
    """

    difference: Difference | None
    deleted: bool


@dataclass(frozen=True, slots=True)
class RecordRow:
    """A record for display. `change` is the diff or last manifest, if it is shown."""

    record: AuditRecord
    sentence: Sentence
    result: str
    where: str
    via: str
    facts: Sequence[Fact]
    url: str
    has_change: bool
    links: Sequence[tuple[str, str]] = ()
    restore_url: str = ""
    change: ShownChange | None = None

    @property
    def actor(self) -> str:
        return escape_invisible(self.record.actor)

    @property
    def failed(self) -> bool:
        return (self.record.code or 0) >= 400

    @property
    def as_user(self) -> str:
        """The user that the actor viewed the console as, or ""."""
        row = self.record
        return escape_invisible(row.as_user) if row.as_user != row.actor else ""


async def record_row(
    row: AuditRecord, access: Access | None, asked: AuditRequest, *, whole: bool = False
) -> RecordRow:
    """Return a record for display. `whole` adds the change and the position in the chain."""
    kind = kind_of(row)
    has_change = bool(row.change_digest) and may_see_change(access, row, kind)
    result = result_text(row)
    place = [one for one in (row.workspace, row.namespace) if one]
    found = RecordRow(
        record=row,
        sentence=sentence(row, kind),
        result=result,
        where=escape_invisible(" / ".join(place)) or row.cluster,
        via=origin_text(row),
        facts=_facts(row, kind, access),
        url=reverse("audit_record", args=(row.audit_id,)),
        has_change=has_change,
        links=_links(row, kind, asked),
    )
    if not whole:
        return found
    link = await AuditLink.objects.filter(record=row.pk).order_by("-seq").afirst()
    chain = f"{link.seq:,}" if link is not None else _("not sealed yet")
    facts = (*found.facts, Fact(_("Link of the hash chain"), chain))
    found = replace(found, facts=facts)
    if not has_change:
        return found
    states = await manifests_of(row)
    deleted = states[0] is not None and states[1] is None
    change = ShownChange(await in_thread(_difference, kind, *states), deleted)
    restore, cluster = "", clusters.get(row.cluster)
    there = access_in(access, cluster) if cluster is not None and access is not None else None
    if deleted and kind is not None and there is not None and kind.creatable(there):
        restore = f"{import_url(row.cluster)}?{urlencode({'restore': row.audit_id})}"
    return replace(found, change=change, restore_url=restore)


def _difference(
    kind: ResourceKind | None, before: Manifest | None, after: Manifest | None
) -> Difference | None:
    if kind is None:
        return None
    try:
        return manifest_difference(kind, before or {}, after or {})
    except RecursionError:
        return None


def _facts(row: AuditRecord, kind: ResourceKind | None, access: Access | None) -> Sequence[Fact]:
    result = str(row.code) if row.code else result_text(row)
    if row.duration is not None:
        milliseconds = round(row.duration / timedelta(milliseconds=1))
        took = _("%(number)s ms") % {"number": f"{milliseconds:,}"}
        result = f"{result}, {took}"
    user_url = ""
    if access is not None and row.actor and access.can("get", USERS, name=row.actor):
        user_url = reverse("accounts:administration:show", args=(row.actor,))
    url = ""
    if kind is not None and row.name and clusters.get(row.cluster) is not None:
        key = Key(row.namespace if kind.view.namespaced else "", row.name)
        if bool(key.namespace) is kind.view.namespaced:
            url = object_url(row.cluster, kind.segment, key)
    facts = (
        Fact(_("User"), row.actor, user_url),
        Fact(_("Viewed as user"), row.as_user if row.as_user != row.actor else ""),
        Fact(_("Result"), result),
        Fact(_("Reason"), ": ".join(one for one in (row.reason, row.message) if one)),
        Fact(_("Object"), object_text(row, kind), url),
        Fact(_("Action"), "/".join(one for one in (row.verb, row.subresource) if one), code=True),
        Fact(_("Workspace"), row.workspace),
        Fact(_("Project"), row.namespace),
        Fact(_("Cluster"), row.cluster),
        Fact(_("Via"), origin_text(row)),
        Fact(_("Client address"), row.source),
        Fact(_("Client"), row.user_agent),
        Fact(_("Audit ID"), row.audit_id, code=True),
    )
    return [replace(one, value=escape_invisible(one.value)) for one in facts if one.value]


def _links(
    row: AuditRecord, kind: ResourceKind | None, asked: AuditRequest
) -> Sequence[tuple[str, str]]:
    """Return links to searches for the same object and the same user."""
    found = []
    if row.name and "name" not in asked.scope.hidden:
        what = kind.api_kind if kind is not None else row.resource
        text = f'kind:{row.resource} name:"{row.name}"'
        label = _("All records of this %(kind)s") % {"kind": what}
        found.append((label, asked.url(Search.parse(text))))
    if row.actor:
        text = f'user:"{row.actor}"'
        label = _("All records of %(user)s") % {"user": escape_invisible(row.actor)}
        found.append((label, asked.url(Search.parse(text))))
    return found

"""Drafts and open ports of the signed-in user, for the account page."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from console.drafts.store import NEW, DraftEntry, drafts_of
from console.kube.gvr import Key
from console.proxying.store import open_ports_of
from console.ui.core.clusters import clusters
from console.ui.core.links import edit_form_url, edit_url, import_url, wizard_url


@dataclass(frozen=True, slots=True)
class OwnRecord:
    """A row. `value` identifies it in the form of its button, and `url` leads to its page, or is ""."""

    value: str
    text: str
    project: str
    cluster: str
    time: datetime
    url: str = ""


def own_ports(account: str) -> list[OwnRecord]:
    """Return the open ports of an account. Synchronous."""
    return [
        OwnRecord(
            value=one.label,
            text=one.target.resource_name.name,
            project=one.target.key.namespace,
            cluster=one.owner.cluster,
            time=one.used,
        )
        for one in open_ports_of(account)
    ]


def own_drafts(account: str) -> Iterator[OwnRecord]:
    """Yield the drafts of an account, the latest first, in clusters that exist. Synchronous."""
    known = {one.name: one for one in clusters}
    for draft in drafts_of(account):
        cluster = known.get(draft.key.cluster)
        if cluster is None:
            continue
        kind = cluster.kinds.find(draft.key.kind)
        is_new = draft.key.name.startswith("#") or draft.key.kind == NEW
        title = _("Create from YAML") if kind is None else str(kind.singular)
        name = draft.content.title if is_new else draft.key.name.partition("#")[0]
        if draft.key.kind == NEW:
            name = draft.content.proposal
        yield OwnRecord(
            value=str(draft.number),
            text=f"{title} {name}".rstrip(),
            project=draft.key.namespace or draft.content.project,
            cluster=draft.key.cluster,
            time=draft.updated,
            url=_url(draft),
        )


def _url(draft: DraftEntry) -> str:
    key, content = draft.key, draft.content
    if key.kind == NEW:
        return import_url(key.cluster, draft=key.name[1:] or "continue")
    if key.name.startswith("#"):
        return wizard_url(key.cluster, key.kind, key.name[1:], content.step)
    name, _mark, section = key.name.partition("#")
    where = key.cluster, key.kind, Key(key.namespace, name)
    return (
        edit_form_url(*where, section or content.step)
        if section or content.step
        else f"{edit_url(*where)}?draft=continue"
    )

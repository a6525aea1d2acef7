"""Audit records as sentences, such as "deleted Deployment web"."""

from dataclasses import dataclass
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.audit.models import AuditRecord
from console.audit.trail import CONTROLLER, DIRECT, GATEWAY, PAGE, SESSION_RESOURCE, TOKEN
from console.kube.gvr import GVR
from console.ui.core.clusters import Kinds, clusters
from console.ui.core.kind import ResourceKind
from console.ui.core.text import escape_invisible


class Wording(NamedTuple):
    """`done`: the sentence of a successful action. `todo`: the action after "could not". Both
    contain `%(object)s`, unless the action has no object.
    """

    done: str | Promise
    todo: str | Promise


#: Wordings by verb and subresource. Other actions have the label of the kind's action.
_WORDINGS = {
    ("create", ""): Wording(gettext_lazy("created %(object)s"), gettext_lazy("create %(object)s")),
    ("update", ""): Wording(gettext_lazy("changed %(object)s"), gettext_lazy("change %(object)s")),
    ("delete", ""): Wording(gettext_lazy("deleted %(object)s"), gettext_lazy("delete %(object)s")),
    ("reveal", ""): Wording(
        gettext_lazy("revealed the values of %(object)s"),
        gettext_lazy("reveal the values of %(object)s"),
    ),
    ("patch", "restart"): Wording(
        gettext_lazy("restarted %(object)s"), gettext_lazy("restart %(object)s")
    ),
    ("patch", "scale"): Wording(
        gettext_lazy("scaled %(object)s"), gettext_lazy("scale %(object)s")
    ),
    ("patch", "status"): Wording(
        gettext_lazy("updated the status of %(object)s"),
        gettext_lazy("update the status of %(object)s"),
    ),
    ("create", "exec"): Wording(
        gettext_lazy("ran a command in %(object)s"), gettext_lazy("run a command in %(object)s")
    ),
    ("create", "eviction"): Wording(
        gettext_lazy("evicted %(object)s"), gettext_lazy("evict %(object)s")
    ),
    ("get", "log"): Wording(
        gettext_lazy("read the logs of %(object)s"), gettext_lazy("read the logs of %(object)s")
    ),
    ("open", "proxy"): Wording(
        gettext_lazy("opened a port of %(object)s"), gettext_lazy("open a port of %(object)s")
    ),
    ("close", "proxy"): Wording(
        gettext_lazy("closed a port of %(object)s"), gettext_lazy("close a port of %(object)s")
    ),
    ("impersonate", ""): Wording(
        gettext_lazy("viewed the console as %(object)s"),
        gettext_lazy("view the console as %(object)s"),
    ),
}
_ALIASES = {
    ("patch", ""): ("update", ""),
    ("patch", "edit"): ("update", ""),
    ("update", "status"): ("patch", "status"),
    ("deletecollection", ""): ("delete", ""),
    ("get", "exec"): ("create", "exec"),
    ("create", "attach"): ("create", "exec"),
    ("get", "attach"): ("create", "exec"),
}
_SESSIONS = {
    "login": Wording(gettext_lazy("signed in"), gettext_lazy("sign in")),
    "logout": Wording(gettext_lazy("signed out"), gettext_lazy("sign out")),
    "create": Wording(gettext_lazy("created a token"), gettext_lazy("create a token")),
    "delete": Wording(
        gettext_lazy("deleted a session or token"), gettext_lazy("delete a session or token")
    ),
    "refresh": Wording(gettext_lazy("renewed a token"), gettext_lazy("renew a token")),
    "revoke": Wording(gettext_lazy("revoked a token"), gettext_lazy("revoke a token")),
    "authorize": Wording(
        gettext_lazy("allowed a client to sign in"), gettext_lazy("allow a client to sign in")
    ),
}
_ORIGINS = {
    PAGE: pgettext_lazy("origin of a change", "page"),
    TOKEN: pgettext_lazy("origin of a change", "API token"),
    CONTROLLER: pgettext_lazy("origin of a change", "controller"),
}
#: Stands for the object while a sentence is translated.
_OBJECT = "\0"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence around the object's kind and name. `object` may be ""."""

    before: str
    object: str
    after: str = ""

    def __str__(self) -> str:
        return f"{self.before}{self.object}{self.after}"


def kind_of(row: AuditRecord) -> ResourceKind | None:
    """Return the kind of the record's object, or None if its cluster doesn't have it anymore."""
    cluster = clusters.get(row.cluster)
    return kind_in(cluster.kinds, row) if cluster is not None else None


def kind_in(kinds: Kinds, row: AuditRecord) -> ResourceKind | None:
    gvr = GVR(row.group, row.version, row.resource)
    return kinds.of(gvr) or kinds.find(gvr.qualified)


def object_text(row: AuditRecord, kind: ResourceKind | None) -> str:
    """Return the kind and the name of the object."""
    what = kind.api_kind if kind is not None else row.resource
    return escape_invisible(f"{what} {row.name}".strip())


def sentence(row: AuditRecord, kind: ResourceKind | None) -> Sentence:
    wording, about = _wording(row, kind), object_text(row, kind)
    if row.code is None or 0 < row.code < 400:
        text = wording.done % {"object": _OBJECT}
    elif row.code in (401, 403):
        text = _("was denied: %(action)s") % {"action": wording.todo % {"object": _OBJECT}}
    elif row.code == 0:
        text = _("tried to %(action)s") % {"action": wording.todo % {"object": _OBJECT}}
    else:
        text = _("could not %(action)s") % {"action": wording.todo % {"object": _OBJECT}}
    before, found, after = text.partition(_OBJECT)
    return Sentence(before, about if found else "", after)


def origin_text(row: AuditRecord) -> str:
    """Return how the request reached kube-apiserver: for requests of other programs, the program."""
    if row.origin in (DIRECT, GATEWAY):
        return escape_invisible(row.user_agent.partition("/")[0] or "kube-apiserver")
    return str(_ORIGINS.get(row.origin, ""))


def result_text(row: AuditRecord) -> str:
    """Return the result, or "" for a success."""
    if row.code is None:
        return _("Running")
    if row.code == 0:
        return _("Result unknown")
    words = {"code": row.code}
    if row.code in (401, 403):
        return _("Denied (%(code)s)") % words
    return _("Failed (%(code)s)") % words if row.code >= 400 else ""


def _wording(row: AuditRecord, kind: ResourceKind | None) -> Wording:
    if (row.group, row.resource) == (SESSION_RESOURCE.group, SESSION_RESOURCE.resource):
        return _SESSIONS.get(row.verb) or Wording(row.verb, row.verb)
    verb = row.verb, row.subresource
    found = _WORDINGS.get(_ALIASES.get(verb, verb))
    if found is not None:
        return found
    actions = kind.actions_by_name.values() if kind is not None else ()
    label = next((one.label for one in actions if one.audit_action == verb), "")
    what = str(label) or "/".join(one for one in verb if one)
    text = _("%(action)s: %(object)s") % {"action": what.replace("%", "%%"), "object": "%(object)s"}
    return Wording(text, text)

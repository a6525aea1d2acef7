"""Readable messages for pods that the scheduler can't place.

The scheduler's message counts nodes by reason: "0/5 nodes are available: 3 Insufficient memory,
2 node(s) were unschedulable. preemption: …". The reasons come from kube-scheduler's plugins:
https://github.com/kubernetes/kubernetes/tree/master/pkg/scheduler/framework/plugins Reasons of
custom plugins are repeated unchanged.
"""

import re
from collections.abc import Iterator

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext

_MESSAGE = re.compile(r"0/(\d{1,7}) nodes are available: (.+?)\.?(?: preemption: .*)?$")
#: Within a reason, a comma is never followed by a number and a space.
_BETWEEN = re.compile(r", (?=\d{1,7} )")
_TAINT = re.compile(r"node\(s\) had untolerated taint(?:\(s\))?(?: \{([^:}]*):([^}]*)\})?$")
_NO_CLAIM = re.compile(r'persistentvolumeclaim "([^"]+)" not found')

#: Texts by the start of the scheduler's reason.
_WORDS: tuple[tuple[str, str | Promise], ...] = (
    ("Insufficient cpu", gettext_lazy("not enough CPU")),
    ("Insufficient memory", gettext_lazy("not enough memory")),
    ("Insufficient ephemeral-storage", gettext_lazy("not enough local disk space")),
    ("Too many pods", gettext_lazy("pod limit reached")),
    ("node(s) were unschedulable", gettext_lazy("cordoned")),
    (
        "node(s) didn't match Pod's node affinity/selector",
        gettext_lazy("node selector or affinity does not match"),
    ),
    (
        "node(s) didn't match pod affinity rules",
        gettext_lazy("pod affinity rules not met"),
    ),
    (
        "node(s) didn't match pod anti-affinity rules",
        gettext_lazy("pod anti-affinity rules not met"),
    ),
    (
        "node(s) didn't satisfy existing pods anti-affinity rules",
        gettext_lazy("anti-affinity rules of existing pods not met"),
    ),
    (
        "node(s) didn't match pod topology spread constraints",
        gettext_lazy("topology spread constraints not met"),
    ),
    (
        "node(s) had volume node affinity conflict",
        gettext_lazy("volume not accessible from the node"),
    ),
    (
        "node(s) didn't find available persistent volumes to bind",
        gettext_lazy("no volume available for the claims"),
    ),
    ("node(s) exceed max volume count", gettext_lazy("volume limit reached")),
    ("node(s) didn't have free ports", gettext_lazy("host ports already in use")),
)


def why_unschedulable(message: str) -> str:
    """Return a sentence, or "" if the message is not understood."""
    if "unbound immediate PersistentVolumeClaims" in message:
        return _("No node found: a PersistentVolumeClaim of this pod is not bound yet.")
    claim = _NO_CLAIM.search(message)
    if claim is not None:
        return _("No node found: the PersistentVolumeClaim %(name)s does not exist.") % {
            "name": claim[1]
        }
    if message.startswith("no nodes available"):
        return _("No node found: the cluster has no nodes.")
    found = _MESSAGE.match(message)
    against = list(_reasons(found[2])) if found is not None else []
    if found is None or not against:
        return ""
    total = int(found[1])
    words = {"total": f"{total:,}", "why": pgettext("between two counts", ", ").join(against)}
    sentence = ngettext(
        "The only node cannot run this pod: %(why)s.",
        "None of the %(total)s nodes can run this pod: %(why)s.",
        total,
    )
    return sentence % words


def _reasons(text: str) -> Iterator[str]:
    for part in _BETWEEN.split(text):
        number, _space, reason = part.partition(" ")
        if number.isdecimal():
            words = {"what": _reason_text(reason.strip()), "count": f"{int(number):,}"}
            yield pgettext("what speaks against nodes", "%(what)s (%(count)s)") % words


def _reason_text(reason: str) -> str | Promise:
    taint = _TAINT.match(reason)
    if taint is not None:
        name = "=".join(part.strip() for part in taint.groups() if part and part.strip())
        if not name:
            return _("a taint that the pod does not tolerate")
        return _("the taint %(name)s that the pod does not tolerate") % {"name": name}
    known = next((words for begin, words in _WORDS if reason.startswith(begin)), None)
    if known is None and reason.startswith("Insufficient "):
        return _("not enough %(resource)s") % {"resource": reason.partition(" ")[2]}
    return known or reason

"""Approve and deny certificate signing requests.
https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#approval-rejection
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from cryptography import x509
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.kube.gvr import GVR, Key
from console.kube.projections.certificates import is_undecided
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.action_texts import Fact, kubectl, quoted, text_fact
from console.ui.core.actions import EVERYWHERE, Action, ActionContext, Outcome, Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import mapping, texts
from console.ui.core.permissions import denied_for
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import ConsoleForm

#: Virtual resource for the additional permission on the signer. No objects of this type exist.
SIGNERS = GVR("certificates.k8s.io", "v1", "signers")


class _Decide(Action):
    """Base class. `verdict` is the type of the condition to add, and `done_text` the message."""

    needs = (Permission("update", "approval"), Permission("get"))
    weight = 3
    verdict: ClassVar[str]
    done_text: ClassVar[str | Promise]

    def applicable(self, entry: Entry[Any]) -> bool:
        return is_undecided(entry.projection)

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        """Return None. Raise `Denied` if the user may not approve requests for the signer."""
        if not _decides_for(subject.access, subject.entry.projection.signer):
            raise denied_for(Permission("approve", gvr=SIGNERS), subject.kind.gvr, "")
        return None

    def facts(self, kind: ResourceKind, entry: Entry[Any]) -> Sequence[Fact]:
        found = entry.projection
        spec = mapping(entry.original(), "spec")
        return [
            text_fact(_("Requestor"), found.requestor),
            (_("Groups"), ", ".join(texts(spec.get("groups"))) or _("none")),
            text_fact(_("Signer"), found.signer),
            text_fact(_("Usages"), found.usages),
            *certificate_names(spec.get("request")),
        ]

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return kubectl(f"certificate {self.name} {quoted(key.name)}", key)

    async def run(self, context: ActionContext) -> Outcome:
        """Add the condition with an update, as kubectl does. Few roles allow patching the approval."""
        found = await context.fetch()
        text = f"{self.verdict} by {context.access.identity.name} in the console."
        condition = {"type": self.verdict, "status": "True", "reason": "ByHand", "message": text}
        status = dict(mapping(found, "status"))
        status["conditions"] = [*(status.get("conditions") or ()), condition]
        await context.client.replace(
            context.kind.gvr,
            {**found, "status": status},
            name=context.key.name,
            subresource="approval",
            audit_id=context.audit_id,
        )
        return context.succeeded(self.done_text)


class Approve(_Decide):
    """Approve a request. Not available as a bulk action, because each request must be reviewed."""

    name = "approve"
    label = pgettext_lazy("action", "Approve")
    effect_text = gettext_lazy(
        "The signer can then issue the certificate. An issued certificate cannot be revoked "
        "before it expires."
    )
    verdict = "Approved"
    done_text = gettext_lazy("Approved %(kind)s %(name)s.")


class Deny(_Decide):
    name = "deny"
    label = pgettext_lazy("action", "Deny")
    effect_text = gettext_lazy(
        "No certificate will be issued. This cannot be undone, but the requestor can create "
        "a new request."
    )
    danger = True
    places = EVERYWHERE
    audit_verb = ("update", "denial")
    success_label = pgettext_lazy("result", "Denied")
    failure_label = gettext_lazy("Not denied")
    verdict = "Denied"
    done_text = gettext_lazy("Denied %(kind)s %(name)s.")


def _decides_for(access: Access, signer: str) -> bool:
    """Return True if the user may approve for the signer. A permission on `example.com/*` covers
    all signers of that domain.
    """
    names = (signer, f"{signer.partition('/')[0]}/*")
    return any(access.can("approve", SIGNERS, name=name) for name in names)


def certificate_names(request: Any) -> list[Fact]:
    """Return the subject and alternative names from the encoded request, never shortened, so that
    no name stays hidden.
    """
    try:
        found = x509.load_pem_x509_csr(base64.b64decode(str(request), validate=True))
        facts: list[Fact] = [
            (_("Subject"), escape_invisible(found.subject.rfc4514_string()) or _("none"))
        ]
        others = _others(found)
    except (ValueError, TypeError, x509.InvalidVersion):
        return [(_("Subject"), _("could not be decoded"))]
    return [*facts, (_("Subject alternative names"), others)] if others else facts


def _others(found: x509.CertificateSigningRequest) -> str:
    try:
        extension = found.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return ""
    except (ValueError, x509.DuplicateExtension, x509.UnsupportedGeneralNameType):
        return _("could not be decoded")
    return ", ".join(
        escape_invisible(str(getattr(name, "value", name))) for name in extension.value
    )

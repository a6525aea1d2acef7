"""The CertificateSigningRequest kind."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.certificates import Approve, Deny
from console.kube.gvr import CERTIFICATE_SIGNING_REQUESTS
from console.kube.projections.certificates import CertificateSigningRequest
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui.core.action_texts import Fact, after_deletion_fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.lists.columns import DurationColumn, ListColumn, StatusColumn, TextColumn
from console.ui.lists.filters import FieldFilter, SearchFilter


@register
class CertificateSigningRequestKind(ResourceKind):
    gvr, scope, nav = CERTIFICATE_SIGNING_REQUESTS, Scope.CLUSTER, Nav("cluster", 80)
    short_names = ("csr",)
    projection = CertificateSigningRequest
    title = gettext_lazy("Certificate requests")
    singular = gettext_lazy("certificate request")
    nouns = gettext_lazy("certificate requests")
    severity_words = {
        Severity.ERROR: gettext_lazy("Failed"),
        Severity.WARN: gettext_lazy("Refused"),
        Severity.DONE: gettext_lazy("Issued"),
    }
    columns = (
        StatusColumn(),
        TextColumn(id="signer", label=gettext_lazy("Signer"), priority=2),
        TextColumn(id="requestor", label=gettext_lazy("Requestor"), priority=2),
        DurationColumn(
            id="duration",
            label=gettext_lazy("Requested duration"),
            priority=3,
            get=lambda found: found.seconds,
        ),
        ListColumn(id="usages", label=gettext_lazy("Usages"), priority=4),
    )
    search = SearchFilter(texts=lambda found: (found.signer, found.requestor))
    filters = (
        FieldFilter(param="signer", label=gettext_lazy("Signer")),
        FieldFilter(param="requestor", label=gettext_lazy("Requestor")),
    )
    actions = (Approve(), Deny(), Delete())

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        found: CertificateSigningRequest = entry.projection
        return [
            text_fact(_("Requestor"), found.requestor),
            after_deletion_fact(
                _("a certificate that was already issued stays valid until it expires")
            ),
        ]

"""The CertificateSigningRequest kind."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.certificates import Approve, Deny, certificate_names
from console.kube.gvr import CERTIFICATE_SIGNING_REQUESTS
from console.kube.projections.certificates import CertificateSigningRequest
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, after_deletion_fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.manifests import mapping, texts
from console.ui.core.registry import register
from console.ui.details.panels.description import DescriptionPanel, Facts, Section
from console.ui.details.panels.standard import kind_panels


def describe(manifest: Mapping[str, Any]) -> Iterator[Section]:
    spec = mapping(manifest, "spec")
    yield Facts(
        *certificate_names(spec.get("request")),
        (_("Groups of the requestor"), texts(spec.get("groups"))),
    )


@register
@kind_panels(DescriptionPanel(describe=describe))
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
        lists.StatusColumn(),
        lists.TextColumn(id="signer", label=gettext_lazy("Signer"), priority=2),
        lists.TextColumn(id="requestor", label=gettext_lazy("Requestor"), priority=2),
        lists.DurationColumn(
            id="duration",
            label=gettext_lazy("Requested duration"),
            priority=3,
            get=lambda found: found.seconds,
        ),
        lists.ListColumn(id="usages", label=gettext_lazy("Usages"), priority=4),
    )
    search = lists.SearchFilter(texts=lambda found: (found.signer, found.requestor))
    filters = (
        lists.FieldFilter(param="signer", label=gettext_lazy("Signer")),
        lists.FieldFilter(param="requestor", label=gettext_lazy("Requestor")),
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

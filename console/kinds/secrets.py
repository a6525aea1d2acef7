"""The Secret kind. Shows types and keys; values are only shown on request."""

from collections.abc import Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext, pgettext_lazy

from console.actions.data_keys.edit import EditKeys
from console.actions.reveal import Reveal
from console.actions.service_accounts import SetDefaultRegistry
from console.kube.gvr import SECRETS
from console.kube.store import Entry
from console.kube.uncached import SecretMeta
from console.ui import lists
from console.ui.core.action_texts import Fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.core.text import escape_invisible
from console.ui.details.panels.data import KeySizesPanel
from console.ui.details.panels.standard import kind_panels
from console.ui.details.relations.object_panels import UsedByPanel
from console.wizards.secrets import SECRET

#: https://kubernetes.io/docs/concepts/configuration/secret/#secret-types
TYPES: dict[str, str | Promise] = {
    "kubernetes.io/tls": gettext_lazy("TLS certificate"),
    "kubernetes.io/dockerconfigjson": gettext_lazy("Image registry"),
    "kubernetes.io/dockercfg": gettext_lazy("Image registry"),
    "kubernetes.io/service-account-token": gettext_lazy("Service account token"),
    "kubernetes.io/basic-auth": gettext_lazy("Username and password"),
    "kubernetes.io/ssh-auth": gettext_lazy("SSH key"),
    "bootstrap.kubernetes.io/token": gettext_lazy("Bootstrap token"),
}


@register
@kind_panels(KeySizesPanel(), UsedByPanel())
class SecretKind(ResourceKind):
    gvr, scope, nav = SECRETS, Scope.NAMESPACED, Nav("config", 20, "config")
    projection = SecretMeta
    title = gettext_lazy("Secrets")
    singular = gettext_lazy("secret")
    nouns = gettext_lazy("secrets")
    example = {"type": "Opaque", "stringData": {"key": "value"}}
    wizard = SECRET
    columns = (
        lists.WordColumn(id="type", label=gettext_lazy("Type"), priority=2, words=TYPES),
        lists.NumberColumn(id="keys", label=pgettext_lazy("data", "Keys"), priority=2),
        lists.QuantityColumn(
            id="size",
            label=gettext_lazy("Size"),
            priority=4,
            get=lambda secret: str(secret.size),
            unit="bytes",
        ),
        lists.BoolColumn(id="immutable", label=gettext_lazy("Immutable"), priority=4),
        lists.OwnerColumn(),
    )
    search = lists.SearchFilter(texts=lambda secret: (secret.type,))
    filters = (
        lists.FieldFilter(param="type", label=gettext_lazy("Type")),
        lists.OWNER,
    )
    masked = (("data",), ("stringData",))
    actions = (Reveal(), EditKeys(secret=True), SetDefaultRegistry(), Delete())

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        secret: SecretMeta = entry.projection
        shown = TYPES.get(secret.type) or escape_invisible(secret.type) or _("none")
        return [(_("Type"), shown), (pgettext("data", "Keys"), str(secret.keys))]

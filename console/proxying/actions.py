"""The action that opens a port: check the permission, store the open port, and redirect the browser
to its host.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.errors import ObjectRecreated
from console.kube.gvr import GVR, PODS, SERVICES, Key
from console.proxying.address import ProxyBase
from console.proxying.paths import ENTER
from console.proxying.store import PortOwner, open_port
from console.proxying.target import SUBRESOURCE, TYPES, ProxyTarget, right_to
from console.ui.core.access import Access
from console.ui.core.actions import Action, ActionContext, ActionPage, Outcome
from console.ui.core.kind import ResourceKind
from console.ui.core.permissions import Refused
from console.ui.core.subject import Subject
from console.ui.details.panels.ports import HTTP, HTTPS, TCP, forward_command, ports_of, scheme_of
from console.ui.forms.fields import HIGHEST
from console.ui.forms.forms import ChoiceField, ConsoleForm, NumberField

SCHEMES = {HTTP: "HTTP", HTTPS: gettext_lazy("HTTPS (certificate not verified)")}


class PortForm(ConsoleForm):
    """Form for the port and protocol.

    A service offers only the ports in its spec. A pod accepts any port, because its containers
    can listen on ports that the spec doesn't list.
    """

    port = NumberField(label=gettext_lazy("Port"), least=1, most=HIGHEST)

    def __init__(self, data: QueryDict | None, subject: Subject) -> None:
        ports = ports_of(subject.kind.gvr, subject.manifest)
        found = [port.number for port in ports if port.protocol == TCP]
        self._offered = found if subject.kind.gvr == SERVICES else None
        chosen = QueryDict(mutable=True)
        chosen.update(subject.query)
        first = chosen.get("port") or (str(found[0]) if found else "")
        initial = {"port": first, "scheme": chosen.get("scheme") or scheme_of(first)}
        if data is not None and "port" not in data:
            # The button of a single port has the port in its URL.
            data = data.copy()
            data.update(initial)
        super().__init__(data, initial=initial)
        self.fields["scheme"] = ChoiceField(label=_("Protocol"), choices=list(SCHEMES.items()))

    def clean_port(self) -> int:
        port: int = self.cleaned_data["port"]
        if self._offered is not None and port not in self._offered:
            raise ValidationError(_("The service doesn't have this port."))
        return port


class OpenPort(Action):
    """Open a port in the browser.

    RBAC rules can name the port, so the permission that list pages check is only an estimate.
    """

    name = "open-port"
    label = gettext_lazy("Open port")
    weight = 2
    needs = (right_to("GET"),)
    places = frozenset()
    form = PortForm
    audit_verb = ("open", SUBRESOURCE)
    title_text = gettext_lazy("Open a port of %(kind)s %(name)s")
    button_text = label
    effect_text = gettext_lazy(
        "The application at the port opens in your browser under a separate host name, "
        "without the console's cookies. Requests are sent through the cluster as you. The "
        "port closes when you sign out, or after half an hour without requests."
    )

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        port = str(data.get("port") or "")
        return forward_command(kind, key, int(port)) if port.isdecimal() else ""

    async def check(self, access: Access, gvr: GVR, key: Key) -> None:
        _base()

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        return PortForm(data, subject)

    def audit_name(self, key: Key, data: Mapping[str, Any]) -> str:
        return _target(PODS, key, data).resource_name.name

    async def run(self, context: ActionContext) -> Outcome:
        target = _target(context.kind.gvr, context.key, context.data)
        target.check(context.access)
        entry = context.access.cluster.runtime.informer(target.gvr).store.get(target.key)
        if entry is None or entry.projection.uid != context.uid:
            raise ObjectRecreated
        presence = context.request.presence
        if presence is None or not presence.session:
            raise Refused(_("You can open ports only in a browser that is signed in."))
        owner = PortOwner(
            account=context.request.account or "",
            as_user=context.access.identity.name,
            session=presence.session,
            cluster=context.access.cluster.name,
        )
        label, ticket = await sync_to_async(open_port)(owner, target, context.audit_id)
        where = f"{_base().origin(label)}{ENTER}?{urlencode({'ticket': ticket})}"
        return ActionPage(
            "console/proxying/leave.html", {"where": where, "name": target.resource_name.name}
        )


def _target(gvr: GVR, key: Key, data: Mapping[str, Any]) -> ProxyTarget:
    return ProxyTarget(TYPES[gvr.resource], key, data["port"], data["scheme"])


def _base() -> ProxyBase:
    """Return the configured base address. Raise `Refused` if none is configured."""
    base: ProxyBase | None = settings.PROXY_BASE
    if base is None:
        raise Refused(
            _(
                "This console is not configured to open ports in the browser. Use kubectl "
                "port-forward instead."
            )
        )
    return base

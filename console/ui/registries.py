"""The action that sets a project's default registry credentials."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.errors import ChangedConcurrently, Conflict
from console.kube.gvr import SERVICE_ACCOUNTS, Key
from console.kube.store import Entry
from console.ui.actions import Action, ActionContext, ActionSucceeded, Outcome, Permission
from console.ui.forms import ConsoleForm
from console.ui.kind import ResourceKind
from console.ui.kubectl import kubectl_patch
from console.ui.manifests import mappings_at
from console.ui.relations.seeing import VisibleType
from console.ui.subject import Subject
from console.ui.text import escape_invisible

#: Secret types that the kubelet uses to pull images.
TYPES = ("kubernetes.io/dockerconfigjson", "kubernetes.io/dockercfg")
#: Service account of pods that set none.
ACCOUNT = "default"
_TRIES = 3
_FIELD = "imagePullSecrets"


class RegistryForm(ConsoleForm):
    """Confirmation form without fields.

    `there` contains the current image pull secrets, or None if the viewer can't see them.
    """

    def __init__(self, data: QueryDict | None, there: Sequence[Any] | None) -> None:
        super().__init__(data, initial={"there": there})

    def clean(self) -> dict[str, Any]:
        return dict(self.initial)


class SetDefaultRegistry(Action):
    """Add the secret to the image pull secrets of the default service account, like KubeSphere."""

    name = "default-registry"
    label = gettext_lazy("Set as default registry")
    reads_also = (SERVICE_ACCOUNTS,)
    title_text = gettext_lazy("Set %(kind)s %(name)s as default registry")
    button_text = label
    effect_text = gettext_lazy(
        "New pods in the project that don't set a service account also use the credentials "
        "of this registry to pull images."
    )
    needs = (
        *(Permission(verb, gvr=SERVICE_ACCOUNTS) for verb in ("get", "patch")),
        Permission("get"),
    )
    audit_verb = ("patch", "default-registry")

    def applicable(self, entry: Entry[Any]) -> bool:
        return entry.projection.type in TYPES

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        if data["there"] is None:
            return ""
        account = Key(key.namespace, ACCOUNT)
        return kubectl_patch(SERVICE_ACCOUNTS, account, _patch(data["there"], key.name))

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        account = VisibleType(subject, SERVICE_ACCOUNTS).get(Key(subject.key.namespace, ACCOUNT))
        there = mappings_at(account.original(), _FIELD) if account is not None else None
        return RegistryForm(data, there)

    async def run(self, context: ActionContext) -> Outcome:
        await context.fetch()
        where = Key(context.key.namespace, ACCOUNT)._asdict()
        for _try in range(_TRIES):
            account = await context.client.get(SERVICE_ACCOUNTS, **where, audit_id=context.audit_id)
            body = {
                "metadata": {"resourceVersion": account["metadata"]["resourceVersion"]},
                **_patch(mappings_at(account, _FIELD), context.key.name),
            }
            try:
                await context.client.patch(
                    SERVICE_ACCOUNTS, body, **where, audit_id=context.audit_id
                )
            except Conflict:
                continue
            words = {"name": escape_invisible(context.key.name)}
            return ActionSucceeded(
                _("New pods in the project now use %(name)s to pull images.") % words
            )
        raise ChangedConcurrently


def _patch(there: Sequence[Any], name: str) -> dict[str, Any]:
    """Return the patch with all existing secrets, because a merge patch replaces the whole list."""
    mine = {"name": name}
    return {_FIELD: [*there, *([] if mine in there else [mine])]}

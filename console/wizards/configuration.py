"""Wizards of ConfigMaps and ServiceAccounts."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.kube.gvr import CLUSTER_ROLES, CONFIG_MAPS, ROLE_BINDINGS, ROLES, SERVICE_ACCOUNTS
from console.ui.wizard import fields
from console.ui.wizard.fields import Choice
from console.ui.wizard.parts import Group, MapRows, OptionalDocument, Rows
from console.ui.wizard.paths import ABSENT, value_at, write_at
from console.ui.wizard.state import FormState
from console.ui.wizard.wizard import Slot, name_of
from console.wizards.data_keys import data_key
from console.wizards.metadata import short_wizard
from console.wizards.uploads import FileUpload

BINDING = "binding"


def data_rows(path: str, **options: Any) -> MapRows:
    """Return rows with a key and a text of several lines."""
    return MapRows(
        id=path,
        title=gettext_lazy("Data"),
        add=gettext_lazy("Add key"),
        of="text",
        name=lambda scope: str(scope.get("key") or _("key")),
        parts=(
            fields.RowKey(label=gettext_lazy("Key"), code=True, check=data_key),
            fields.TextArea(id="value", label=gettext_lazy("Value"), rows=3),
        ),
        **options,
    )


CONFIG_MAP = short_wizard(
    CONFIG_MAPS,
    "ConfigMap",
    Group(
        parts=(
            data_rows("data"),
            FileUpload(
                texts="data", binaries="binaryData", label=gettext_lazy("Add files as values")
            ),
        )
    ),
    Group(
        parts=(
            fields.CheckBox(
                id="immutable",
                label=gettext_lazy("Immutable"),
                hint=gettext_lazy("The data can never be changed. Kubelets don't watch it."),
            ),
        )
    ),
    start=lambda context: {"data": {"": ""}},
    facts=lambda scope: [
        (pgettext_lazy("data", "Keys"), ", ".join(str(key) for key in scope.get("data") or ())),
    ],
)


def _new_binding(state: FormState) -> Mapping[str, Any]:
    return {
        "apiVersion": ROLE_BINDINGS.group_version,
        "kind": "RoleBinding",
        "metadata": {},
        "roleRef": {
            "apiGroup": ROLE_BINDINGS.group,
            "kind": "ClusterRole",
            "name": "view",
        },
    }


def _bind_account(state: FormState, before: str) -> None:
    """Update name, project and subject of the role binding after changes of the service account."""
    binding, account = state.documents.get(BINDING), state.documents[""]
    if binding is None:
        return
    name, namespace = name_of(account), value_at(account, ("metadata", "namespace"))
    if name and name_of(binding) in ("", before):
        write_at(binding, ("metadata", "name"), name)
    subject = {"kind": "ServiceAccount", "name": name}
    if namespace is not ABSENT:
        write_at(binding, ("metadata", "namespace"), namespace)
        subject["namespace"] = namespace
    binding["subjects"] = [subject]


SERVICE_ACCOUNT = short_wizard(
    SERVICE_ACCOUNTS,
    "ServiceAccount",
    OptionalDocument(
        slot=BINDING,
        label=gettext_lazy("Give the service account a role in the project"),
        hint=gettext_lazy("Pods with this account can then use the Kubernetes API."),
        start=_new_binding,
        parts=(
            Group(
                pairs=True,
                path=("roleRef",),
                parts=(
                    fields.Select(
                        id="kind",
                        label=gettext_lazy("Kind of role"),
                        choices=(
                            Choice("ClusterRole", gettext_lazy("Cluster role")),
                            Choice("Role", gettext_lazy("Role of the project")),
                        ),
                    ),
                    fields.Suggested(
                        id="name",
                        label=gettext_lazy("Role"),
                        required=True,
                        suggest=lambda scope: scope.state.context.names(
                            ROLES if scope.get("kind") == "Role" else CLUSTER_ROLES
                        ),
                    ),
                ),
            ),
        ),
    ),
    Group(
        parts=(
            Rows(
                id="imagePullSecrets",
                title=gettext_lazy("Secrets for image registries"),
                add=gettext_lazy("Add Secret"),
                of="name",
                name=lambda scope: str(scope.get("name") or _("Secret")),
                parts=(
                    fields.TextInput(
                        id="name",
                        label=gettext_lazy("Secret"),
                        required=True,
                        size="medium",
                        check=fields.dns_subdomain,
                    ),
                ),
            ),
        )
    ),
    Group(
        parts=(
            fields.CheckBox(
                id="automountServiceAccountToken",
                label=gettext_lazy("Don't mount a token in pods"),
                hint=gettext_lazy("A pod can override this setting."),
                on=False,
            ),
        )
    ),
    slots=(Slot(id=BINDING, gvr=ROLE_BINDINGS, api_kind="RoleBinding"),),
    finish=_bind_account,
    implied=((BINDING, ("roleRef", "apiGroup")), (BINDING, ("subjects",))),
    facts=lambda scope: [
        (
            gettext_lazy("Role"),
            str(value_at(scope.state.documents.get(BINDING), ("roleRef", "name")) or ""),
        ),
    ],
)

"""Actions that assign a role to a service account, and a default registry to a project.

As in KubeSphere, the role is a role binding owned by the service account, plus an annotation
that names the role. The default registry is an image pull secret of the service account
`default`.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.creation import LONGEST, check_loaded, new_name
from console.kube.errors import NotFound
from console.kube.gvr import ROLE_BINDINGS, ROLES, SERVICE_ACCOUNTS, Key
from console.kube.names import is_label_value
from console.kube.projections.config import ROLE_ANNOTATION
from console.kube.store import Entry
from console.ui.core.action_texts import kubectl, kubectl_create, kubectl_patch, quoted
from console.ui.core.actions import Action, ActionContext, Outcome, Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.labels import command_of
from console.ui.core.manifests import mappings_at
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.details.relations.visible_type import VisibleType
from console.ui.forms.forms import ChoiceField, ConsoleForm, TextField

#: The label by which KubeSphere finds the role bindings of a service account.
REFERENCE_LABEL = "iam.kubesphere.io/serviceaccount-ref"


class AccountRoleForm(ConsoleForm):
    """Form to select the role of a service account.

    `held` are the role bindings owned by the account, and `name` is the name for a new binding.
    After validation, `made` is the binding to create or None, `gone` are the bindings to delete,
    and `named` is True if the annotation already names the role.
    """

    error_fields: Mapping[str, str] = {"roleRef": "role", "metadata.name": "role"}
    name = TextField(max_length=LONGEST, widget=forms.HiddenInput)
    was = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(
        self,
        data: QueryDict | None,
        account: Entry[Any],
        roles: Collection[str],
        held: Sequence[Entry[Any]],
    ) -> None:
        self._account, self._held = account, held
        has = [one.projection.role for one in held]
        begins = {
            "name": new_name(account.key.name),
            "was": " ".join(one.projection.uid for one in held),
            "role": has[0] if has else "",
        }
        super().__init__(data, initial=begins)
        choices = [("", _("None")), *((name, name) for name in sorted({*roles, *has}))]
        self.fields["role"] = ChoiceField(label=_("Role"), choices=choices)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if self.errors:
            return given
        if given["was"] != self.initial["was"]:
            raise ValidationError(
                _(
                    "The role of the service account has changed since you opened this form. Check the "
                    "role and try again."
                )
            )
        role = given["role"]
        stays = next((one for one in self._held if one.projection.role == role), None)
        gone = [one for one in self._held if one is not stays]
        made = _binding(self._account, given["name"], role) if role and stays is None else None
        named = self._account.projection.role == role
        self.require_changes(made is not None or gone or not named)
        return {**given, "made": made, "gone": gone, "named": named}


class ChangeAccountRole(Action):
    """Change the role of a service account.

    All requests use the user's own identity, so that kube-apiserver prevents privilege
    escalation.
    """

    name = "role"
    label = gettext_lazy("Change role")
    reads_also = (ROLES, ROLE_BINDINGS)
    title_text = gettext_lazy("Change the role of %(kind)s %(name)s")
    button_text = gettext_lazy("Save")
    effect_text = gettext_lazy(
        "Pods that use this service account get the permissions of the role in the project. "
        "You cannot grant more permissions than you have."
    )
    weight = 2
    needs = (
        Permission("patch"),
        Permission("get"),
        *(Permission(verb, gvr=ROLE_BINDINGS) for verb in ("list", "create", "delete")),
        Permission("list", gvr=ROLES),
    )

    def notes(self, subject: Subject) -> Sequence[str | Promise]:
        held, others = _bindings(subject)
        named = subject.entry.projection.role
        notes = []
        if named and named not in [one.projection.role for one in held]:
            text = _(
                "The service account is annotated with the role %(role)s, but has no role binding of "
                "its own for this role."
            )
            notes.append(text % {"role": escape_invisible(named)})
        for one in others:
            words = {
                "role": escape_invisible(one.projection.role),
                "binding": escape_invisible(one.key.name),
            }
            text = _(
                "Role binding %(binding)s also grants the role %(role)s to the service account. This "
                "role binding is kept."
            )
            notes.append(text % words)
        return notes

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        check_loaded(subject, ROLES, ROLE_BINDINGS)
        roles = VisibleType(subject, ROLES).in_namespace
        names = [one.key.name for one in roles if not one.projection.template]
        return AccountRoleForm(data, subject.entry, names, _bindings(subject)[0])

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        role = data["role"] or "ROLE"
        if "gone" not in data:
            account = quoted(f"{key.namespace}:{key.name}")
            words = f"create rolebinding {quoted(data['name'])} --role={quoted(role)}"
            return kubectl(f"{words} --serviceaccount={account}", key)
        lines = []
        if data["made"] is not None:
            lines.append(kubectl_create(data["made"], key))
        if data["gone"]:
            names = " ".join(quoted(one.key.name) for one in data["gone"])
            lines.append(kubectl(f"delete {ROLE_BINDINGS.qualified} {names}", key))
        if not data["named"]:
            lines.append(command_of("annotate", kind, key, {ROLE_ANNOTATION: data["role"] or None}))
        return " && ".join(lines)

    async def run(self, context: ActionContext) -> Outcome:
        data, project = context.data, context.key.namespace
        await context.fetch()
        # Create the binding first: kube-apiserver may reject it because of the role's permissions,
        # and then nothing has changed yet.
        if data["made"] is not None:
            await context.client.create(
                ROLE_BINDINGS, data["made"], namespace=project, audit_id=context.audit_id
            )
        for one in data["gone"]:
            with suppress(NotFound):
                await context.client.delete(
                    ROLE_BINDINGS,
                    namespace=project,
                    name=one.key.name,
                    uid=one.projection.uid,
                    resource_version=one.resource_version,
                    audit_id=context.audit_id,
                )
        if not data["named"]:
            await context.patch(
                {"metadata": {"annotations": {ROLE_ANNOTATION: data["role"] or None}}}
            )
        if data["role"]:
            role = escape_invisible(data["role"])
            return context.succeeded(_("%(name)s now has the role %(role)s."), role=role)
        return context.succeeded(_("Removed the role of %(name)s."))


def _bindings(subject: Subject) -> tuple[list[Entry[Any]], list[Entry[Any]]]:
    """Return the bindings owned by the account, and other bindings that grant it a role, both
    limited to bindings that the user may see.
    """
    there, account = VisibleType(subject, ROLE_BINDINGS).in_namespace, str(subject.key)
    found = sorted(
        (one for one in there if account in one.projection.service_accounts),
        key=lambda one: one.key,
    )
    held = [one for one in found if _is_own(one, subject)]
    return held, [one for one in found if one not in held]


def _is_own(binding: Entry[Any], subject: Subject) -> bool:
    found = binding.projection
    return bool(
        found.owner_uid == subject.entry.projection.uid
        and found.role_kind == "Role"
        and found.subjects == (str(subject.key),)
    )


def _binding(account: Entry[Any], name: str, role: str) -> dict[str, Any]:
    key = account.key
    owner = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "name": key.name,
        "uid": account.projection.uid,
        "controller": True,
    }
    labels = {REFERENCE_LABEL: key.name} if is_label_value(key.name) else {}
    return {
        "apiVersion": ROLE_BINDINGS.group_version,
        "kind": "RoleBinding",
        "metadata": {"name": name, "labels": labels, "ownerReferences": [owner]},
        "roleRef": {"apiGroup": ROLES.group, "kind": "Role", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": key.name, "namespace": key.namespace}],
    }


#: Secret types that the kubelet uses to pull images.
TYPES = ("kubernetes.io/dockerconfigjson", "kubernetes.io/dockercfg")
#: Service account of pods that set none.
ACCOUNT = "default"
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
        await context.patch_other(
            SERVICE_ACCOUNTS,
            Key(context.key.namespace, ACCOUNT),
            lambda account: _patch(mappings_at(account, _FIELD), context.key.name),
        )
        return context.succeeded(_("New pods in the project now use %(name)s to pull images."))


def _patch(there: Sequence[Any], name: str) -> dict[str, Any]:
    """Return the patch with all existing secrets, because a merge patch replaces the whole list."""
    mine = {"name": name}
    return {_FIELD: [*there, *([] if mine in there else [mine])]}

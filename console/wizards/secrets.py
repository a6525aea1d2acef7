"""Wizard of new Secrets. The values are written as `stringData`; existing values are masked, so that
existing Secrets have no wizard.
"""

import base64
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from console.kube.apply import writable_content
from console.kube.gvr import SECRETS, SERVICE_ACCOUNTS
from console.registries.logins import FORCE_INSECURE
from console.ui.wizard import fields
from console.ui.wizard.fields import Text
from console.ui.wizard.parts import (
    BoundPart,
    Case,
    FormPart,
    Group,
    MapRows,
    OptionalDocument,
    Variant,
)
from console.ui.wizard.paths import ABSENT, remove_at, write_at
from console.ui.wizard.state import FieldScope, FormState, WizardContext
from console.ui.wizard.wizard import Slot, name_of
from console.wizards.configuration import data_rows
from console.wizards.metadata import short_wizard
from console.wizards.registries import INSECURE_FIELD, VERIFY
from console.wizards.uploads import FileUpload

_DATA = "stringData"
_DOCKER, _CERTIFICATE, _KEY = ".dockerconfigjson", "tls.crt", "tls.key"
_REGISTRY_TYPE = "kubernetes.io/dockerconfigjson"
#: Slot and name of the ServiceAccount of pods that name no other.
_ACCOUNT, DEFAULT_ACCOUNT = "account", "default"
#: Days before the expiry of a certificate from which the form only shows the expiry.
_SOON_DAYS = 30
#: Slot of the decoded JSON while its fields are shown or changed.
_DECODED = "~json"


@dataclass(frozen=True, kw_only=True)
class JsonText:
    """Parts for the JSON document in a text at `path`. `changed` completes the document."""

    path: tuple[str, ...]
    parts: tuple[FormPart, ...]
    changed: Callable[[dict[str, Any]], None]

    def _decoded(self, scope: FieldScope) -> FieldScope | None:
        """Return the scope of the document, or None if the text contains no mapping."""
        text = scope.get(*self.path)
        try:
            document = {} if text is ABSENT else json.loads(text)
        except (TypeError, ValueError, RecursionError):
            return None
        if not isinstance(document, dict):
            return None
        documents = {**scope.state.documents, _DECODED: document}
        return FieldScope(replace(scope.state, documents=documents), _DECODED, prefix=scope.prefix)

    def _change(self, scope: FieldScope, change: Callable[[FormPart, FieldScope], None]) -> None:
        inside = self._decoded(scope)
        if inside is None:
            return
        before = deepcopy(inside.document)
        for part in self.parts:
            change(part, inside)
        scope.state.inputs, scope.state.focus = inside.state.inputs, inside.state.focus
        if inside.document != before:
            self.changed(inside.document)
            write_at(scope.document, (*scope.base, *self.path), json.dumps(inside.document))

    def bind(self, scope: FieldScope) -> BoundPart:
        inside = self._decoded(scope)
        if inside is None:
            return BoundPart(self.parts[0], "wizard/rows.html", (), is_yaml_only=True)
        return Group(parts=self.parts).bind(inside)

    def apply(self, scope: FieldScope) -> None:
        self._change(scope, lambda part, inside: part.apply(inside))

    def strip(self, scope: FieldScope) -> None:
        if self._decoded(scope) is not None:
            remove_at(scope.document, (*scope.base, *self.path), scope.floor)

    def drop_unused(self, scope: FieldScope) -> None:
        self._change(scope, lambda part, inside: part.drop_unused(inside))


@dataclass(frozen=True, kw_only=True)
class _Password(fields.TextInput):
    """A line of text that is not displayed."""

    control = "password"


def _chain(text: str) -> list[x509.Certificate]:
    """Parse PEM certificates. Raise `ValueError`."""
    return x509.load_pem_x509_certificates(text.encode())


def _check_certificate(value: str, _scope: FieldScope) -> Text:
    try:
        chain = _chain(value)
    except ValueError:
        return _("Enter certificates in PEM format, starting with -----BEGIN CERTIFICATE-----.")
    if chain[0].not_valid_after_utc < datetime.now(UTC):
        words = {"date": chain[0].not_valid_after_utc.date().isoformat()}
        return _("The certificate expired on %(date)s.") % words
    for issued, issuer in zip(chain, chain[1:], strict=False):
        if issued.issuer != issuer.subject:
            return _("The certificates are no chain: each must be issued by the next one.")
    return ""


def _certificate_words(value: Any, _scope: FieldScope) -> Text:
    """Return for which hosts and until when a certificate is valid."""
    try:
        first = _chain(value)[0]
    except (AttributeError, ValueError):
        return ""
    hosts = ""
    with suppress(ValueError, x509.ExtensionNotFound):
        names = first.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        hosts = ", ".join(names.value.get_values_for_type(x509.DNSName)[:5])
    days = (first.not_valid_after_utc - datetime.now(UTC)).days
    words = {"hosts": hosts, "date": first.not_valid_after_utc.date().isoformat(), "n": days}
    if 0 <= days < _SOON_DAYS:
        text = ngettext(
            "Expires in %(n)d day, on %(date)s.", "Expires in %(n)d days, on %(date)s.", days
        )
        return text % words
    if not hosts:
        return _("Valid until %(date)s.") % words
    return _("For %(hosts)s. Valid until %(date)s.") % words


def _check_key(value: str, scope: FieldScope) -> Text:
    try:
        key = load_pem_private_key(value.encode(), None)
    except (TypeError, ValueError):
        return _("Enter an unencrypted private key in PEM format.")
    except Exception:  # noqa: BLE001 - UnsupportedAlgorithm has no public base class
        return _("The type of the key is not supported.")
    certificate = scope.get(_DATA, _CERTIFICATE)
    try:
        first = _chain(certificate)[0]
    except (AttributeError, ValueError):
        return ""
    parts = Encoding.DER, PublicFormat.SubjectPublicKeyInfo
    same = first.public_key().public_bytes(*parts) == key.public_key().public_bytes(*parts)
    return "" if same else _("The key does not belong to the certificate.")


def _add_auth(document: dict[str, Any]) -> None:
    """Set `auth` of each registry from its user name and password."""
    held = document.get("auths")
    for one in held.values() if isinstance(held, dict) else ():
        if isinstance(one, dict):
            user, password = one.get("username"), one.get("password")
            if isinstance(user, str) and isinstance(password, str):
                one["auth"] = base64.b64encode(f"{user}:{password}".encode()).decode()
            elif "auth" in one and ("username" in one or "password" in one):
                del one["auth"]


def _text(id: str, label: Text, path: str, **options: Any) -> fields.TextInput:
    return fields.TextInput(id=id, path=(_DATA, path), label=label, **options)


def _secret(id: str, label: Text, *path: str, **options: Any) -> fields.TextInput:
    return _Password(id=id, path=path, label=label, required=True, **options)


_REGISTRIES = JsonText(
    path=(_DATA, _DOCKER),
    changed=_add_auth,
    parts=(
        MapRows(
            id="auths",
            title=gettext_lazy("Registries"),
            add=gettext_lazy("Add registry"),
            is_item=True,
            empty={},
            name=lambda scope: str(scope.get("key") or _("Registry")),
            facts=lambda scope: str(scope.get("value", "username") or ""),
            parts=(
                fields.RowKey(
                    label=gettext_lazy("Registry address"),
                    placeholder="registry.example.com",
                    missing=gettext_lazy("Enter the address of the registry."),
                ),
                Group(
                    pairs=True,
                    path=("value",),
                    parts=(
                        fields.TextInput(
                            id="username", label=gettext_lazy("User name"), required=True
                        ),
                        _secret("password", gettext_lazy("Password or token"), "password"),
                    ),
                ),
                fields.TextInput(
                    id="email",
                    path=("value", "email"),
                    label=gettext_lazy("Email"),
                    size="medium",
                    is_marked=True,
                ),
                VERIFY,
            ),
        ),
    ),
)


def _default_account(context: WizardContext) -> dict[str, Any] | None:
    """Return the ServiceAccount that pods of the project use by default, if the viewer may see it."""
    found = (one for one in context.entries(SERVICE_ACCOUNTS) if one.key.name == DEFAULT_ACCOUNT)
    entry = next(found, None) if context.namespace else None
    if entry is None:
        return None
    head = {"apiVersion": SERVICE_ACCOUNTS.group_version, "kind": "ServiceAccount"}
    return {**head, **writable_content(entry.original())}


def _start_account(state: FormState) -> Mapping[str, Any]:
    return _default_account(state.context) or {}


def _follow(state: FormState, _before: str) -> None:
    """Add the Secret to the current pull secrets of the default ServiceAccount, if it is chosen."""
    if _ACCOUNT not in state.documents:
        return
    secret, account = state.documents[""], _default_account(state.context)
    if account is None or secret.get("type") != _REGISTRY_TYPE:
        del state.documents[_ACCOUNT]
        return
    held = account.get("imagePullSecrets") or []
    own = {"name": name_of(secret)}
    account["imagePullSecrets"] = held if own in held else [*held, own]
    state.documents[_ACCOUNT] = account


_FOR_ALL_PODS = Group(
    shown_if=lambda scope: _default_account(scope.state.context) is not None,
    parts=(
        OptionalDocument(
            slot=_ACCOUNT,
            label=gettext_lazy("Use for all pods of this project"),
            hint=gettext_lazy("Adds the Secret to the ServiceAccount default."),
            start=_start_account,
            parts=(),
        ),
    ),
)


def _case(id: str, type: str, label: Text, hint: Text, *parts: FormPart) -> Case:
    return Case(
        id=id,
        label=label,
        hint=hint,
        keys=("type", _DATA, "data"),
        when=lambda scope: scope.get("type") in ((ABSENT, type) if id == "opaque" else (type,)),
        start={"type": type},
        parts=parts,
    )


SECRET = short_wizard(
    SECRETS,
    "Secret",
    Group(
        parts=(
            Variant(
                id="kind",
                label=gettext_lazy("Type"),
                picks=True,
                cases=(
                    _case(
                        "opaque",
                        "Opaque",
                        gettext_lazy("Keys and values"),
                        gettext_lazy("Any values (Opaque)"),
                        data_rows(_DATA),
                        FileUpload(
                            texts=_DATA,
                            binaries="data",
                            label=gettext_lazy("Add files as values"),
                        ),
                    ),
                    _case(
                        "tls",
                        "kubernetes.io/tls",
                        gettext_lazy("Certificate"),
                        gettext_lazy("TLS certificate and key"),
                        fields.TextArea(
                            id="certificate",
                            path=(_DATA, _CERTIFICATE),
                            label=gettext_lazy("Certificate and chain"),
                            required=True,
                            rows=6,
                            check=_check_certificate,
                            finding=_certificate_words,
                        ),
                        fields.TextArea(
                            id="key",
                            path=(_DATA, _KEY),
                            label=gettext_lazy("Private key"),
                            required=True,
                            rows=6,
                            check=_check_key,
                        ),
                    ),
                    Case(
                        id="registry",
                        label=gettext_lazy("Registry"),
                        hint=gettext_lazy("Sign-in to pull images"),
                        keys=("type", _DATA),
                        when=lambda scope: scope.get("type") == _REGISTRY_TYPE,
                        start={
                            "type": _REGISTRY_TYPE,
                            _DATA: {_DOCKER: '{"auths": {"": {}}}'},
                        },
                        parts=(INSECURE_FIELD, _REGISTRIES, _FOR_ALL_PODS),
                    ),
                    _case(
                        "basic",
                        "kubernetes.io/basic-auth",
                        gettext_lazy("Basic auth"),
                        gettext_lazy("User name and password"),
                        _text("username", gettext_lazy("User name"), "username", size="medium"),
                        _secret(
                            "password", gettext_lazy("Password"), _DATA, "password", size="medium"
                        ),
                    ),
                    _case(
                        "ssh",
                        "kubernetes.io/ssh-auth",
                        gettext_lazy("SSH key"),
                        gettext_lazy("Private key for Git"),
                        fields.TextArea(
                            id="ssh",
                            path=(_DATA, "ssh-privatekey"),
                            label=gettext_lazy("Private key"),
                            required=True,
                            rows=6,
                        ),
                    ),
                ),
            ),
        ),
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
    slots=(
        Slot(
            id=_ACCOUNT,
            gvr=SERVICE_ACCOUNTS,
            api_kind="ServiceAccount",
            belongs=lambda _documents, manifest: name_of(manifest) == DEFAULT_ACCOUNT,
            changes_existing=True,
        ),
    ),
    finish=_follow,
    implied=((_ACCOUNT, ()),),
    start=lambda context: {"type": "Opaque", _DATA: {"": ""}},
    apart=lambda key: key == FORCE_INSECURE,
    facts=lambda scope: [(gettext_lazy("Type"), str(scope.get("type") or "Opaque"))],
)

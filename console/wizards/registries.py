"""Verification of the credentials for registries in a new Secret."""

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.registries.errors import RegistryError, SignInRefused
from console.registries.logins import FORCE_INSECURE, Login
from console.registries.lookups import lookups
from console.registries.policy import Transfer
from console.registries.references import registry_of
from console.ui.wizard import fields
from console.ui.wizard.parts import Answer, AskButton, Group
from console.ui.wizard.state import FieldScope

_ANNOTATION = ("metadata", "annotations", FORCE_INSECURE)


def _offers_insecure(scope: FieldScope) -> bool:
    allowed = any(one.transfer is Transfer.INSECURE for one in settings.REGISTRY_POLICY.listed)
    return allowed or scope.has(*_ANNOTATION)


#: KubeSphere's setting for registries whose certificate can't be verified.
INSECURE_FIELD = Group(
    shown_if=_offers_insecure,
    parts=(
        fields.CheckBox(
            id="insecure",
            path=_ANNOTATION,
            label=gettext_lazy("Skip the verification of certificates"),
            hint=gettext_lazy(
                "For this console and KubeSphere, where an administrator allows it. Nodes have their own "
                "settings."
            ),
            on="true",
        ),
    ),
)


async def _verify(scope: FieldScope) -> Answer:
    """Sign in to the registry of a row with the entered credentials."""
    address, user, password = (
        found if isinstance(found, str) else ""
        for found in (
            scope.get("key"),
            scope.get("value", "username"),
            scope.get("value", "password"),
        )
    )
    registry = registry_of(address)
    if not registry:
        return Answer("warn", _("Enter the address of the registry."))
    if not user or not password:
        return Answer("warn", _("Enter the user name and the password."))
    # The row is in a view of the Secret.
    insecure = FieldScope(scope.state).get(*_ANNOTATION) == "true"
    login = Login(user, password, is_insecure=insecure)
    try:
        found = await lookups().verify(scope.state.context.access.identity.name, registry, login)
    except SignInRefused as error:
        return Answer("warn", str(error))
    except RegistryError as error:
        hint = _("Nodes may still reach the registry. You can create the Secret anyway.")
        return Answer("warn", str(error), hint)
    if found.was_checked:
        return Answer("done", _("Signed in as %(user)s.") % {"user": user})
    text = _("The registry responds, and requires no sign-in. The password was not checked.")
    return Answer("warn", text)


VERIFY = AskButton(id="verify", label=gettext_lazy("Verify"), ask=_verify)

"""The form that edits nodes."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import NODES
from console.kube.names import is_label_value
from console.kube.selectors import is_qualified
from console.ui.wizard import fields
from console.ui.wizard.fields import Choice, Text
from console.ui.wizard.parts import Rows
from console.ui.wizard.paths import value_at
from console.ui.wizard.state import FieldScope
from console.ui.wizard.wizard import Slot, Step, Wizard


def _key(value: str, scope: FieldScope) -> Text:
    if not is_qualified(value):
        return _("Enter a key, such as gpu or example.com/gpu.")
    # A node has at most one taint with a key and an effect.
    taints = [_identity(one) for one in value_at(scope.document, scope.base[:-1])]
    again = taints.count(_identity(scope.get())) > 1
    return _("Another taint has this key and this effect.") if again else ""


def _identity(taint: Any) -> tuple[Any, Any]:
    return taint.get("key"), taint.get("effect")


def _value(value: str, _scope: FieldScope) -> Text:
    return "" if is_label_value(value) else _("Use up to 63 letters, digits, -, _ and dots.")


TAINTS = Rows(
    id="taints",
    path=("spec", "taints"),
    add=gettext_lazy("Add taint"),
    of="spread",
    new=lambda scope: {"effect": "NoSchedule"},
    name=lambda scope: str(scope.get("key") or _("taint")),
    parts=(
        fields.TextInput(id="key", label=gettext_lazy("Key"), code=True, required=True, check=_key),
        fields.TextInput(id="value", label=gettext_lazy("Value"), code=True, check=_value),
        fields.Select(
            id="effect",
            label=gettext_lazy("Effect"),
            choices=tuple(
                Choice(one, one) for one in ("NoSchedule", "PreferNoSchedule", "NoExecute")
            ),
        ),
    ),
)
_TAINTS = Step(id="taints", title=gettext_lazy("Taints"), parts=(TAINTS,))

NODE = Wizard(
    slots=(Slot(id="", gvr=NODES, api_kind="Node"),),
    steps=(_TAINTS,),
    sections=(_TAINTS,),
    creates=False,
)

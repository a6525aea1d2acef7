"""Actions that cordon and uncordon nodes and edit their taints."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.kube.errors import ChangedConcurrently
from console.kube.gvr import Key
from console.kube.names import is_label_value
from console.kube.selectors import is_qualified
from console.kube.store import Entry
from console.ui.core.action_texts import kubectl, quoted
from console.ui.core.actions import EVERYWHERE, Action, ActionContext, Outcome, Patch, Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import mappings_at
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import TOO_LONG, ConsoleForm, text_area


class _Schedulable(Patch):
    weight = 3
    places = EVERYWHERE

    def applicable(self, entry: Entry[Any]) -> bool:
        return entry.projection.cordoned is not bool(self.body["spec"]["unschedulable"])

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return kubectl(f"{self.name} {quoted(key.name)}", key)


class Cordon(_Schedulable):
    name = "cordon"
    label = pgettext_lazy("action", "Cordon")
    effect_text = gettext_lazy(
        "No new pods are scheduled on the node, except pods of DaemonSets. Pods that already "
        "run on the node are not affected."
    )
    success_label = pgettext_lazy("result", "Cordoned")
    failure_label = gettext_lazy("Not cordoned")
    body = {"spec": {"unschedulable": True}}
    done_text = gettext_lazy("Cordoned %(kind)s %(name)s.")


class Uncordon(_Schedulable):
    name = "uncordon"
    label = pgettext_lazy("action", "Uncordon")
    effect_text = gettext_lazy(
        "New pods can be scheduled on the node again. Pods that moved to other nodes are not "
        "moved back."
    )
    success_label = pgettext_lazy("result", "Uncordoned")
    failure_label = gettext_lazy("Not uncordoned")
    body = {"spec": {"unschedulable": None}}
    done_text = gettext_lazy("Uncordoned %(kind)s %(name)s.")


#: Maximum length of the text in characters.
LONGEST = 64 * 1024
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


@dataclass(frozen=True, slots=True)
class Taint:
    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        """Return the taint in kubectl syntax."""
        value = f"={self.value}" if self.value else ""
        return f"{self.key}{value}:{self.effect}"


def parse_taint(line: str) -> Taint:
    """Parse a taint in kubectl syntax. Raise `ValidationError` if it is invalid."""
    left, _colon, effect = line.rpartition(":")
    key, _equals, value = left.partition("=")
    words: dict[str, object] = {"line": escape_invisible(line)}
    if effect not in EFFECTS:
        known = ", ".join(EFFECTS)
        text = _("“%(line)s” must end with a colon and an effect. Valid effects: %(known)s.")
        raise ValidationError(text % {**words, "known": known})
    if not is_qualified(key):
        text = _("“%(key)s” in “%(line)s” is not a valid taint key.")
        raise ValidationError(text % {**words, "key": escape_invisible(key)})
    if not is_label_value(value):
        text = _("“%(value)s” in “%(line)s” is not a valid taint value.")
        raise ValidationError(text % {**words, "value": escape_invisible(value)})
    return Taint(key, value, effect)


class TaintsForm(ConsoleForm):
    # kube-apiserver reports errors with the path `metadata.taints`.
    error_fields: Mapping[str, str] = {"metadata.taints": "taints", "spec.taints": "taints"}
    taints = forms.CharField(
        label=gettext_lazy("Taints"),
        help_text=gettext_lazy(
            "One taint per line: key=value:effect or key:effect. The effect is NoSchedule, "
            "PreferNoSchedule, or NoExecute."
        ),
        required=False,
        max_length=LONGEST,
        error_messages=TOO_LONG,
        widget=text_area(4),
        show_hidden_initial=True,
    )

    def clean_taints(self) -> tuple[Taint, ...]:
        found: list[Taint] = []
        for line in _lines(self.cleaned_data["taints"]):
            taint = parse_taint(line)
            if any((one.key, one.effect) == (taint.key, taint.effect) for one in found):
                text = _("Two taints have the key “%(key)s” and the effect %(effect)s.")
                raise ValidationError(text % {"key": taint.key, "effect": taint.effect})
            found.append(taint)
        return tuple(found)

    def clean(self) -> dict[str, Any]:
        shown = self.data.get(self["taints"].html_initial_name, "")
        return {**self.cleaned_data, "shown": _lines(shown)}


class EditTaints(Action):
    """Replace all taints. The node's taints must still be the ones that the page showed."""

    name = "taints"
    label = gettext_lazy("Edit taints")
    title_text = gettext_lazy("Edit the taints of %(kind)s %(name)s")
    button_text = gettext_lazy("Save")
    effect_text = gettext_lazy(
        "New pods without a matching toleration are not scheduled on the node. A taint with "
        "the effect NoExecute also evicts running pods without a matching toleration "
        "immediately."
    )
    needs = (Permission("patch"), Permission("get"))
    form = TaintsForm

    def initial(self, entry: Entry[Any]) -> Mapping[str, Any]:
        return {"taints": "\n".join(map(escape_invisible, entry.projection.taints))}

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        taints = data["taints"]
        wanted = _lines(taints) if isinstance(taints, str) else [str(taint) for taint in taints]
        effects = {_identity(taint) for taint in wanted}
        gone = [f"{one}-" for one in map(_identity, data.get("shown", ())) if one not in effects]
        words = " ".join(map(quoted, (*wanted, *gone)))
        if not words:
            return ""
        return kubectl(f"taint nodes {quoted(key.name)} {words} --overwrite", key)

    async def run(self, context: ActionContext) -> Outcome:
        wanted: Iterable[Taint] = context.data["taints"]

        def body(node: Mapping[str, Any]) -> Mapping[str, Any]:
            there = {str(_taint(one)): one for one in mappings_at(node, "spec", "taints")}
            if sorted(there) != sorted(context.data["shown"]):
                raise ChangedConcurrently("spec.taints")
            # Reuse the manifests of unchanged taints, which contain `timeAdded`.
            taints = [there.get(str(taint)) or _manifest(taint) for taint in wanted]
            return {"spec": {"taints": taints or None}}

        await context.patch_with_retry(body)
        return context.succeeded(_("Changed the taints of %(kind)s %(name)s."))


def _identity(taint: str) -> str:
    """Return the key and effect of a taint in kubectl syntax. Together they identify a taint on a
    node.
    """
    left, _colon, effect = taint.rpartition(":")
    return f"{left.partition('=')[0]}:{effect}"


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _taint(manifest: Mapping[str, Any]) -> Taint:
    found = (manifest.get(name) or "" for name in ("key", "value", "effect"))
    return Taint(*found)


def _manifest(taint: Taint) -> dict[str, str]:
    value = {"value": taint.value} if taint.value else {}
    return {"key": taint.key, **value, "effect": taint.effect}

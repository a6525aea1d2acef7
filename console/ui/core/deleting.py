"""Delete actions with options: the grace period of a pod, and the propagation policy for owned
objects.
"""

from collections.abc import Collection, Mapping
from typing import Any

from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from console.kube.gvr import GVR, Key
from console.ui.core.actions import Delete
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import mapping
from console.ui.core.subject import Subject
from console.ui.details.relations.object_panels import DEEPEST, branches_of
from console.ui.details.relations.owners import owned_types
from console.ui.forms.forms import ChoiceField, ConsoleForm, NumberField

#: Maximum grace period in seconds.
LONGEST = 24 * 60 * 60
#: Kubernetes' default grace period in seconds.
USUAL = 30


class GraceForm(ConsoleForm):
    """Form for the grace period. `grace` is "" to use the pod's own value."""

    error_fields: Mapping[str, str] = {"gracePeriodSeconds": "seconds"}
    field_order = ("grace", "seconds")
    seconds = NumberField(label=gettext_lazy("Seconds"), least=1, most=LONGEST, required=False)

    def __init__(self, data: QueryDict | None, usual: int) -> None:
        super().__init__(data)
        as_it_says = ngettext(
            "Pod default: %(seconds)s second", "Pod default: %(seconds)s seconds", usual
        )
        self.fields["grace"] = ChoiceField(
            label=_("Grace period"),
            help_text=_(
                "Now: the cluster removes the pod without waiting for its containers to stop. The "
                "containers may keep running on the node while a new pod with the same name starts."
            ),
            choices=[
                ("", as_it_says % {"seconds": f"{usual:,}"}),
                ("now", _("Now")),
                ("seconds", _("Custom number of seconds")),
            ],
        )
        self.order_fields(self.field_order)

    def clean(self) -> dict[str, Any]:
        found = self.cleaned_data
        chosen = found.get("grace") == "seconds" and "seconds" not in self.errors
        if chosen and found.get("seconds") is None:
            self.add_error("seconds", _("Enter the number of seconds."))
        return found


class DeletePod(Delete):
    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        usual = mapping(subject.manifest, "spec").get("terminationGracePeriodSeconds")
        return GraceForm(data, usual if isinstance(usual, int) else USUAL)

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        line, grace = super().command(kind, key, data), _grace(data)
        if grace is None:
            return line
        return f"{line} --grace-period={grace}" if grace else f"{line} --grace-period=0 --force"

    def options(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"grace": _grace(data)}


def _grace(data: Mapping[str, Any]) -> int | None:
    if data.get("grace") == "now":
        return 0
    return data.get("seconds") if data.get("grace") == "seconds" else None


class PropagationForm(ConsoleForm):
    """Form for the propagation policy. "" stands for the default, Background."""

    error_fields: Mapping[str, str] = {"propagationPolicy": "policy"}
    policy = ChoiceField(
        label=gettext_lazy("Dependent objects"),
        choices=(
            ("", gettext_lazy("Delete after the object (Background)")),
            ("Foreground", gettext_lazy("Delete before the object (Foreground)")),
            ("Orphan", gettext_lazy("Keep, without an owner (Orphan)")),
        ),
    )


class DeleteOwner(Delete):
    """Delete an object that owns other objects."""

    form = PropagationForm

    def reads(self, kind: ResourceKind) -> Collection[GVR]:
        return owned_types(kind)

    async def extra_html(self, subject: Subject, form: ConsoleForm | None) -> SafeString:
        """Return the owned objects that the user may see, as HTML."""
        branches = branches_of(subject, subject.kind, subject.entry, DEEPEST)
        if not branches:
            return SafeString("")
        return render_to_string("ui/relations/dependents.html", {"branches": branches})

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        line, policy = super().command(kind, key, data), data.get("policy", "")
        return f"{line} --cascade={policy.lower()}" if policy else line

    def options(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"policy": data.get("policy") or "Background"}

"""Form to start a drain."""

from typing import Any

from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from console.draining.plan import DrainPlan
from console.ui.forms.forms import CheckField, ConsoleForm, NumberField

#: Maximum grace period of a pod in seconds; maximum and default timeout in minutes.
MAX_GRACE_SECONDS, MAX_MINUTES, DEFAULT_MINUTES = 24 * 60 * 60, 24 * 60, 30


class DrainForm(ConsoleForm):
    """Drain options. Consent fields are only included if the plan requires them."""

    grace = NumberField(
        label=gettext_lazy("Grace period per pod (seconds)"),
        help_text=gettext_lazy("Leave empty to use the grace period of each pod."),
        least=1,
        most=MAX_GRACE_SECONDS,
        required=False,
    )
    minutes = NumberField(label=gettext_lazy("Timeout (minutes)"), least=1, most=MAX_MINUTES)

    def __init__(self, data: QueryDict | None, plan: DrainPlan) -> None:
        super().__init__(data, initial={"minutes": DEFAULT_MINUTES})
        self.plan = plan
        lost, emptied = plan.lost, plan.losing_data
        if lost:
            label = ngettext(
                "Delete %(count)s pod without a controller",
                "Delete %(count)s pods without a controller",
                lost,
            )
            self.fields["force"] = _Consent(label % {"count": f"{lost:,}"})
        if emptied:
            label = ngettext(
                "Delete the data of %(count)s pod in emptyDir volumes",
                "Delete the data of %(count)s pods in emptyDir volumes",
                emptied,
            )
            self.fields["empty_dir"] = _Consent(label % {"count": f"{emptied:,}"})
        self.order_fields(("force", "empty_dir"))


class _Consent(CheckField):
    def __init__(self, label: str) -> None:
        super().__init__(label=label)

    def validate(self, value: Any) -> None:
        if not value:
            raise ValidationError(_("Select this option to drain the node."))

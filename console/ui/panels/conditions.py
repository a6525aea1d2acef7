"""The conditions of an object, in plain words."""

from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from console.ui.conditions import conditions_of
from console.ui.panels import NOTHING, Panel
from console.ui.subject import Subject


@dataclass(frozen=True, kw_only=True)
class ConditionsPanel(Panel):
    """For any object that has `status.conditions`."""

    id: str = "conditions"
    title: str | Promise = _("Conditions")

    def html(self, subject: Subject) -> SafeString:
        found = conditions_of(subject.manifest)
        if not found:
            return NOTHING
        return render_to_string("ui/panels/conditions.html", {"conditions": found})

"""Form field for ports."""

import re
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from console.ui.forms import TextField

HIGHEST = 65535
#: https://kubernetes.io/docs/concepts/services-networking/service/#field-spec-ports
_TARGET = re.compile(r"(?=.{1,15}\Z)(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]*[a-z0-9])?")


class PortField(TextField):
    """A port number or port name. The cleaned value is an integer or a text."""

    def clean(self, value: Any) -> int | str:
        found = str(super().clean(value))
        if found.isascii() and found.isdigit() and len(found) <= len(str(HIGHEST)):
            number = int(found)
            if 0 < number <= HIGHEST:
                return number
        elif not found or _TARGET.fullmatch(found):
            return found
        text = _("Enter a port number up to 65535 or a port name.")
        raise ValidationError(text)

"""Form field for the size of a volume."""

from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.quantity import parse_quantity
from console.ui.forms import TextField
from console.ui.text import escape_invisible

#: Maximum characters. Sizes written by Kubernetes have about a dozen.
LONGEST = 32


class SizeField(TextField):
    """Field for a quantity.

    `least` is the minimum, or "" without one. With `larger`, the value must be greater than
    `least`.
    """

    def __init__(self, *, least: str, larger: bool = False, **options: Any) -> None:
        help_text = gettext_lazy("A number with a unit, such as 20Gi or 1.5Ti.")
        super().__init__(max_length=LONGEST, help_text=help_text, **options)
        self.least, self.larger = least, larger

    def clean(self, value: Any) -> str:
        text: str = super().clean(value)
        amount = parse_quantity(text)
        if amount is None or amount <= 0:
            raise ValidationError(
                _("“%(text)s” is not a valid size.") % {"text": escape_invisible(text)}
            )
        least = parse_quantity(self.least) or Decimal(0)
        words = {"least": escape_invisible(self.least)}
        if amount < least and not self.larger:
            raise ValidationError(_("Use at least %(least)s.") % words)
        if amount <= least and self.larger:
            raise ValidationError(_("Use more than %(least)s.") % words)
        return text

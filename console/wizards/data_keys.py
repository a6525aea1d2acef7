"""Keys of ConfigMaps and Secrets."""

import re

from django.utils.translation import gettext as _

from console.ui.wizard.fields import Text
from console.ui.wizard.state import FieldScope

_DATA_KEY = re.compile(r"(?!\.\.)[-._a-zA-Z0-9]{1,253}")


def data_key(value: str, _scope: FieldScope | None = None) -> Text:
    """Check a key of a ConfigMap or a Secret."""
    if _DATA_KEY.fullmatch(value) and value != ".":
        return ""
    return _("Use up to 253 letters, digits, -, _ and dots.")

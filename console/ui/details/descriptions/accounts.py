"""Description of ServiceAccounts."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.ui.core.manifests import mappings_at, text
from console.ui.details.panels.description import Facts, Section


def service_account(manifest: Mapping[str, Any]) -> Iterator[Section]:
    secrets, pull = mappings_at(manifest, "secrets"), mappings_at(manifest, "imagePullSecrets")
    yield Facts(
        (
            _("Token in pods"),
            _("not mounted unless the pod requests it")
            if manifest.get("automountServiceAccountToken") is False
            else _("mounted unless the pod opts out"),
        ),
        (_("Mountable secrets"), [text(one.get("name")) for one in secrets] or _("none")),
        (_("Image pull secrets"), [text(one.get("name")) for one in pull] or _("none")),
    )

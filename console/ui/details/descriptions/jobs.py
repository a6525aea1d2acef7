"""Descriptions of Jobs.

https://kubernetes.io/docs/concepts/workloads/controllers/job/
"""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.ui.core.amounts import seconds_text
from console.ui.core.manifests import mapping, number, text
from console.ui.details.panels.description import Facts, Section


def job(manifest: Mapping[str, Any]) -> Iterator[Section]:
    spec, status = mapping(manifest, "spec"), mapping(manifest, "status")
    indexed = spec.get("completionMode") == "Indexed"
    completed = text(status.get("completedIndexes"))
    yield Facts(
        (_("Completed indexes"), completed or _("none yet") if indexed else ""),
        (_("Failed indexes"), text(status.get("failedIndexes"))),
        (_("Parallel pods"), text(spec.get("parallelism"))),
        (_("Retry limit"), text(spec.get("backoffLimit"))),
        (_("Retry limit per index"), text(spec.get("backoffLimitPerIndex"))),
        (_("Limit of failed indexes"), text(spec.get("maxFailedIndexes"))),
        (_("Time limit"), _duration(spec.get("activeDeadlineSeconds"))),
        (_("Kept after completion"), _duration(spec.get("ttlSecondsAfterFinished"))),
    )


def _duration(value: Any) -> str:
    seconds = number(value)
    return "" if seconds is None else seconds_text(seconds)

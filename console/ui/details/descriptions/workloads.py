"""Descriptions of workloads, except for their pod template."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.ui.core.amounts import seconds_text
from console.ui.core.manifests import mapping, mappings_at, number, text, texts
from console.ui.details.descriptions.jobs import job
from console.ui.details.panels.description import DescriptionTable, Facts, Section, pairs_of


def workload(manifest: Mapping[str, Any]) -> Iterator[Section]:
    """Describe how a Deployment, StatefulSet, DaemonSet or ReplicaSet updates its pods."""
    spec = mapping(manifest, "spec")
    strategy = mapping(spec, "strategy") or mapping(spec, "updateStrategy")
    rolling = mapping(strategy, "rollingUpdate")
    retention = mapping(spec, "persistentVolumeClaimRetentionPolicy")
    yield Facts(
        (_("Pod replacement"), text(strategy.get("type"))),
        (_("Max unavailable"), text(rolling.get("maxUnavailable"))),
        (_("Max surge"), text(rolling.get("maxSurge"))),
        (_("Partition"), text(rolling.get("partition") or "")),
        (_("Minimum ready time"), _seconds(spec, "minReadySeconds")),
        (_("Progress deadline"), _seconds(spec, "progressDeadlineSeconds")),
        (_("Kept revisions"), text(spec.get("revisionHistoryLimit"))),
        (_("Pod management"), text(spec.get("podManagementPolicy"))),
        (_("First ordinal"), text(mapping(spec, "ordinals").get("start") or "")),
        (
            _("Claims after deletion"),
            [
                _("of the StatefulSet: %(policy)s") % {"policy": text(retention["whenDeleted"])}
                if "whenDeleted" in retention
                else "",
                _("of a replica: %(policy)s") % {"policy": text(retention["whenScaled"])}
                if "whenScaled" in retention
                else "",
            ],
        ),
        (_("Collisions of names"), text(mapping(manifest, "status").get("collisionCount") or "")),
    )
    claims = mappings_at(spec, "volumeClaimTemplates")
    yield DescriptionTable(
        (_("Name"), _("Size"), _("Access modes"), _("Storage class"), _("Labels")),
        (
            (
                text(mapping(one, "metadata").get("name")),
                text(mapping(one, "spec", "resources", "requests").get("storage")),
                texts(mapping(one, "spec").get("accessModes")),
                text(mapping(one, "spec").get("storageClassName")) or _("the default class"),
                pairs_of(mapping(one, "metadata", "labels")),
            )
            for one in claims
        ),
        len(claims),
        _("Volume claim templates"),
    )


def _seconds(spec: Mapping[str, Any], field: str) -> str:
    seconds = number(spec.get(field))
    return seconds_text(seconds) if seconds else ""


def cron_job(manifest: Mapping[str, Any]) -> Iterator[Section]:
    spec = mapping(manifest, "spec")
    yield Facts(
        (_("Starting deadline"), _seconds(spec, "startingDeadlineSeconds")),
        (_("Kept successful jobs"), text(spec.get("successfulJobsHistoryLimit"))),
        (_("Kept failed jobs"), text(spec.get("failedJobsHistoryLimit"))),
        (_("Completions"), text(mapping(spec, "jobTemplate", "spec").get("completions"))),
    )
    yield from job(mapping(spec, "jobTemplate"))

"""Validation of ephemeral containers: they can only be added, through their subresource.

https://kubernetes.io/docs/concepts/workloads/pods/ephemeral-containers/
"""

from collections.abc import Iterator

from devcluster.errors import Cause, duplicate, forbidden_value, invalid, invalid_value, required
from devcluster.metadata_validation import LABEL, LABEL_RULE
from devcluster.objects import Obj, dicts, dig, meta
from devcluster.resources import ResourceType

SUBRESOURCE, FIELD = "ephemeralcontainers", "ephemeralContainers"
_PATH = f"spec.{FIELD}"
_FORBIDDEN = (
    "ports",
    "resources",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
)


def check_ephemeral(declared: ResourceType, subresource: str, new: Obj, old: Obj | None) -> None:
    """Raise a 422 error if the pod's ephemeral containers are invalid or were changed in an invalid
    way.
    """
    if declared.qualified != "pods":
        return
    held, wanted = _listed(old or {}), _listed(new)
    if held == wanted:
        return
    causes = [forbidden_value(_PATH, "cannot be set on create")]
    if old is not None and subresource != SUBRESOURCE:
        causes = [forbidden_value("spec", "pod updates may not change ephemeral containers")]
    elif old is not None:
        causes = [*_wrong(new, wanted), *_changed(held, wanted)]
    if causes:
        raise invalid("", "Pod", str(meta(new).get("name", "")), causes)


def keep_all_but_ephemeral(old: Obj, new: Obj) -> None:
    """Restore all fields of the pod that a write to the subresource must not change."""
    wanted = dig(new, _PATH)
    for name in ("spec", "status"):
        new[name] = dict(old.get(name) or {})
    new["spec"].pop(FIELD, None)
    if wanted:
        new["spec"][FIELD] = wanted


def _listed(pod: Obj) -> list[Obj]:
    return list(dicts(dig(pod, _PATH)))


def _wrong(pod: Obj, wanted: list[Obj]) -> Iterator[Cause]:
    others = {
        one.get("name")
        for group in ("containers", "initContainers")
        for one in dicts(dig(pod, f"spec.{group}"))
    }
    names = set(others)
    for place, one in enumerate(wanted):
        path, name = f"{_PATH}[{place}]", one.get("name")
        for field in ("name", "image"):
            if not one.get(field):
                yield required(f"{path}.{field}")
        if name and not LABEL.fullmatch(str(name)):
            yield invalid_value(f"{path}.name", name, LABEL_RULE)
        if name in names:
            yield duplicate(f"{path}.name", name)
        names.add(name)
        target = one.get("targetContainerName")
        if target and target not in others:
            why = f'Not found: "{target}"'
            yield Cause(f"{path}.targetContainerName", "FieldValueNotFound", why)
        for field in _FORBIDDEN:
            if one.get(field):
                yield forbidden_value(f"{path}.{field}", "cannot be set for an Ephemeral Container")


def _changed(held: list[Obj], wanted: list[Obj]) -> Iterator[Cause]:
    found = {one.get("name"): one for one in wanted}
    for one in held:
        name = one.get("name")
        if name not in found:
            yield forbidden_value(
                _PATH, f'existing ephemeral containers "{name}" may not be removed\n'
            )
        elif found[name] != one:
            yield forbidden_value(
                _PATH, f'existing ephemeral containers "{name}" may not be changed\n'
            )

"""Validation of names, labels, annotations and other metadata.

https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
"""

import re
from collections.abc import Iterator

from devcluster.errors import Cause, forbidden_value, invalid_value, required
from devcluster.objects import Obj, dicts, meta
from devcluster.resources import ResourceType

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
CONFIG_KEY = re.compile(r"[-._a-zA-Z0-9]+")
CONFIG_KEY_RULE = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    r"for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "
    "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_LABEL_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_KEY_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
# Maximum total size of an object's annotations, in bytes.
_ANNOTATIONS = 256 * 1024
_PATH_NAMES = frozenset(
    f"{plural}.rbac.authorization.k8s.io"
    for plural in ("roles", "clusterroles", "rolebindings", "clusterrolebindings")
)
_LABEL_NAMES = frozenset({"namespaces", "services"})


def validate_metadata(declared: ResourceType, obj: Obj) -> Iterator[Cause]:
    about = meta(obj)
    name = about.get("name", "")
    if not name:
        yield required("metadata.name", "Required value: name or generateName is required")
    else:
        yield from _validate_name(declared, name)
    if not declared.namespaced and about.get("namespace"):
        yield forbidden_value("metadata.namespace", "not allowed on this type")
    yield from _validate_labels(about.get("labels"), "metadata.labels")
    annotations = about.get("annotations") or {}
    size = sum(len(f"{key}{value}".encode()) for key, value in annotations.items())
    if size > _ANNOTATIONS:
        why = f"Too long: may not be more than {_ANNOTATIONS} bytes"
        yield Cause("metadata.annotations", "FieldValueTooLong", why)
    for key in annotations:
        yield from _validate_key(key.lower(), "metadata.annotations", key)
    for index, finalizer in enumerate(about.get("finalizers") or ()):
        if declared.custom:
            # kube-apiserver accepts any qualified name here and only warns about names without a
            # path.
            yield from _validate_key(finalizer, f"metadata.finalizers[{index}]", finalizer)
        elif "/" not in finalizer and finalizer not in ("orphan", "foregroundDeletion"):
            why = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid_value(f"metadata.finalizers[{index}]", finalizer, why)
    for index, owner in enumerate(dicts(about.get("ownerReferences"))):
        for field in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(field):
                why = "must not be empty"
                yield invalid_value(f"metadata.ownerReferences[{index}].{field}", "", why)


def _validate_name(declared: ResourceType, name: str) -> Iterator[Cause]:
    if declared.qualified in _PATH_NAMES:
        if name in (".", "..") or "/" in name or "%" in name:
            yield invalid_value(
                "metadata.name", name, "may not be '.' or '..', and may not contain '/' or '%'"
            )
    elif declared.qualified in _LABEL_NAMES:
        if len(name) > 63:
            yield invalid_value("metadata.name", name, "must be no more than 63 characters")
        if not LABEL.fullmatch(name):
            yield invalid_value("metadata.name", name, LABEL_RULE)
    else:
        if len(name) > 253:
            yield invalid_value("metadata.name", name, "must be no more than 253 characters")
        if not SUBDOMAIN.fullmatch(name):
            yield invalid_value("metadata.name", name, SUBDOMAIN_RULE)


def _validate_labels(labels: object, path: str) -> Iterator[Cause]:
    for key, value in labels.items() if isinstance(labels, dict) else ():
        yield from _validate_key(key, path, key)
        if not isinstance(value, str):
            yield invalid_value(path, value, "must be a string")
        elif len(value) > 63:
            yield invalid_value(path, value, "must be no more than 63 characters")
        elif value and not _QUALIFIED.fullmatch(value):
            yield invalid_value(path, value, _LABEL_VALUE_RULE)


def _validate_key(key: str, path: str, shown: str) -> Iterator[Cause]:
    prefix, slash, name = key.rpartition("/")
    if slash and not SUBDOMAIN.fullmatch(prefix):
        yield invalid_value(path, shown, f"prefix part {SUBDOMAIN_RULE}")
    if len(name) > 63:
        yield invalid_value(path, shown, "name part must be no more than 63 characters")
    elif not _QUALIFIED.fullmatch(name):
        yield invalid_value(path, shown, _KEY_RULE)

"""CRDs of a KubeSphere 3.4 cluster, which exist before the console is installed.

If `KUBESPHERE_CRDS` names a folder with KubeSphere's own definitions (`config/ks-core/crds` in
its sources), these are applied unchanged. Otherwise equivalent definitions are used.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

Manifest = dict[str, Any]

GROUPS = ("iam.kubesphere.io", "tenant.kubesphere.io")
_TEXT: Manifest = {"type": "string"}
_FLAG: Manifest = {"type": "boolean"}
_TIME: Manifest = {"type": "string", "format": "date-time"}
_FREE: Manifest = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_TEXTS: Manifest = {"type": "array", "items": _TEXT}


def definitions() -> list[Manifest]:
    folder = os.environ.get("KUBESPHERE_CRDS")
    if not folder:
        return list(_alike())
    files = sorted(Path(folder).glob("*.yaml"))
    read = (item for file in files for item in yaml.safe_load_all(file.read_text()) if item)
    return [item for item in read if item["spec"]["group"] in GROUPS]


def _object(required: str = "", **properties: Manifest) -> Manifest:
    found: Manifest = {"type": "object", "properties": properties}
    return {**found, "required": required.split()} if required else found


def _array(items: Manifest) -> Manifest:
    return {"type": "array", "items": items}


def _placement() -> Manifest:
    """Return the schema of a workspace's placement in federated clusters."""
    expression = _object("key operator", key=_TEXT, operator=_TEXT, values=_TEXTS)
    labels = {"type": "object", "additionalProperties": _TEXT}
    selector = _object(matchExpressions=_array(expression), matchLabels=labels)
    clusters = _array(_object("name", name=_TEXT))
    return _object(
        clusterSelector={**selector, "x-kubernetes-map-type": "atomic"},
        clusters={
            **clusters, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]
        },
    )  # fmt: skip


def _override() -> Manifest:
    change = _object("path", op=_TEXT, path=_TEXT, value=_FREE)
    return _object("clusterName", clusterName=_TEXT, clusterOverrides=_array(change))


def _orders() -> str:
    """Return a pattern that requires a lowercase letter, an uppercase letter and a digit in any
    order, or a hash.
    """
    small, capital, digit = "[a-z]", "[A-Z]", "[0-9]"
    orders = [(a, b, c) for a in (small, capital, digit) for b in (small, capital, digit)
              for c in (small, capital, digit) if len({a, b, c}) == 3]  # fmt: skip
    return "|".join([*(f"^(.*{'.*'.join(one)}.*)$" for one in orders), r"^(\$2[ayb]\$.{56})$"])


def _alike() -> Iterator[Manifest]:
    rule = _object(
        "verbs",
        **dict.fromkeys(
            ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs"), _TEXTS
        ),
    )
    role = _object(rules={"type": "array", "items": rule})
    subject = _object("kind name", apiGroup=_TEXT, kind=_TEXT, name=_TEXT, namespace=_TEXT)
    reference = _object("apiGroup kind name", apiGroup=_TEXT, kind=_TEXT, name=_TEXT)
    reference["x-kubernetes-map-type"] = "atomic"
    subjects = {"type": "array", "items": {**subject, "x-kubernetes-map-type": "atomic"}}
    binding = _object("roleRef", roleRef=reference, subjects=subjects)
    password = {**_TEXT, "minLength": 8, "maxLength": 64, "pattern": _orders()}
    user = _object(
        "spec",
        spec=_object(
            "email",
            **dict.fromkeys(("description", "displayName", "email", "lang"), _TEXT),
            groups=_TEXTS,
            password=password,
        ),
        status=_object(state=_TEXT, reason=_TEXT, lastLoginTime=_TIME, lastTransitionTime=_TIME),
    )
    record = _object(
        "provider reason sourceIP success type",
        **dict.fromkeys(("provider", "reason", "sourceIP", "type", "userAgent"), _TEXT),
        success=_FLAG,
    )
    workspace = _object(manager=_TEXT, networkIsolation=_FLAG)
    template = _object(
        "placement template",
        template=_object(metadata={"type": "object"}, spec=workspace),
        placement=_placement(),
        overrides=_array(_override()),
    )
    embedded = {**_FREE, "x-kubernetes-embedded-resource": True}
    iam, tenant = GROUPS
    nothing = _object()
    for group, version, kind, schema in (
        (iam, "v1alpha2", "User", user),
        (iam, "v1alpha2", "LoginRecord", _object("spec", spec=record)),
        (iam, "v1alpha2", "GlobalRole", role),
        (iam, "v1alpha2", "GlobalRoleBinding", binding),
        (iam, "v1alpha2", "WorkspaceRole", role),
        (iam, "v1alpha2", "WorkspaceRoleBinding", binding),
        (iam, "v1alpha2", "RoleBase", _object("role", role=embedded)),
        (iam, "v1alpha2", "Group", _object(spec=nothing, status=nothing)),
        (iam, "v1alpha2", "GroupBinding", _object(
            groupRef=_object(apiGroup=_TEXT, kind=_TEXT, name=_TEXT), users=_TEXTS)),
        (tenant, "v1alpha1", "Workspace", _object(spec=workspace, status=nothing)),
        (tenant, "v1alpha2", "WorkspaceTemplate", _object(spec=template)),
    ):  # fmt: skip
        yield _definition(group, version, kind, schema)


def _definition(group: str, version: str, kind: str, schema: Manifest) -> Manifest:
    """Return a CRD without a status subresource, like all of KubeSphere's."""
    plural = f"{kind.lower()}s"
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
    common = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": {"type": "object"}}
    whole = {**schema, "properties": {**common, **schema["properties"]}}
    served: Manifest = {"name": version, "served": True, "storage": True, "subresources": {}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Cluster",
            "names": names,
            "versions": [{**served, "schema": {"openAPIV3Schema": whole}}],
        },
    }

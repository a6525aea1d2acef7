"""What a GlobalRoleBinding to `platform-admin` is in Kubernetes' own terms.

Writes go out as the user, so kube-apiserver must allow them: whoever is platform administrator here has
`cluster-admin` there, through a ClusterRoleBinding that belongs to the GlobalRoleBinding.
"""

from collections.abc import Sequence
from typing import Any

from console.kube.gvr import GLOBAL_ROLE_BINDINGS
from console.kube.identity import Identity, InvalidIdentity
from console.kube.projections import GlobalRoleBinding, Subject
from rbac.authorizer import is_admin_binding

Manifest = dict[str, Any]

PREFIX = "quarterdeck:globalrolebinding:"
LABELS = {"app.kubernetes.io/managed-by": "quarterdeck"}
RBAC = "rbac.authorization.k8s.io"
ROLE_REF = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"}


def projected_name(source: str) -> str:
    return PREFIX + source


def source_name(projected: str) -> str | None:
    """Which GlobalRoleBinding a ClusterRoleBinding of this name is of; None if of none."""
    return projected.removeprefix(PREFIX) if projected.startswith(PREFIX) else None


def project(source: GlobalRoleBinding) -> Manifest | None:
    """The ClusterRoleBinding that should exist; None if none should."""
    subjects = native_subjects(source.subjects) if is_admin_binding(source) else []
    if not subjects:
        return None
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {
            "name": projected_name(source.name),
            "labels": dict(LABELS),
            "ownerReferences": [
                {
                    "apiVersion": GLOBAL_ROLE_BINDINGS.group_version,
                    "kind": "GlobalRoleBinding",
                    "name": source.name,
                    "uid": source.uid,
                    "controller": True,
                }
            ],
        },
        "roleRef": dict(ROLE_REF),
        "subjects": subjects,
    }


def native_subjects(subjects: Sequence[Subject]) -> list[dict[str, str]]:
    """Users and groups that can be a person's; see `refused_subjects`."""
    return [
        {"apiGroup": RBAC, "kind": subject.kind, "name": subject.name}
        for subject in subjects
        if _is_acceptable(subject)
    ]


def refused_subjects(subjects: Sequence[Subject]) -> list[Subject]:
    """Names of Kubernetes' own and kinds that nobody signs in as: a role of the platform gives them
    nothing."""
    return [subject for subject in subjects if not _is_acceptable(subject)]


def _is_acceptable(subject: Subject) -> bool:
    if subject.kind not in ("User", "Group"):
        return False
    try:
        Identity(subject.name)
    except InvalidIdentity:
        return False
    return True


def differs(found: Manifest, wanted: Manifest) -> bool:
    """True if somebody changed what matters. Further labels and annotations do not."""
    theirs, ours = found["metadata"], wanted["metadata"]
    return (
        not ours["labels"].items() <= (theirs.get("labels") or {}).items()
        or theirs.get("ownerReferences") != ours["ownerReferences"]
        or found.get("subjects") != wanted["subjects"]
        or found["roleRef"] != wanted["roleRef"]
    )

"""References to objects as text: `StatefulSet.apps/db`, or `Pod/web` for the core group.

The word before the slash is a group and kind in the format of apimachinery's `GroupKind`. Kinds
of different groups can have the same name. The version is left out, because an object has the
same identity in all versions.
"""


def group_of(api_version: str) -> str:
    """Return the group of an `apiVersion`, "" for the core group."""
    return api_version.rpartition("/")[0]


def group_kind(kind: str, group: str) -> str:
    """Return `Kind.group`, or `Kind` for the core group."""
    return f"{kind}.{group}" if group else kind


def without_group(reference: str) -> str:
    """Return the reference as `Kind/name`, for display. The kind alone is valid, too."""
    kind, slash, name = reference.partition("/")
    return f"{kind.partition('.')[0]}{slash}{name}"

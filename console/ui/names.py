"""Splitting of object names into the part chosen by users and the suffix added by a controller.

The split relies on the owner and the labels that controllers set. A name without them is never
split, even if it looks generated.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

#: Suffix that kube-apiserver and controllers append: five characters of this alphabet
#: (k8s.io/apimachinery/pkg/util/rand).
_RANDOM = re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{5}\Z")
_ORDINAL = re.compile(r"-[0-9]{1,10}\Z")


class SplitName(NamedTuple):
    stem: str
    suffix: str


def split_name(name: str, owner: str, labels: Mapping[str, str]) -> SplitName:
    """Split an object's name.

    `owner` is the controller as `Kind/name`, or "". The suffix of a Deployment's pod is the pod
    template hash and five random characters. The suffix of a StatefulSet's pod is its ordinal.
    Pods of a Job, DaemonSet or standalone ReplicaSet have five random characters.
    """
    owner = owner.rpartition("/")[2]
    if not owner or not name.startswith(f"{owner}-"):
        return SplitName(name, "")
    template = labels.get("pod-template-hash", "")
    if template and owner.endswith(f"-{template}"):
        return _cut(name, len(owner) - len(template) - 1)
    added = name[len(owner) :]
    if _ORDINAL.match(added) or _RANDOM.match(added):
        return _cut(name, len(owner))
    return SplitName(name, "")


def _cut(name: str, at: int) -> SplitName:
    return SplitName(name[:at], name[at:])

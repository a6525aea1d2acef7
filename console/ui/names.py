"""What of an object's name people chose, and what a controller added.

Only the owner and the labels that controllers set tell; a name without them is all stem, however
generated it looks.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

#: What kube-apiserver and controllers append: five characters of this alphabet
#: (k8s.io/apimachinery/pkg/util/rand).
_RANDOM = re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{5}\Z")
_ORDINAL = re.compile(r"-[0-9]{1,10}\Z")


class SplitName(NamedTuple):
    stem: str
    suffix: str


def split_name(name: str, owner: str, labels: Mapping[str, str]) -> SplitName:
    """`owner`: the controller that made the object as `Kind/name`, or "".

    A pod of a ReplicaSet of a Deployment loses the template hash and its own five characters, a pod of
    a StatefulSet its ordinal, one of a Job, a DaemonSet or a bare ReplicaSet the five characters.
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

"""What kube-apiserver sees to with claims of volumes and their classes.

https://kubernetes.io/docs/concepts/storage/persistent-volumes/#expanding-persistent-volumes-claims
"""

import json
from collections.abc import Iterator

from devcluster.objects import Obj
from devcluster.statuses import Cause, required

CLASSES = "storageclasses.storage.k8s.io"
_FIXED = ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode")


def validate_class(new: Obj, old: Obj | None) -> Iterator[Cause]:
    if not new.get("provisioner"):
        yield required("provisioner")
    for name in _FIXED if old is not None else ():
        value = new.get(name)
        if value != (old or {}).get(name):
            shown = json.dumps(value, separators=(",", ":"), sort_keys=True)
            why = f"Invalid value: {shown}: field is immutable"
            yield Cause(name, "FieldValueInvalid", why)

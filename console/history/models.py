"""One table. A row grants nothing: whoever looks at it must be allowed to see the object."""

from typing import Any

from django.db import models
from django.utils import timezone


class ObjectChange(models.Model):
    """A change of one object that kube-apiserver has taken. `before` and `after` are manifests as
    `console.history.keeping` packs them. `audit_id`: its record in the audit trail."""

    audit_id = models.CharField(max_length=36, unique=True)
    time = models.DateTimeField(default=timezone.now, db_index=True)
    actor = models.CharField(max_length=253)
    cluster = models.CharField(max_length=63)
    group = models.CharField(max_length=253, blank=True)
    resource = models.CharField(max_length=253)
    namespace = models.CharField(max_length=253, blank=True)
    name = models.CharField(max_length=253)
    uid = models.CharField(max_length=128)
    verb = models.CharField(max_length=32)
    subresource = models.CharField(max_length=63, blank=True)
    before: Any = models.BinaryField()
    after: Any = models.BinaryField()

    class Meta:
        ordering = ["-time", "-id"]
        indexes = [
            models.Index(
                fields=["cluster", "uid", "-time"],
                name="changes_of_one_object",
            )
        ]

    def __str__(self) -> str:
        return f"{self.actor} {self.verb} {self.resource} {self.namespace}/{self.name}"

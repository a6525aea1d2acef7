"""Model of object changes. Callers must check that the viewer may read the object."""

from typing import Any

from django.db import models
from django.utils import timezone


class ObjectChange(models.Model):
    """Change of an object that kube-apiserver accepted.

    `before` and `after` are manifests in the format of `console.history.store`. `audit_id`
    identifies the audit record.
    """

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

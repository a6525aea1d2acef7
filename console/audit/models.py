"""Append-only models of the audit trail.

An `AuditRecord` is written before an action is performed, and its `AuditOutcome` afterwards. A
record without an outcome means that the process ended in between, so the result is unknown.
Updating and deleting rows raises an exception, for instances and for querysets.
"""

from typing import Any, NoReturn, TypeVar

from django.db import models
from django.utils import timezone


class AppendOnlyError(TypeError):
    """Attempt to change or delete a row of the audit trail."""


M = TypeVar("M", bound=models.Model)


class AppendOnlyQuerySet(models.QuerySet[M]):
    def update(self, **kwargs: Any) -> NoReturn:
        raise AppendOnlyError("audit rows cannot be changed")

    def delete(self) -> NoReturn:
        raise AppendOnlyError("audit rows cannot be deleted")

    def bulk_update(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnlyError("audit rows cannot be changed")

    def bulk_create(self, objs: Any, *args: Any, **kwargs: Any) -> list[M]:
        if kwargs.get("update_conflicts") or kwargs.get("ignore_conflicts") or any(args[1:]):
            raise AppendOnlyError("audit rows cannot be changed")
        return super().bulk_create(objs, *args, **kwargs)


class AppendOnlyModel(models.Model):
    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnlyError("audit rows cannot be changed")
        super().save(force_insert=True, using=kwargs.get("using"))

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnlyError("audit rows cannot be deleted")


class AuditRecord(AppendOnlyModel):
    """Requested action. All texts are limited in length and contain no control characters; see
    `trail`.
    """

    time = models.DateTimeField(default=timezone.now, db_index=True)
    #: Also sent to kube-apiserver as `Audit-ID`, to correlate its audit log with this record.
    audit_id = models.CharField(max_length=36, unique=True)
    #: Session's user, and the user the request was made as. They only differ during impersonation.
    actor = models.CharField(max_length=253, blank=True, db_index=True)
    as_user = models.CharField(max_length=253, blank=True)
    #: Cluster of the object. The default applies to records from before multi-cluster support.
    cluster = models.CharField(max_length=63, default="host")
    verb = models.CharField(max_length=32)
    group = models.CharField(max_length=253, blank=True)
    version = models.CharField(max_length=63, blank=True)
    resource = models.CharField(max_length=253, blank=True)
    namespace = models.CharField(max_length=253, blank=True)
    name = models.CharField(max_length=253, blank=True)
    subresource = models.CharField(max_length=63, blank=True)
    source = models.CharField(max_length=64, blank=True)
    user_agent = models.CharField(max_length=256, blank=True)
    path = models.CharField(max_length=512, blank=True)

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        ordering = ["-time", "-id"]

    def __str__(self) -> str:
        return f"{self.actor or '-'} {self.verb} {self.resource} {self.namespace}/{self.name}"


class AuditOutcome(AppendOnlyModel):
    """Result of an action. `code` is the HTTP status, or 0 if the action was aborted and its result
    is unknown.
    """

    record = models.OneToOneField(AuditRecord, on_delete=models.PROTECT, related_name="outcome")
    time = models.DateTimeField(default=timezone.now)
    code = models.PositiveSmallIntegerField()
    reason = models.CharField(max_length=64, blank=True)
    message = models.CharField(max_length=1024, blank=True)

    objects = AppendOnlyQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.code} {self.reason}"

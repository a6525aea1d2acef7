"""Two tables that are only ever added to.

An `AuditRecord` is written before the thing that it is about happens, its `AuditOutcome` afterwards. A
record without an outcome means that nobody knows: the process ended in between. Saving an existing row
again and deleting one raise, for single rows and for querysets.
"""

from typing import Any, NoReturn, TypeVar

from django.db import models
from django.utils import timezone


class AppendOnly(TypeError):
    """Somebody tried to change or delete a row of the audit trail."""


M = TypeVar("M", bound=models.Model)


class AppendOnlyQuerySet(models.QuerySet[M]):
    def update(self, **kwargs: Any) -> NoReturn:
        raise AppendOnly("audit rows are never changed")

    def delete(self) -> NoReturn:
        raise AppendOnly("audit rows are never deleted")

    def bulk_update(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnly("audit rows are never changed")

    def bulk_create(self, objs: Any, *args: Any, **kwargs: Any) -> list[M]:
        if kwargs.get("update_conflicts") or kwargs.get("ignore_conflicts") or any(args[1:]):
            raise AppendOnly("audit rows are never changed")
        return super().bulk_create(objs, *args, **kwargs)


class AppendOnlyModel(models.Model):
    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnly("audit rows are never changed")
        super().save(force_insert=True, using=kwargs.get("using"))

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnly("audit rows are never deleted")


class AuditRecord(AppendOnlyModel):
    """What was asked for. Every text is without control characters and has a limit; see `trail`."""

    time = models.DateTimeField(default=timezone.now, db_index=True)
    #: Also sent to kube-apiserver as `Audit-ID`, so that its own log can be joined with this one.
    audit_id = models.CharField(max_length=36, unique=True)
    #: Whose session it was, and whom the request was made as; equal unless somebody impersonates.
    actor = models.CharField(max_length=253, blank=True, db_index=True)
    as_user = models.CharField(max_length=253, blank=True)
    #: The cluster that it was asked of. The first records are from when there was one.
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
    """What came of it. `code`: HTTP status, 0 if it was cut off and nobody knows."""

    record = models.OneToOneField(AuditRecord, on_delete=models.PROTECT, related_name="outcome")
    time = models.DateTimeField(default=timezone.now)
    code = models.PositiveSmallIntegerField()
    reason = models.CharField(max_length=64, blank=True)
    message = models.CharField(max_length=1024, blank=True)

    objects = AppendOnlyQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.code} {self.reason}"

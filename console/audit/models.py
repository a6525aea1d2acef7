"""Models of the audit trail and its hash chain (ADR 28).

An `AuditRecord` is written before an action is performed, and completed once with its result. A
record without a result means that the process ended in between, so the result is unknown. Any other
change and any deletion raises an exception, for instances and for querysets; `prune` in
`console.audit.retention` is the only exception.
"""

from datetime import timedelta
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


class Stage(models.IntegerChoices):
    """How much of a record is in the hash chain."""

    NEW = 0
    STARTED = 1
    FINISHED = 2


class AuditRecord(AppendOnlyModel):
    """An action and its result. All texts are limited in length and contain no control characters;
    see `console.audit.trail`.
    """

    time = models.DateTimeField(default=timezone.now)
    #: Also sent to kube-apiserver as `Audit-ID`, to join its audit events with this record.
    audit_id = models.CharField(max_length=64, unique=True)
    #: Session's user, and the user the request was made as. They only differ during impersonation.
    actor = models.CharField(max_length=253, blank=True)
    as_user = models.CharField(max_length=253, blank=True)
    #: Cluster of the object. The default applies to records from before multi-cluster support.
    cluster = models.CharField(max_length=63, default="host")
    workspace = models.CharField(max_length=253, blank=True)
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
    #: How the request reached kube-apiserver: a value of `console.audit.trail.Origin`.
    origin = models.CharField(max_length=16, blank=True)

    # The result. All values are set at once. `code` is the HTTP status, 0 if the action was aborted
    # and its result is unknown, and None while the action runs.
    finished = models.DateTimeField(null=True)
    code = models.PositiveSmallIntegerField(null=True)
    reason = models.CharField(max_length=64, blank=True)
    message = models.CharField(max_length=1024, blank=True)
    uid = models.CharField(max_length=128, blank=True)
    #: SHA-256 of the manifests in the record's `AuditChange`, or "" without one.
    change_digest = models.CharField(max_length=64, blank=True)

    #: Managed by `console.audit.chain`.
    stage = models.PositiveSmallIntegerField(choices=Stage, default=Stage.NEW)

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        ordering = ["-time", "-id"]
        # Searches read one of these backwards from the end of the time range (`console.audit.search`).
        indexes = [
            # Also counts all records of a range, or those of an origin, without reading the table.
            models.Index(fields=["time", "id", "code", "origin"], name="audit_by_time"),
            models.Index(fields=["actor", "time", "id"], name="audit_by_actor"),
            models.Index(fields=["name", "time", "id"], name="audit_by_name"),
            models.Index(fields=["cluster", "namespace", "time", "id"], name="audit_by_namespace"),
            models.Index(fields=["workspace", "time", "id"], name="audit_by_workspace"),
            models.Index(
                fields=["id"], name="audit_to_seal", condition=models.Q(stage__lt=Stage.FINISHED)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.actor or '-'} {self.verb} {self.resource} {self.namespace}/{self.name}"

    @property
    def duration(self) -> timedelta | None:
        return self.finished - self.time if self.finished is not None else None


class AuditChange(AppendOnlyModel):
    """Manifests before and after a change, as compressed JSON without values of Secrets. An empty
    value means that the object didn't exist, or that the manifest is unknown.
    """

    record = models.OneToOneField(AuditRecord, on_delete=models.PROTECT, related_name="change")
    before: Any = models.BinaryField()
    after: Any = models.BinaryField()

    objects = AppendOnlyQuerySet.as_manager()


class AuditLink(AppendOnlyModel):
    """Link of the hash chain: the digest of a record at a `Stage`, and of the previous link.

    `record` is not a foreign key, because a link must outlast a record that an attacker removes.
    """

    seq = models.BigIntegerField(primary_key=True)
    record = models.BigIntegerField(db_index=True)
    stage = models.PositiveSmallIntegerField(choices=Stage)
    previous = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    objects = AppendOnlyQuerySet.as_manager()


class AuditAnchor(models.Model):
    """Signed end of the chain. `head` is the last link, and `start` the last link that was deleted
    at the end of its retention. `signature` is keyed with `SECRET_KEY`.
    """

    name = models.CharField(max_length=8, primary_key=True)
    seq = models.BigIntegerField(default=0)
    hash = models.CharField(max_length=64)
    time = models.DateTimeField()
    signature = models.CharField(max_length=64)


class AuditExport(models.Model):
    """Progress of an export (`console.audit.export`): the last link that the target received.
    `next_try` is also the end of a running delivery.
    """

    name = models.CharField(max_length=16, primary_key=True)
    seq = models.BigIntegerField()
    failures = models.PositiveIntegerField(default=0)
    next_try = models.DateTimeField()

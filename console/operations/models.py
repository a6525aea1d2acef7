"""Model of operations. Rows grant no permissions: the process that runs an operation checks
permissions continuously.
"""

from django.db import models
from django.utils import timezone


class State(models.TextChoices):
    """State of an operation. `INTERRUPTED`: its process has died or was stopped before the
    operation ended.
    """

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class Operation(models.Model):
    """Operation on one object, started by `actor`.

    - `data`: form data.
    - `results`: progress in the format of the action.
    - `reason`: why the operation ended, a value defined by the action.
    - `stopper`: user who requested a stop.
    - `heartbeat`: time of the last sign of life of its process.
    """

    actor = models.CharField(max_length=253)
    cluster = models.CharField(max_length=63)
    group = models.CharField(max_length=253, blank=True)
    resource = models.CharField(max_length=253)
    namespace = models.CharField(max_length=253, blank=True)
    name = models.CharField(max_length=253)
    uid = models.CharField(max_length=128)
    action = models.CharField(max_length=32)
    data = models.JSONField(default=dict)
    state = models.CharField(max_length=16, choices=State, default=State.RUNNING)
    reason = models.CharField(max_length=32, blank=True)
    stopper = models.CharField(max_length=253, blank=True)
    results = models.JSONField(default=list)
    started = models.DateTimeField(default=timezone.now)
    heartbeat = models.DateTimeField(default=timezone.now)
    ended = models.DateTimeField(null=True, db_index=True)

    class Meta:
        ordering = ["-started", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "uid", "action"],
                condition=models.Q(state=State.RUNNING),
                name="one_running_operation_of_an_object",
            )
        ]
        indexes = [
            models.Index(
                fields=["cluster", "uid", "action", "-started"],
                name="operations_of_one_object",
            )
        ]

    def __str__(self) -> str:
        return f"{self.actor} {self.action} {self.resource} {self.namespace}/{self.name}"

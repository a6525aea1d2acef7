"""One table. A row grants nothing: whoever does the work asks for the right to it again and again."""

from django.db import models
from django.utils import timezone


class State(models.TextChoices):
    """`INTERRUPTED`: its process has died or was stopped, and nothing was decided."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class Operation(models.Model):
    """Work on one object, begun by `actor`. `data`: what was filled in; `results`: what became of each
    part of it, as its action writes them; `reason`: why it ended, a word of its action's. `stopper`: who
    wants it to stop. `heartbeat`: when its process was last heard of."""

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

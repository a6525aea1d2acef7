"""Model of drafts. The content is always encrypted, because any object may contain a password."""

from django.db import models

#: Maximum characters of a kind's URL segment.
MAX_KIND = 320


class Draft(models.Model):
    """Draft of a manifest.

    `content` is compressed and encrypted, see `console.drafts.store`. `version` is incremented
    with each update, so that an outdated page can't overwrite a newer draft.
    """

    account = models.CharField(max_length=253)
    cluster = models.CharField(max_length=63)
    kind = models.CharField(max_length=MAX_KIND)
    namespace = models.CharField(max_length=253, blank=True)
    name = models.CharField(max_length=253)
    content = models.TextField()
    version = models.PositiveIntegerField(default=1)
    updated = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "cluster", "kind", "namespace", "name"],
                name="one_draft_of_an_object",
            )
        ]

    def __str__(self) -> str:
        return f"{self.account}: {self.kind} {self.namespace}/{self.name}"

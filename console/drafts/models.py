"""One table. What was typed is encrypted, whatever the object is: a ConfigMap may hold a password."""

from django.db import models

#: Characters of a kind's segment in URLs.
MAX_KIND = 320


class Draft(models.Model):
    """`content`: what was typed and of what, packed and sealed; see `console.drafts.keeping`. `version`
    counts the texts, so that an older page does not take the place of a newer one."""

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

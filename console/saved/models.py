"""Models of saved views, pins and templates. They grant no permissions."""

from django.db import models
from django.utils import timezone

#: Maximum characters of a name, a query, and a kind's URL segment.
MAX_NAME, MAX_QUERY, MAX_KIND = 60, 2000, 320
#: Maximum characters of the description of a template.
MAX_DESCRIPTION = 256


class Sharing(models.TextChoices):
    """Scope of a view. `WORKSPACE` is reserved and not used yet."""

    OWN = "own"
    WORKSPACE = "workspace"
    PLATFORM = "platform"


class SavedView(models.Model):
    """Named query of a list page.

    `holder` is the account of an own view, the workspace of a workspace view, and "" for
    platform views. `query` is in canonical form (see `console.ui.lists.viewspec`). `opens` marks the
    default view, which applies when the list is opened without a query.
    """

    sharing = models.CharField(max_length=16, choices=Sharing.choices)
    holder = models.CharField(max_length=253, blank=True)
    cluster = models.CharField(max_length=63)
    kind = models.CharField(max_length=MAX_KIND)
    name = models.CharField(max_length=MAX_NAME)
    query = models.CharField(max_length=MAX_QUERY, blank=True)
    opens = models.BooleanField(default=False)
    saved = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "kind", "sharing", "holder", "name"], name="one_view_of_a_name"
            ),
            models.UniqueConstraint(
                fields=["cluster", "kind", "sharing", "holder"],
                condition=models.Q(opens=True),
                name="one_view_that_opens",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.kind}, {self.sharing} {self.holder})"


class Pin(models.Model):
    """Kind, identified by its URL segment, that a user has pinned to a cluster's menu."""

    account = models.CharField(max_length=253)
    cluster = models.CharField(max_length=63)
    kind = models.CharField(max_length=MAX_KIND)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["account", "cluster", "kind"], name="one_pin_of_a_kind")
        ]

    def __str__(self) -> str:
        return f"{self.kind} ({self.cluster}, {self.account})"


class SavedTemplate(models.Model):
    """Manifests from which members of a workspace create objects.

    `workspace` is the UID of the workspace, so that a later workspace with the same name doesn't get its
    templates. `kind` is the URL segment of the first manifest's kind. `content` is encrypted, see
    `console.saved.templates`.
    """

    workspace = models.CharField(max_length=128)
    kind = models.CharField(max_length=MAX_KIND)
    name = models.CharField(max_length=MAX_NAME)
    description = models.CharField(max_length=MAX_DESCRIPTION, blank=True)
    author = models.CharField(max_length=253)
    content = models.TextField()
    saved = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="one_template_of_a_name")
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.kind})"

"""Views, which are names for the queries of lists, and pins. They hold no rows and grant nothing; whoever
opens one sees what they may see."""

from django.db import models
from django.utils import timezone

#: Characters of a name, of a query, and of a kind's segment in URLs.
MAX_NAME, MAX_QUERY, MAX_KIND = 60, 2000, 320


class Sharing(models.TextChoices):
    """Whose a view is. `WORKSPACE` is kept for the views of workspaces; nobody can make one yet."""

    OWN = "own"
    WORKSPACE = "workspace"
    PLATFORM = "platform"


class SavedView(models.Model):
    """`holder`: the account of an own view, the workspace of a workspace's, "" for the platform's.

    `query` is canonical, as `console.ui.viewspec` writes it. `opens`: whoever comes to the list without
    a query gets this one.
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
    """A kind, by its segment in addresses, that somebody has pinned to the rail of a cluster."""

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

"""Failed attempts, and the browsers that are signed in."""

import uuid

from django.db import models


class FailedAttempts(models.Model):
    """Of one name or one address, as a digest: what was typed as a name may be a password."""

    key = models.CharField(max_length=64, primary_key=True)
    count = models.PositiveIntegerField()
    #: The first and the last of those that are counted.
    since = models.DateTimeField()
    last = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.count} since {self.since}"


class SignIn(models.Model):
    """Whose session a row of Django's sessions is, and where it began. It counts as long as that row."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.CharField(max_length=40, unique=True)
    user = models.CharField(max_length=253, db_index=True)
    address = models.CharField(max_length=64, blank=True)
    user_agent = models.CharField(max_length=256, blank=True)
    began = models.DateTimeField()
    expires = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.user} from {self.address}"

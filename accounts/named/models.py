"""API tokens. Nothing here can be used as one."""

import uuid

from django.db import models


class NamedToken(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    digest = models.CharField(max_length=64, unique=True)
    user = models.CharField(max_length=253)
    uid = models.CharField(max_length=64)
    #: What tells this password from every other; see `accounts.oauth.holders`.
    credential = models.CharField(max_length=64)
    name = models.CharField(max_length=64)
    read_only = models.BooleanField()
    created = models.DateTimeField()
    expires = models.DateTimeField(db_index=True)
    #: To the minute.
    used = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("user", "name"), name="accounts_token_name"),
        )

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"

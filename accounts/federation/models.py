"""What must be known to all replicas of a sign-in through a provider."""

from django.db import models


class OneTime(models.Model):
    """Something that is good for one use. `digest`: of what it is for and of its value."""

    digest = models.CharField(max_length=64, primary_key=True)
    expires = models.DateTimeField(db_index=True)
    content = models.JSONField(default=dict)

    def __str__(self) -> str:
        return self.digest


class ProviderSession(models.Model):
    """A session here and, by the names that the provider gave it, the one there."""

    session_key = models.CharField(max_length=40, primary_key=True)
    provider = models.CharField(max_length=63)
    subject = models.CharField(max_length=255)
    sid = models.CharField(max_length=255, blank=True)
    user = models.CharField(max_length=253)
    expires = models.DateTimeField(db_index=True)

    class Meta:
        indexes = (models.Index(fields=("provider", "subject"), name="accounts_provider_subject"),)

    def __str__(self) -> str:
        return f"{self.user} through {self.provider}"

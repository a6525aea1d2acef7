"""Second factors. Nothing here is of use to whoever reads only the database."""

from django.db import models


class SecondFactor(models.Model):
    """Of one user, who is an object: `uid` keeps a new user of the same name from inheriting it."""

    user = models.CharField(max_length=253, primary_key=True)
    uid = models.CharField(max_length=64)
    #: Encrypted, see `console.sealing`.
    secret = models.TextField()
    created = models.DateTimeField()
    #: The step of the last code that was used: neither it nor one before it counts again.
    last_step = models.BigIntegerField()

    def __str__(self) -> str:
        return self.user


class RecoveryCode(models.Model):
    """Good for one use, after which the row is gone."""

    digest = models.CharField(max_length=64, primary_key=True)
    factor = models.ForeignKey(SecondFactor, on_delete=models.CASCADE, related_name="+")

    def __str__(self) -> str:
        return f"of {self.factor_id}"

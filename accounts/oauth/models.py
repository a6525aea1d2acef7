"""The token register. Nothing in it can be used as a token: values are kept as SHA-256, or not at all."""

import uuid

from django.db import models


class SigningKey(models.Model):
    """One key pair. `private` is encrypted with a key made of `SECRET_KEY`; see `keys`.

    Removing a row ends every access token that the key signed.
    """

    #: The thumbprint of the public key (RFC 7638).
    kid = models.CharField(max_length=43, primary_key=True)
    purpose = models.CharField(max_length=16)
    public = models.JSONField()
    private = models.TextField()
    created = models.DateTimeField()
    #: From then on it signs nothing; from `expires` on nothing that it signed is valid.
    retired = models.DateTimeField(null=True)
    expires = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.purpose} {self.kid}"


class Grant(models.Model):
    """One sign-in of one user through one client, with all tokens that come of it: a family.

    Ended, it ends all of them at once.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    client = models.CharField(max_length=64)
    user = models.CharField(max_length=253, db_index=True)
    uid = models.CharField(max_length=64)
    #: What tells this password from every other; see `holders`.
    credential = models.CharField(max_length=64)
    scope = models.CharField(max_length=128)
    #: When the user showed who they are; `created` may be later.
    authenticated = models.DateTimeField()
    created = models.DateTimeField()
    expires = models.DateTimeField(db_index=True)
    ended = models.DateTimeField(null=True)
    reason = models.CharField(max_length=32, blank=True)

    def __str__(self) -> str:
        return f"{self.user} through {self.client}"


class AccessToken(models.Model):
    jti = models.CharField(max_length=43, primary_key=True)
    grant = models.ForeignKey(Grant, on_delete=models.CASCADE, related_name="+")
    key = models.ForeignKey(SigningKey, on_delete=models.CASCADE, related_name="+")
    expires = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.jti


class RefreshToken(models.Model):
    """Good for one use. A used one stays until its family goes, so that a second use is noticed."""

    digest = models.CharField(max_length=64, primary_key=True)
    grant = models.ForeignKey(Grant, on_delete=models.CASCADE, related_name="+")
    expires = models.DateTimeField()
    used = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.digest


class AuthorizationCode(models.Model):
    """Good for one use within a minute. A used one leads to what was issued for it."""

    digest = models.CharField(max_length=64, primary_key=True)
    client = models.CharField(max_length=64)
    user = models.CharField(max_length=253)
    uid = models.CharField(max_length=64)
    credential = models.CharField(max_length=64)
    scope = models.CharField(max_length=128)
    authenticated = models.DateTimeField()
    redirect_uri = models.CharField(max_length=1024)
    #: PKCE with S256; "" where a confidential client sent none.
    challenge = models.CharField(max_length=43, blank=True)
    nonce = models.CharField(max_length=256, blank=True)
    expires = models.DateTimeField(db_index=True)
    used = models.DateTimeField(null=True)
    grant = models.ForeignKey(Grant, on_delete=models.CASCADE, null=True, related_name="+")

    def __str__(self) -> str:
        return self.digest

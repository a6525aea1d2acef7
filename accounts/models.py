"""Every table of this application.

Nothing of tokens and second factors in it is of use to whoever reads only the database: values are kept
as SHA-256, encrypted, or not at all.
"""

import uuid

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

"""Database tables of the accounts app.

Tokens and second factors are stored as SHA-256 hashes or encrypted, so read access to the
database does not reveal them.
"""

import uuid

from django.db import models


class OneTime(models.Model):
    """Value that can be used once. `digest` is a hash of the value's purpose and the value."""

    digest = models.CharField(max_length=64, primary_key=True)
    expires = models.DateTimeField(db_index=True)
    content = models.JSONField(default=dict)

    def __str__(self) -> str:
        return self.digest


class ProviderSession(models.Model):
    """Mapping from a console session to the session at the identity provider."""

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
    """Second factor (TOTP) of a user. `uid` prevents a new user with the same name from inheriting
    it.
    """

    user = models.CharField(max_length=253, primary_key=True)
    uid = models.CharField(max_length=64)
    #: Encrypted, see `console.encryption`.
    secret = models.TextField()
    created = models.DateTimeField()
    #: TOTP time step of the last accepted code. Codes of this step or an earlier one are rejected.
    last_step = models.BigIntegerField()

    def __str__(self) -> str:
        return self.user


class RecoveryCode(models.Model):
    """Recovery code. The row is deleted when the code is used."""

    digest = models.CharField(max_length=64, primary_key=True)
    factor = models.ForeignKey(SecondFactor, on_delete=models.CASCADE, related_name="+")

    def __str__(self) -> str:
        return f"of {self.factor_id}"


class NamedToken(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    digest = models.CharField(max_length=64, unique=True)
    user = models.CharField(max_length=253)
    uid = models.CharField(max_length=64)
    #: Identifies the password; see `accounts.oauth.holders`.
    credential = models.CharField(max_length=64)
    name = models.CharField(max_length=64)
    read_only = models.BooleanField()
    created = models.DateTimeField()
    expires = models.DateTimeField(db_index=True)
    #: Updated at most once per minute.
    used = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("user", "name"), name="accounts_token_name"),
        )

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"


class SigningKey(models.Model):
    """Key pair that signs tokens. `private` is encrypted with a key derived from `SECRET_KEY`; see
    `keys`.

    Deleting a row invalidates every access token signed with the key.
    """

    #: JWK thumbprint of the public key (RFC 7638).
    kid = models.CharField(max_length=43, primary_key=True)
    purpose = models.CharField(max_length=16)
    public = models.JSONField()
    private = models.TextField()
    created = models.DateTimeField()
    #: The key signs nothing after `retired`, and its signatures are invalid after `expires`.
    retired = models.DateTimeField(null=True)
    expires = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.purpose} {self.kid}"


class Grant(models.Model):
    """Authorization of one client by one user, with all tokens issued from it (a token family).

    Ending the grant revokes all its tokens.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    client = models.CharField(max_length=64)
    user = models.CharField(max_length=253, db_index=True)
    uid = models.CharField(max_length=64)
    #: Identifies the password; see `holders`.
    credential = models.CharField(max_length=64)
    scope = models.CharField(max_length=128)
    #: Time of authentication, which can be earlier than `created`.
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
    """Single-use refresh token. A used token is kept until its grant is deleted, so that reuse is
    detected.
    """

    digest = models.CharField(max_length=64, primary_key=True)
    grant = models.ForeignKey(Grant, on_delete=models.CASCADE, related_name="+")
    expires = models.DateTimeField()
    used = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.digest


class AuthorizationCode(models.Model):
    """Single-use authorization code, valid for one minute. A used code references the grant issued
    for it.
    """

    digest = models.CharField(max_length=64, primary_key=True)
    client = models.CharField(max_length=64)
    user = models.CharField(max_length=253)
    uid = models.CharField(max_length=64)
    credential = models.CharField(max_length=64)
    scope = models.CharField(max_length=128)
    authenticated = models.DateTimeField()
    redirect_uri = models.CharField(max_length=1024)
    #: PKCE S256 challenge, or "" if a confidential client sent none.
    challenge = models.CharField(max_length=43, blank=True)
    nonce = models.CharField(max_length=256, blank=True)
    expires = models.DateTimeField(db_index=True)
    used = models.DateTimeField(null=True)
    grant = models.ForeignKey(Grant, on_delete=models.CASCADE, null=True, related_name="+")

    def __str__(self) -> str:
        return self.digest


class FailedAttempts(models.Model):
    """Failed sign-in attempts for a username or an address.

    The key is a digest, because users sometimes type a password in the name field.
    """

    key = models.CharField(max_length=64, primary_key=True)
    count = models.PositiveIntegerField()
    #: Times of the first and last counted attempt.
    since = models.DateTimeField()
    last = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.count} since {self.since}"


class SignIn(models.Model):
    """User, address and start time of a row in Django's session table. Valid as long as that row
    exists.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.CharField(max_length=40, unique=True)
    user = models.CharField(max_length=253, db_index=True)
    address = models.CharField(max_length=64, blank=True)
    user_agent = models.CharField(max_length=256, blank=True)
    began = models.DateTimeField()
    expires = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.user} from {self.address}"

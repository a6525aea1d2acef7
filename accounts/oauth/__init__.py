"""The token service: OAuth 2.0 (RFC 6749, 7636, 7009, 9700), OpenID Connect, and Kubernetes' TokenReview.

Access and id tokens are signed; refresh tokens and codes are random. A register in SQL knows each of
them, by number or by hash and never by value, and is asked at every use: what was revoked on one replica
is refused on all of them. Every use also asks the shared cache whether the user still exists, may still
be signed in, and still has the password of then.
"""

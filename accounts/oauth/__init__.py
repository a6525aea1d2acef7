"""Token service: OAuth 2.0 (RFC 6749, 7636, 7009, 9700), OpenID Connect, and Kubernetes'
TokenReview.

Access tokens and ID tokens are signed; refresh tokens and codes are random. A database table
lists each of them by ID or hash, never by value, and is queried at every use, so a revoked token
is rejected on every replica. Every use also checks in the shared cache that the user exists, may
sign in, and has not changed the password.
"""

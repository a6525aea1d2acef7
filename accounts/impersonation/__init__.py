"""Viewing the console as another user ("View as") within the administrator's own session.

An administrator with the Kubernetes permission `impersonate` for a user may view the console as
that user, unless the user has permissions that the administrator doesn't have. Viewing is
read-only until the administrator confirms changes, ends after an hour, and is recorded in the
audit trail with both names. It can't be nested.
"""

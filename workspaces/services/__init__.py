"""Operations on workspaces. Each operation checks permissions, writes with the console's identity,
and is recorded in the audit log.

Each operation raises `Denied` before any lookup if the user has no permission, `Refused` with a
message for the user, `ApiError`, or `AuditUnavailable`, in which case no request was sent.
"""

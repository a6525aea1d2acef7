"""The use cases of workspaces, each authorized here, done as the console, and recorded.

Every one of them raises `Denied` for whoever may not, before anything is looked up; `Refused` with a
sentence for people; `ApiError`; and `AuditUnavailable`, after which nothing was sent.
"""

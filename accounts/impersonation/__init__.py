"""Looking at the console as somebody else: what they see, in a session that stays one's own.

An administrator who may `impersonate` a user in Kubernetes may view the console as that user, unless the
user has rights that the administrator has not. It changes nothing until that is confirmed as well, ends
by itself after an hour, and is in the audit trail with both names. One level only: who views as somebody
is, for this console, nobody else.
"""

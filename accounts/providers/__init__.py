"""Identity providers: others who can say who a person is.

A provider answers with a `Person`, or raises. It knows nothing of Users, sessions or browsers: what
becomes of a person is decided in `accounts.federation`. Every kind of provider is one file in `kinds`.

Promises: every call of a provider has a deadline and a limit of bytes, follows no redirect, and checks
the other side's certificate unless the configuration says not to. What a provider says is compared
with what was asked; whatever does not fit raises `Refused`. No secret is in an error or in a log.
"""

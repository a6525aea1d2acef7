"""Identity providers, which authenticate users for the console.

A provider returns a `Person` or raises an exception. It doesn't handle Users, sessions or
browsers; `accounts.federation` decides what happens with a person. Each type of provider is a
module in `kinds`.

Guarantees: every request to a provider has a timeout and a size limit, follows no redirects, and
verifies the TLS certificate unless the configuration disables it. Responses are validated
against the request, and a mismatch raises `Refused`. Error messages and logs contain no secrets.
"""

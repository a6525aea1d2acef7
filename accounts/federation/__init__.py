"""Sign-in through an identity provider.

A sign-in must be completed in the browser that started it, once, within ten minutes and with the
same provider. The User is found by the provider's name and the subject, which are stored in
labels; names and email addresses are never compared. A new User is created with the console's
credentials, and never with a name that exists or that a binding grants permissions to.
"""

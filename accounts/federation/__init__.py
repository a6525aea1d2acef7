"""Signing in through an identity provider: from the button to the User.

A sign-in begins in one browser and ends in it, once, within ten minutes, with the provider that it began
with. Who comes back is found by the provider's name and the subject, which are labels of a User; names
and e-mail addresses are never compared. A new User is made by the console's own identity, and never one
whose name somebody has, or has rights under.
"""

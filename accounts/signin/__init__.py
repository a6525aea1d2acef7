"""Signing in with a name and a password, and the sessions that begin with it."""

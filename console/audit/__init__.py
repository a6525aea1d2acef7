"""Audit trail: which user did what to which object, from where, and with which result."""

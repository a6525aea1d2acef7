"""Lookup of users and groups, and the controllers that manage them."""

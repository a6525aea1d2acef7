"""Editing what a Secret or a ConfigMap holds, key by key."""

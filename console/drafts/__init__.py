"""Drafts: manifests that somebody has typed and not saved yet."""

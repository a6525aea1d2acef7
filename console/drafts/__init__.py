"""Drafts: edited manifests that have not been saved yet."""

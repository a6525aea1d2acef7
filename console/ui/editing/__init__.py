"""Manifests as text: parsing, comparing, creating."""

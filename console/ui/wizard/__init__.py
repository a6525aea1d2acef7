"""Wizards: forms whose fields are lenses on manifests (ADR 26)."""

"""Rendered fragments: cache, placeholders, empty states."""

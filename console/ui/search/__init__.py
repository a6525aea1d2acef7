"""Search over all visible objects."""

"""Actions on objects of particular kinds, and base classes of these kinds."""

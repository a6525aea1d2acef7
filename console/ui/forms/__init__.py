"""Forms: base classes, rows, forms for parts of a spec, and fields."""

"""Container registries."""

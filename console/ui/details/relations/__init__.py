"""References between objects, and the panels that show them."""

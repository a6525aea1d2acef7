"""Programs of simulated containers by name."""

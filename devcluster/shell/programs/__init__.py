"""The programs of simulated containers, by their names."""

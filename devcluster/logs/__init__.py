"""Simulated container logs. Log lines are not stored but computed on each request."""

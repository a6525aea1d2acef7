"""Benchmarks of the console against a real control plane; see README.md."""

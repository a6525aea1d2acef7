"""Ports of pods in a real browser."""

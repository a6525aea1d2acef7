"""Ports of pods and services in the browser, each on an origin of its own (ADR 19)."""

"""Ports of pods and services: their lines of kubectl, and opening them in the browser."""

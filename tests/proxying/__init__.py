"""Ports of pods and services: their kubectl commands and opening them in the browser."""

"""Open ports of pods and services in the browser, each on a separate origin (ADR 19)."""

"""A real Kubernetes control plane for tests: built once, started in seconds, easy to break."""

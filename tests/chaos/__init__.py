"""Random faults on a real control plane: the cache always converges to the server's state."""

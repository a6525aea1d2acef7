"""Random faults on a real control plane: whatever happens, the cache ends equal to the server."""

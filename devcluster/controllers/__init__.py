"""Simulated controllers that reconcile the objects in the store."""

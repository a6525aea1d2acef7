"""Actions on workloads."""

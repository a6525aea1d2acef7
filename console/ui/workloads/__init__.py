"""What can be done to workloads."""

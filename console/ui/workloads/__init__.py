"""Common declarations and actions of workloads."""

"""What workloads have in common, and what can be done to them."""

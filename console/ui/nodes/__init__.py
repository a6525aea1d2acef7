"""What can be done to nodes."""

"""Actions on services and ingresses."""

"""Delete the pods of closed shells."""

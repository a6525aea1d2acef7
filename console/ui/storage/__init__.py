"""Actions on claims of volumes, their snapshots and classes."""

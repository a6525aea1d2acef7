"""Actions on PersistentVolumeClaims, snapshots and storage classes."""

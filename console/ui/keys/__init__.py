"""Data keys: edit the data of Secrets and ConfigMaps key by key."""

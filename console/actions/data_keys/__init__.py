"""Editing the keys of ConfigMaps and Secrets."""
